import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, readdir, realpath, rm, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { runtimeOptions } from "../../src/job/launch-command.ts";
import { type ContainerProgram, programPath } from "../../src/programs.ts";
import { cacheOption } from "../../src/start/shipped-cache.ts";
import type { CodeCaches, RuntimeChoice } from "./runtime.ts";

/** A start takes a fraction of it even on a busy machine; without its caches a job starts all the same. */
const makingLimitMs = 20_000;
/** For a few releases and runtimes; each is less than 1 MiB. */
export const keptFiles = 12;

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
      const words = [...runtimeOptions(`${name}.mjs`), programOf(name)];
      const file = await codeCache(runtime, words, path.join(folder, "code")).catch(() => undefined);
      return file === undefined ? [] : [[name, file] as const];
    }),
  );
  return Object.fromEntries(made.flat());
}

/** @param words of the runtime: options, and the program last */
async function codeCache(runtime: string, words: readonly string[], home: string): Promise<string | undefined> {
  const identities = await Promise.all([runtime, words.at(-1) ?? ""].map(identityOf));
  const hash = createHash("sha256")
    .update([...words, ...identities].join("\n"))
    .digest("hex");
  const file = path.join(home, `${hash.slice(0, 32)}.cache`);
  if (!(await isThere(file))) await make(runtime, words, file);
  return (await isOwn(file)) ? file : undefined;
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** It becomes code of the user's jobs: nobody else may have made it, nor be able to change it. */
async function isOwn(file: string): Promise<boolean> {
  const { uid, mode } = await stat(file);
  return uid === process.getuid?.() && (mode & 0o077) === 0;
}

async function identityOf(file: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
  return [file, dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

async function make(runtime: string, words: readonly string[], file: string): Promise<void> {
  const home = path.dirname(file);
  await mkdir(home, { recursive: true, mode: 0o700 });
  const run = promisify(execFile)(runtime, [...words, cacheOption, file], { env: {}, timeout: makingLimitMs });
  // It ends by saying that it has no job.
  await run.catch(() => undefined);
  await removeOld(home);
}

async function removeOld(home: string): Promise<void> {
  const files = (await readdir(home)).map((name) => path.join(home, name));
  const dated = await Promise.all(files.map(async (file) => ({ file, madeAtMs: (await stat(file)).mtimeMs })));
  const old = dated.sort((left, right) => right.madeAtMs - left.madeAtMs).slice(keptFiles);
  await Promise.all(old.map(({ file }) => rm(file, { force: true })));
}
