import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

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

/** Writes it for the owner alone, whole or not at all. Nothing depends on it, so a failure is none. */
export function writeCodeCache(file: string, codeSha256: string, data: Uint8Array): void {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(draft, Buffer.concat([Buffer.from(codeSha256, "latin1"), data]), { mode: 0o600 });
    renameSync(draft, file);
  } catch {
    rmSync(draft, { force: true });
  }
}
