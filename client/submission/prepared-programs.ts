import { localCacheFolder } from "../../src/local-cache.ts";
import type { ClientContext } from "../context.ts";
import { codeCachesFor } from "../shipping/code-caches.ts";
import type { CodeCaches, RuntimeChoice } from "../shipping/runtime.ts";
import { rehearse } from "./rehearsal.ts";

const line = "Preparing the programs for this machine's Node, once: their later starts are quicker";

/** What V8 has compiled of our programs, for the runtime that is sent. Made now where it is not there, which a terminal shows meanwhile. */
export async function preparedPrograms(
  choice: RuntimeChoice,
  { environment, output }: Pick<ClientContext, "environment" | "output">,
): Promise<CodeCaches> {
  const prepare = (cacheFolder: string) => {
    if (output.isTerminal) output.waitAside({ lines: [line], cause: "preparing", line, change: line, facts: [] });
    return rehearse(cacheFolder).finally(() => output.endWait());
  };
  return await codeCachesFor(choice, {
    running: process.execPath,
    folder: localCacheFolder(environment),
    rehearse: prepare,
  });
}
