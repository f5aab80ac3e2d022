import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { readCodeCache, writeCodeCache } from "./code-cache.ts";
import { cacheOption, codeCacheOf } from "./shipped-cache.ts";

/** Of the code, hexadecimal: written in when a program is bundled. */
declare const CODE_SHA256: string;

/**
 * The head of each of our programs: it starts the code that stands behind it, in a comment of the same file (scripts/bundle.mjs). So the
 * code can come compiled from a cache, which Node 20 has for no module, and V8 need not even look through it: that is a third of a start.
 */
const file = fileURLToPath(import.meta.url);
const text = readFileSync(file, "utf8");
const begin = text.lastIndexOf("\n/*") + "\n/*".length;
const code = text.slice(begin, text.lastIndexOf("*/")).replaceAll("*!!/", "*/");
const wrapper = "(function (exports, require, module, __filename, __dirname, __url) {";

const [, started = "", option, target] = process.argv;
const making = option === cacheOption;
const script = new Script(`${wrapper}${code}\n})`, {
  filename: file,
  // Places in a stack are those of the file.
  lineOffset: text.slice(0, begin).split("\n").length - 1,
  columnOffset: "/*".length - wrapper.length,
  cachedData: making ? undefined : readCodeCache(codeCacheOf(started), CODE_SHA256),
});
if (making && target !== undefined) {
  process.argv.splice(2);
  // What has run by then is what a start needs.
  process.on("exit", () => writeCodeCache(target, CODE_SHA256, script.createCachedData()));
}
const module = { exports: {} };
script.runInThisContext()(
  module.exports,
  createRequire(file),
  module,
  file,
  path.dirname(file),
  pathToFileURL(file).href,
);
