import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Gives a file its content, so that another process that reads it never finds half of it. One that has that content already is not
 * touched: what was made of it, and remembers it by its times, stays valid.
 * @param {string} file its folder is made if need be
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
