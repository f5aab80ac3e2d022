import { posix } from "node:path";
import { programFileOf } from "../diagnosis/program-file.ts";
import { keyFor } from "../keys.ts";
import { VENV_NAME } from "../launch/container-names.ts";
import type { FileToShip, RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";
import { hasScheme } from "./resource-strings.ts";

/** An excluded entry of the `--src_dir` that contains a requested file. */
export interface LeftBehind {
  /** Relative to the folder. */
  readonly entry: string;
  /** PEP 405 */
  readonly isEnvironment: boolean;
}

/** Undefined where the file is sent. */
export type FindLeftBehind = (folder: string, file: string) => LeftBehind | undefined;

/** Characters that end a word, or a part of one that may be a path. */
const BETWEEN = /[\s;&|()<>"'`=:,]+/;
const HERE = /^(?:\$PWD\/|\$\{PWD\}\/|\.\/)+/;
const PATH = /^[\w.+@-]+(?:\/[\w.+@-]+)+$/;
/** Commands that create environments: an environment that the command makes in the container need not be sent. */
const MAKER = /^(?:venv|virtualenv|uv|pipenv|poetry|conda|npm|pnpm|yarn)$/;

/** Warns of files in `--src_dir` that a command uses and that are excluded when the folder is sent. */
export function checkLeftOut(
  reader: JobReader,
  roles: readonly RoleSpec[],
  shared: readonly FileToShip[],
  find: FindLeftBehind,
): void {
  const folder = shared.find(({ as, source }) => as === "working-directory" && !hasScheme(source))?.source;
  if (folder === undefined || reader.lookUp(folder) !== "directory") return;
  for (const { name: role, command, files } of roles) {
    const own = keyFor("tony.{role}.command", { role });
    const key = reader.settings.has(own) ? own : "tony.containers.command";
    const shipped = new Set([...shared, ...files].map(({ name }) => name));
    for (const file of filesNamed(command)) {
      const left = shipped.has(file.split("/")[0] ?? "") ? undefined : find(folder, file);
      if (left === undefined || reader.lookUp(posix.join(folder, file)) === undefined) continue;
      reader.warn(
        key,
        `uses ${file}, which stays behind: --src_dir leaves out ${left.entry}; ${mendOf(left, folder, file)}`,
      );
      break;
    }
  }
}

function filesNamed(command: string): string[] {
  const words = command.split(BETWEEN);
  if (words.some((word) => MAKER.test(word))) return [];
  const program = programFileOf(command);
  const paths = words.map((word) => word.replace(HERE, "")).filter((word) => PATH.test(word));
  return program === undefined ? paths : [program, ...paths];
}

function mendOf({ entry, isEnvironment }: LeftBehind, folder: string, file: string): string {
  if (isEnvironment) {
    const there = posix.join(VENV_NAME, posix.relative(entry, file));
    return `send it with --python_venv ${posix.join(folder, entry)}, and write ${there}`;
  }
  return `to send it, end ${posix.join(folder, ".tonyignore")} with !${entry}`;
}
