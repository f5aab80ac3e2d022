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

/** For a few releases, runtimes and commands; each is less than 1 MiB. */
export const keptFiles = 24;
/** What caches are called where nothing else says whose they are. */
const hashedName = /^[0-9a-f]{32}\.cache$/;

/**
 * A program's functions as V8 compiled them. V8 takes it only when its own version, its options and the code's length are the same, and
 * compiles anew otherwise; that it was made of the same code is told by the code's hash, with which the file begins.
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
 * Writes it for the owner alone, whole or not at all, in the place of an earlier one, and removes the oldest of many like it. Nothing depends
 * on it, so a failure is none.
 */
export function writeCodeCache(file: string, codeSha256: string, data: Uint8Array): void {
  try {
    keep(file, Buffer.concat([Buffer.from(codeSha256, "latin1"), data]), renameSync);
  } catch {
    // A full disk, a home that is none, or another program that removes the same.
  }
}

/**
 * Copies what a program has written to the name under which it is sent. V8 compiles the same code to other bytes each time, so one that is
 * there already, which another command has hashed and is about to send, stays what it is.
 */
export function keepCodeCache(written: string, file: string): void {
  try {
    keep(file, readFileSync(written), linkSync);
  } catch {
    // It was not written, or another program has kept one.
  }
}

/** It becomes code that runs as this user: nobody else may have made it, nor be able to change it. False where there is none. */
export function isOwnCache(file: string): boolean {
  try {
    const { uid, mode } = statSync(file);
    return uid === process.getuid?.() && (mode & 0o077) === 0;
  } catch {
    return false;
  }
}

/** Node's own way of making parents too never ends where a parent takes no folders and calls them missing, as in /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = path.dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another program may have made it meanwhile.
    if (!existsSync(folder)) throw error;
  }
}

/** @param place gives the finished draft its name, in the same folder */
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

/** When it was made, or found by a command that sends it. */
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
