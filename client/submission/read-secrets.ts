import { readFileSync } from "node:fs";
import path from "node:path";
import { UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { readSetting } from "../../src/job/read-settings.ts";
import type { Settings } from "../../src/job/settings.ts";
import type { ClientContext } from "../context.ts";

const key = "tony.application.secrets";
/** All containers are started with them, and the ResourceManager stores them. */
const longestBytes = 64 * 1024;

/**
 * The values of `tony.application.secrets`, by the names of programs' variables: a file's content, without the end of its last line, or a
 * variable of this process.
 * @throws UserError naming a source that is not there, is empty or too long, or is no text
 */
export function readSecrets(
  settings: Settings,
  { environment, workingDirectory }: Pick<ClientContext, "environment" | "workingDirectory">,
): Map<string, string> {
  const sources = Object.entries(readSetting(settings, key) ?? {});
  return new Map(sources.map(([name, source]) => [name, read(name, source)]));

  function read(name: string, source: string): string {
    const rest = source.slice(source.indexOf(":") + 1);
    const value = source.startsWith("file:") ? contentOf(name, rest) : environment[rest];
    if (value === undefined || value === "") throw refused(name, `${source} is not set, or empty`);
    if (value.includes("\0")) throw refused(name, `${source} holds a zero byte, which no variable can`);
    if (Buffer.byteLength(value) > longestBytes) throw refused(name, `${source} is longer than 64 KiB`);
    return value;
  }

  function contentOf(name: string, file: string): string {
    try {
      return readFileSync(path.resolve(workingDirectory, file), "utf8").replace(/\r?\n$/, "");
    } catch (cause) {
      throw refused(name, `its file cannot be read: ${errorMessage(cause)}`, cause);
    }
  }

  function refused(name: string, problem: string, cause?: unknown): UserError {
    const at = settings.get(key)?.at;
    return new UserError(`${at === undefined ? "" : `${at}: `}the secret ${name}: ${problem}`, {
      code: "SECRET_UNREADABLE",
      cause,
    });
  }
}
