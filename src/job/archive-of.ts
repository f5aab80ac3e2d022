import type { ResourceToLocalize } from "./spec.ts";

/** The archive whose unpacked content holds the file: one of that name, else the one that is laid out in the working directory itself. */
export function archiveOf(file: string, resources: readonly ResourceToLocalize[]): ResourceToLocalize | undefined {
  const named = resources.find(({ as, name }) => as === "archive" && file.startsWith(`${name}/`));
  return named ?? resources.find(({ as }) => as === "working-directory");
}
