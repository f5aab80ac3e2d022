import { access, mkdtemp, realpath, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { runtimeOptions } from "../../src/job/launch/launch-command.ts";
import { type ContainerProgram, programPath } from "../../src/programs.ts";
import { codeCacheOf, ownCacheFile } from "../../src/start/cache-files.ts";
import { isOwnCache, keepCodeCache } from "../../src/start/code-cache.ts";
import type { CodeCaches, RuntimeChoice } from "./runtime.ts";

export interface CodeCacheOptions {
  /** The Node that runs tony-ts. */
  readonly running: string;
  /** The user's own cache folder. */
  readonly folder: string;
  /** Lets that Node run our programs, each of which writes its compiled code into the folder (src/start). Absent: nothing is started. */
  readonly rehearse?: (cacheFolder: string) => Promise<void>;
  readonly programOf?: (name: ContainerProgram) => string;
}

/** The kept cache of one program, and the program's own name for it. */
interface KeptCache {
  readonly program: ContainerProgram;
  readonly writtenAs: string;
  readonly file: string;
}

/**
 * V8's compiled code of our programs at the end of a job, made once for each pair of runtime and program, so that they start faster.
 * Another runtime ignores a cache that does not fit it. Only the running Node is used: another Node that a job names is uploaded, but never
 * run on this machine.
 */
export async function codeCachesFor(choice: RuntimeChoice, options: CodeCacheOptions): Promise<CodeCaches> {
  const runtime = await realpath(options.running);
  if (choice.kind !== "send" || choice.path !== runtime) return {};
  const { programOf = programPath, folder, rehearse } = options;
  const caches = await Promise.all(
    (["am", "executor"] as const).map((name) => keptCache(name, programOf(name), runtime, folder)),
  );
  const there = await Promise.all(caches.map(({ file }) => isThere(file)));
  if (there.every(Boolean)) await Promise.all(caches.map(({ file }) => markUsed(file)));
  // Without it a job starts all the same.
  else if (rehearse !== undefined) await make(caches, rehearse).catch(() => undefined);
  const usable = caches.filter(({ file }) => isOwnCache(file));
  return Object.fromEntries(usable.map(({ program, file }) => [program, file]));
}

async function keptCache(
  program: ContainerProgram,
  bundle: string,
  runtime: string,
  folder: string,
): Promise<KeptCache> {
  const identities = await Promise.all([runtime, bundle].map(identityOf));
  const options = runtimeOptions(`${program}.cjs`);
  return {
    program,
    writtenAs: codeCacheOf(path.basename(bundle)),
    file: ownCacheFile(folder, ...options, bundle, ...identities),
  };
}

/** Keeps other commands from removing it as one of the oldest before it is uploaded. */
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

async function make(caches: readonly KeptCache[], rehearse: NonNullable<CodeCacheOptions["rehearse"]>): Promise<void> {
  const drafts = await mkdtemp(path.join(tmpdir(), "tony-code-"));
  try {
    await rehearse(drafts);
    for (const { writtenAs, file } of caches) keepCodeCache(path.join(drafts, writtenAs), file);
  } finally {
    await rm(drafts, { recursive: true, force: true });
  }
}
