import { localCacheFolder } from "../../src/local-cache.ts";
import type { ClientContext } from "../context.ts";
import { codeCachesFor } from "../shipping/code-caches.ts";
import { type CodeCaches, type ProvidedRuntime, provideRuntime, type RuntimeChoice } from "../shipping/runtime.ts";
import { rehearse } from "./rehearsal.ts";

const line = "Preparing the programs for this machine's Node, once: their later starts are quicker";

type PreparationContext = Pick<ClientContext, "environment" | "output">;

/** The runtime with the existing V8 code caches of our programs for it; starts nothing. */
export async function runtimeAsItIs(choice: RuntimeChoice, context: PreparationContext): Promise<ProvidedRuntime> {
  return { ...provideRuntime(choice), codeCaches: await codeCachesFor(choice, cacheOf(context)) };
}

/** The same for a job that is submitted now: missing caches are made first. */
export async function preparedRuntime(choice: RuntimeChoice, context: PreparationContext): Promise<ProvidedRuntime> {
  return { ...provideRuntime(choice), codeCaches: await preparedPrograms(choice, context) };
}

/** The V8 code caches of our programs for the runtime that is sent. Missing ones are made now, which a terminal shows meanwhile. */
export async function preparedPrograms(choice: RuntimeChoice, context: PreparationContext): Promise<CodeCaches> {
  const { output } = context;
  const prepare = (cacheFolder: string) => {
    if (output.isTerminal) output.waitAside({ lines: [line], cause: "preparing", line, change: line, facts: [] });
    return rehearse(cacheFolder).finally(() => output.endWait());
  };
  return await codeCachesFor(choice, { ...cacheOf(context), rehearse: prepare });
}

function cacheOf({ environment }: PreparationContext): { readonly running: string; readonly folder: string } {
  return { running: process.execPath, folder: localCacheFolder(environment) };
}
