import { createHook } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";

/**
 * How many resources of a kind that Node names, such as `TCPWRAP` or `Timeout`, `action` made that still keep the process alive when it is over.
 * The process's own count would include what earlier tests of the same process left, which may go away at any moment.
 */
export async function keptBy(kind: string, action: () => Promise<void>): Promise<number> {
  const made = new Map<number, object>();
  const hook = createHook({
    init: (id, type, _trigger, resource: object) => {
      if (type === kind) made.set(id, resource);
    },
    destroy: (id) => made.delete(id),
  });
  hook.enable();
  try {
    await action();
    // Node reports what was destroyed in the next turn of the event loop.
    await setImmediate();
    await setImmediate();
    return [...made.values()].filter(isReferenced).length;
  } finally {
    hook.disable();
  }
}

function isReferenced(resource: object): boolean {
  return "hasRef" in resource && typeof resource.hasRef === "function" && resource.hasRef() === true;
}
