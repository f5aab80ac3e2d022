import { closeSync, openSync, readSync, statSync } from "node:fs";

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
