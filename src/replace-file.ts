import { renameSync, writeFileSync } from "node:fs";

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
