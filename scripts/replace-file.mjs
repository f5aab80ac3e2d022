import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Replaces a file's content atomically, so that a concurrent reader never finds half of it. A file that already has this content
 * is not touched: results that were derived from it and are keyed by its times stay valid.
 * @param {string} file its folder is created if necessary
 * @param {string | Uint8Array} content
 * @param {number} [mode] of a new file
 */
export function replaceFile(file, content, mode = 0o644) {
  const bytes = Buffer.from(content);
  if (existsSync(file) && readFileSync(file).equals(bytes)) return;
  mkdirSync(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, bytes, { mode });
  renameSync(draft, file);
}
