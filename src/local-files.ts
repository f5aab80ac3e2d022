import { closeSync, openSync, readSync, renameSync, statSync, writeFileSync } from "node:fs";

/** 0 while the file does not exist. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** At most so many bytes from an offset; fewer at the end of the file. Throws the system's error. */
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
 * Writes a file of this machine anew: whoever reads it meanwhile finds all of the old content or all of the new.
 * @param mode of a file that is new; default 0o666 less the umask
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
