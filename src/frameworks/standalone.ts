import type { FrameworkDefinition } from "./framework.ts";

/** A single task, as in TonY; it gets only the variables of every program. */
export const standalone: FrameworkDefinition<never> = {
  check: ({ roles }) => {
    const tasks = roles.reduce((sum, { instances }) => sum + instances, 0);
    if (tasks <= 1) return [];
    const names = roles.map(({ name, instances }) => `${name} × ${instances}`).join(", ");
    const message = `= standalone runs one task, and the job has ${tasks} (${names}): generic runs any number`;
    return [{ severity: "error", key: "tony.application.framework", message }];
  },
  environment: () => undefined,
};
