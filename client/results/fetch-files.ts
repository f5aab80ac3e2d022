import { randomBytes } from "node:crypto";
import { createWriteStream, lstatSync } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { TonyError, UserError } from "../../src/errors.ts";
import { onDisk } from "../../src/file-names.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import { countWords } from "../../src/job/reasons/words.ts";
import type { LeftFile, LeftTree } from "./left-files.ts";

/** For many small files, latency counts more than size. */
const atOnce = 4;
const mostTries = 3;

export interface Fetching {
  /** The folder to write the files to; it need not exist. */
  readonly folder: string;
  readonly fetched: (file: LeftFile) => void;
}

/**
 * Before anything is written, refuses names that lead out of the folder, which the job's own programs may have made up, and, without
 * `force`, files that exist already.
 * @throws UserError (`NAME_REFUSED`, `FILE_EXISTS`)
 */
export function checkTargets(
  { files, folders }: LeftTree,
  { folder, force }: Pick<Fetching, "folder"> & { readonly force: boolean },
): void {
  for (const name of [...files.map((file) => file.path), ...folders]) {
    const parts = name.split("/");
    if (parts.every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0"))) continue;
    const message = `"${name}" would be written outside ${folder}: nothing is fetched`;
    throw new UserError(message, { code: "NAME_REFUSED" });
  }
  const targets = files.map((file) => path.join(folder, file.path));
  const there = force
    ? []
    : targets.filter((target) => lstatSync(onDisk(target), { throwIfNoEntry: false }) !== undefined);
  const [first, ...others] = there;
  if (first === undefined) return;
  const all = others.length === 0 ? `${first} is` : `${first} and ${countWords(others.length, "other file")} are`;
  throw new UserError(`${all} there already\n  Name another folder (--to), or add --force to overwrite`, {
    code: "FILE_EXISTS",
  });
}

/** Fetches the checked files. A file gets its name when it is complete. @throws the first failure, after the other downloads have ended */
export async function fetchFiles({ files, folders }: LeftTree, fetching: Fetching): Promise<void> {
  for (const name of folders) await mkdir(onDisk(path.join(fetching.folder, name)), { recursive: true });
  const waiting = files.values();
  const stop = new AbortController();
  const work = async () => {
    for (const file of waiting) {
      if (stop.signal.aborted) return;
      await fetchPersistently(file, fetching, stop.signal);
      fetching.fetched(file);
    }
  };
  const workers = Array.from({ length: atOnce }, () =>
    work().catch((error: unknown) => {
      stop.abort(error);
    }),
  );
  await Promise.all(workers);
  stop.signal.throwIfAborted();
}

async function fetchPersistently(file: LeftFile, fetching: Fetching, signal: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await fetchFile(file, fetching, signal);
    } catch (error) {
      const mayPass = hasCode(error, "CONNECTION_LOST", "TIMEOUT", "UNREACHABLE");
      if (!mayPass || tries === mostTries || signal.aborted) throw error;
    }
  }
}

async function fetchFile(
  { path: name, fileSystem, source, sizeBytes, executable }: LeftFile,
  { folder }: Fetching,
  signal: AbortSignal,
): Promise<void> {
  const target = path.join(folder, name);
  const partial = onDisk(path.join(path.dirname(target), `.tony-ts-${randomBytes(6).toString("hex")}.part`));
  await mkdir(onDisk(path.dirname(target)), { recursive: true });
  try {
    const written = createWriteStream(partial, { flags: "wx", mode: executable ? 0o777 : 0o666 });
    await pipeline(await fileSystem.open(source, { signal }), written, { signal });
    const { size } = await stat(partial);
    if (size !== sizeBytes) {
      throw new TonyError(`${fileSystem.uri}${source} has ${size} bytes, ${sizeBytes} were stored`, {
        code: "FILE_CHANGED",
      });
    }
    await rename(partial, onDisk(target));
  } finally {
    await rm(partial, { force: true });
  }
}
