import { closeSync, openSync, readSync, renameSync, statSync, writeFileSync } from "node:fs";

/** The file's size in bytes; 0 while it does not exist. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** At most `bytes` bytes from the offset; fewer at the end of the file. Throws the system's error. */
export function readRange(file: string, offset: number, bytes: number): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const buffer = Buffer.allocUnsafe(Math.max(0, bytes));
    return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, offset));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Replaces a file on this machine atomically: a concurrent reader finds either all of the old content or all of the new.
 * @param mode of a newly created file; default 0o666 less the umask
 */
export function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode }: { readonly mode?: number } = {},
): void {
  const draft = `${file}.tmp`;
  writeFileSync(draft, content, mode === undefined ? {} : { mode });
  renameSync(draft, file);
}
