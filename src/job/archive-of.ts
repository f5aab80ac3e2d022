import type { FileToShip } from "./spec.ts";

/** The archive whose unpacked content holds the file: one of that name, else the one that is laid out in the working directory itself. */
export function archiveOf(file: string, files: readonly FileToShip[]): FileToShip | undefined {
  const named = files.find(({ as, name }) => as === "archive" && file.startsWith(`${name}/`));
  return named ?? files.find(({ as }) => as === "working-directory");
}
