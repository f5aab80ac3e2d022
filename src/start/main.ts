import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { cacheFolderVariable, clientCacheFile, codeCacheOf } from "./cache-files.ts";
import { isOwnCache, readCodeCache, writeCodeCache } from "./code-cache.ts";

/** Hash of the code, in hexadecimal. The bundler inserts it, and whether a person or a container starts the program. */
declare const CODE_SHA256: string;
declare const FOR_PEOPLE: boolean;

/**
 * The head of each of our programs. It runs the code, which can come compiled from a cache, so that V8 need not even scan it. It is
 * CommonJS, because Node starts that with less work than a module. The code is ASCII, so that it can be read as Latin-1: V8 uses a long
 * Latin-1 text in place, outside its heap, and takes parts of it without copying.
 */
const { code, ...place } = FOR_PEOPLE ? codeBeside(__filename.replace(/cjs$/, "code.js")) : codeBehind(__filename);

const [, started = "", word] = process.argv;
const cache = FOR_PEOPLE ? clientCacheFile(process.env, CODE_SHA256, word) : codeCacheOf(started);
const target = FOR_PEOPLE ? undefined : process.env[cacheFolderVariable];
const usable = cache !== undefined && target === undefined && (!FOR_PEOPLE || isOwnCache(cache));
const cachedData = usable ? readCodeCache(cache, CODE_SHA256) : undefined;
const script = new Script(code, { ...place, cachedData });
if (target !== undefined) {
  const written = path.join(target, codeCacheOf(path.basename(started)));
  keepCompiled(written);
  // Containers are often killed while they exit.
  setInterval(keepNow, 200, written).unref();
} else if (FOR_PEOPLE && cache !== undefined && (cachedData === undefined || script.cachedDataRejected === true)) {
  keepCompiled(cache);
}
// Runs after the head has returned: a stack trace that something retains would retain the head's text.
const url = pathToFileURL(__filename).href;
process.nextTick(script.runInThisContext(), { exports: {} }, require, __filename, path.dirname(__filename), url);

/**
 * The command that a person starts has its code in a separate file: Node retains the text of the script that it starts until V8 collects
 * old memory, which a short command does not live to see.
 */
function codeBeside(filename: string) {
  return { code: readFileSync(filename, "latin1"), filename };
}

/** A container's program is shipped as one file: its code is the last line, a comment. Positions in stack traces are those of the file. */
function codeBehind(filename: string) {
  const text = readFileSync(filename, "latin1");
  const begin = text.lastIndexOf("\n//") + "\n//".length;
  return {
    code: text.slice(begin, -"\n".length),
    filename,
    lineOffset: text.slice(0, begin).split("\n").length - 1,
    columnOffset: "//".length,
  };
}

/** The functions compiled by the time the process exits are the ones the next start needs. */
function keepCompiled(target: string): void {
  process.on("exit", () => keepNow(target));
}

function keepNow(target: string): void {
  writeCodeCache(target, CODE_SHA256, script.createCachedData());
}
