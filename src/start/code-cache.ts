import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

/** Enough for a few releases, runtimes and commands; each is less than 1 MiB. */
export const keptFiles = 24;
/** The names of caches whose program nothing else identifies. */
const hashedName = /^[0-9a-f]{32}\.cache$/;

/**
 * A program's functions as V8 compiled them. V8 accepts them only if its version, its options and the code's length are the same, and
 * otherwise compiles again. The code's hash at the start of the file shows that they were compiled from the same code.
 */
export function readCodeCache(file: string, codeSha256: string): Buffer | undefined {
  try {
    const content = readFileSync(file);
    const head = Buffer.from(codeSha256, "latin1");
    return content.subarray(0, head.length).equals(head) ? content.subarray(head.length) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes the cache for the owner alone, atomically in place of an earlier one, and removes the oldest of many similar ones. Nothing depends
 * on it, so failures are ignored.
 */
export function writeCodeCache(file: string, codeSha256: string, data: Uint8Array): void {
  try {
    keep(file, Buffer.concat([Buffer.from(codeSha256, "latin1"), data]), renameSync);
  } catch {
    // A full disk, a home that does not exist, or another program that removes the same file.
  }
}

/**
 * Copies the cache that a program has written to the name under which it is shipped. V8 compiles the same code to different bytes each
 * time, so an existing copy, which another command has hashed and is about to ship, stays as it is.
 */
export function keepCodeCache(written: string, file: string): void {
  try {
    keep(file, readFileSync(written), linkSync);
  } catch {
    // It was not written, or another program has already stored one.
  }
}

/** V8 executes this file's content as the current user, so no other user may own it or be able to write to it. False if it does not exist. */
export function isOwnCache(file: string): boolean {
  try {
    const { uid, mode } = statSync(file);
    return uid === process.getuid?.() && (mode & 0o077) === 0;
  } catch {
    return false;
  }
}

/** Node's recursive mkdir never returns if a parent accepts no folders and reports them as missing, as in /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = path.dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another program may have created it meanwhile.
    if (!existsSync(folder)) throw error;
  }
}

/** @param place renames the finished draft, within the same folder */
function keep(file: string, content: Uint8Array, place: (draft: string, file: string) => void): void {
  makeFolder(path.dirname(file));
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, content, { mode: 0o600 });
    place(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
  removeOld(path.dirname(file));
}

/** When it was created, or last found by a command that ships it. */
function usedAtMs(file: string): number {
  const { atimeMs, mtimeMs } = statSync(file);
  return Math.max(atimeMs, mtimeMs);
}

function removeOld(folder: string): void {
  const files = readdirSync(folder).filter((name) => hashedName.test(name));
  const dated = files.map((name) => path.join(folder, name)).map((file) => ({ file, usedAtMs: usedAtMs(file) }));
  const old = dated.sort((left, right) => right.usedAtMs - left.usedAtMs).slice(keptFiles);
  for (const { file } of old) rmSync(file, { force: true });
}
