import { execFile } from "node:child_process";
import { access, realpath, stat, utimes } from "node:fs/promises";
import { promisify } from "node:util";
import { runtimeOptions } from "../../src/job/launch-command.ts";
import { type ContainerProgram, programPath } from "../../src/programs.ts";
import { cacheOption, ownCacheFile } from "../../src/start/cache-files.ts";
import { isOwnCache } from "../../src/start/code-cache.ts";
import type { CodeCaches, RuntimeChoice } from "./runtime.ts";

/** A start takes a fraction of it even on a busy machine; without its caches a job starts all the same. */
const makingLimitMs = 20_000;
export interface CodeCacheOptions {
  /** The Node that runs tony-ts. */
  readonly running: string;
  /** The user's own. */
  readonly folder: string;
  readonly programOf?: (name: ContainerProgram) => string;
}

/**
 * Compiles our programs for the runtime that containers get, once for each pair: they start with less work then. The runtime does it
 * itself, by starting each program where it has no job and ends at once; what it writes fits no other runtime, which leaves it aside.
 * Only the Node that runs already is run: another one that a job names is sent, and nothing of it is done on this machine.
 */
export async function codeCachesFor(
  choice: RuntimeChoice,
  { running, folder, programOf = programPath }: CodeCacheOptions,
): Promise<CodeCaches> {
  const runtime = await realpath(running);
  if (choice.kind !== "send" || choice.path !== runtime) return {};
  const made = await Promise.all(
    (["am", "executor"] as const).map(async (name) => {
      const words = [...runtimeOptions(`${name}.cjs`), programOf(name)];
      const file = await codeCache(runtime, words, folder).catch(() => undefined);
      return file === undefined ? [] : [[name, file] as const];
    }),
  );
  return Object.fromEntries(made.flat());
}

/** @param words of the runtime: options, and the program last */
async function codeCache(runtime: string, words: readonly string[], folder: string): Promise<string | undefined> {
  const identities = await Promise.all([runtime, words.at(-1) ?? ""].map(identityOf));
  const file = ownCacheFile(folder, ...words, ...identities);
  if (await isThere(file)) await markUsed(file);
  else await make(runtime, words, file);
  return isOwnCache(file) ? file : undefined;
}

/** So that no other command removes it as one of the oldest before it is uploaded. */
async function markUsed(file: string): Promise<void> {
  await utimes(file, new Date(), (await stat(file)).mtime);
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function identityOf(file: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
  return [file, dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

async function make(runtime: string, words: readonly string[], file: string): Promise<void> {
  const run = promisify(execFile)(runtime, [...words, cacheOption, file], { env: {}, timeout: makingLimitMs });
  // It ends by saying that it has no job.
  await run.catch(() => undefined);
}
