import { posix } from "node:path";
import {
  launchedFileOf,
  moduleOf,
  pathInside,
  programFileOf,
  readPathsOf,
  shippingWords,
} from "../diagnosis/program-file.ts";
import { keyFor } from "../keys.ts";
import { nearest } from "../nearest.ts";
import type { FileToShip, RoleSpec } from "../spec.ts";
import type { ListSources } from "./check-container-names.ts";
import type { JobReader } from "./job-reader.ts";
import { hasScheme } from "./resource-strings.ts";

/** Shorter names resemble too many others. */
const LEAST_LETTERS = 3;

/**
 * Warns of a program that is not sent with the job: one that exists only on this machine, and one that exists nowhere. A relative path
 * refers to the container's working directory, which contains only what the job ships. A module, or a file that the program reads, may be
 * on the node or be made by the program: of these, only names that resemble a shipped one are reported.
 */
export function checkProgramFiles(
  reader: JobReader,
  roles: readonly RoleSpec[],
  shared: readonly FileToShip[],
  listSources: ListSources,
): void {
  const list: ListSources = (folder) =>
    hasScheme(folder) || reader.lookUp(folder) !== "directory" ? [] : listSources(folder);
  const warned = new Set<string>();
  for (const { name: role, command, files } of roles) {
    const own = keyFor("tony.{role}.command", { role });
    const key = reader.settings.has(own) ? own : "tony.containers.command";
    if (!warned.has(key))
      checkNearNames(reader, { key, command, shipped: entriesOf([...shared, ...files], list), list });
    const file = programFileOf(command) ?? launchedFileOf(command);
    const place = file === undefined ? undefined : reader.localFile(key, file);
    if (file === undefined || warned.has(key)) continue;
    const shipped = [...shared, ...files];
    if (shipped.some((resource) => mayBring(reader, resource, file))) continue;
    const shippedNames = names(entriesOf(shipped, list));
    warned.add(key);
    if (place === undefined) {
      const name = posix.basename(file);
      const isThere = name !== file && shipped.some((resource) => mayBring(reader, resource, name));
      const near = isThere ? name : nearest(file, shippedNames);
      const mend =
        near === undefined ? `check its name, or ship it with ${shippingWords(role)}` : `did you mean ${near}?`;
      reader.warn(key, `runs ${file}, which the job does not ship: ${mend}`);
      continue;
    }
    const sources = shared.find(({ as, source }) => as === "working-directory" && place.startsWith(`${source}/`));
    if (sources !== undefined) {
      const inside = place.slice(sources.source.length + 1);
      // The option itself gets a warning for such a path.
      const isTold = reader.settings.get(key)?.at === "-executes" && pathInside(file, sources.source) !== undefined;
      if (!isTold) reader.warn(key, `runs ${file}, which --src_dir brings as ${inside}: write ${inside}`);
      continue;
    }
    reader.warn(key, `runs ${file}, but ${place} is not shipped with the job: ship it with ${shippingWords(role)}`);
  }
}

/** Whether the shipped file may contain that file; the content of an archive or a URL is unknown here. */
function mayBring(reader: JobReader, { name, source, as }: FileToShip, file: string): boolean {
  const inside = as === "working-directory" ? file : file.split("/").slice(1).join("/");
  if (as !== "working-directory" && (inside === "" || file.split("/")[0] !== name)) return file === name;
  return (
    hasScheme(source) || reader.lookUp(source) !== "directory" || reader.lookUp(posix.join(source, inside)) === "file"
  );
}

/** An entry of a container's working directory. */
interface Entry {
  readonly name: string;
  /** Its path on this machine. */
  readonly path: string;
}

interface Shipped {
  readonly key: string;
  readonly command: string;
  readonly shipped: readonly Entry[];
  readonly list: ListSources;
}

/** The files that the job ships; for the folder of `--src_dir` its content. */
function entriesOf(files: readonly FileToShip[], list: ListSources): Entry[] {
  return files.flatMap(({ name, source, as }) =>
    as === "working-directory" ? entriesIn(source, list) : [{ name, path: source }],
  );
}

function entriesIn(folder: string, list: ListSources): Entry[] {
  return list(folder).map((name) => ({ name, path: posix.join(folder, name) }));
}

function checkNearNames(reader: JobReader, { key, command, shipped, list }: Shipped): void {
  const module = moduleOf(command);
  const meant = module === undefined ? undefined : meantModule(module.split("."), shipped, list);
  if (meant !== undefined) {
    reader.warn(key, `runs module ${module}, which the job does not ship: did you mean ${meant.join(".")}?`);
  }
  const program = programFileOf(command) ?? launchedFileOf(command);
  const read = module === undefined && program === undefined ? [] : readPathsOf(command);
  for (const path of read) {
    const [top = "", ...rest] = path.split("/");
    const isKnown = path === program || shipped.some(({ name }) => name === top) || isMade(command, top);
    const near = isKnown ? undefined : nearName(top, names(shipped), 1);
    if (near === undefined || reader.localFile(key, top) !== undefined) continue;
    reader.warn(key, `names ${path}, which the job does not ship: did you mean ${[near, ...rest].join("/")}?`);
  }
}

/** Whether the command also contains the name elsewhere, and may therefore make it. */
function isMade(command: string, name: string): boolean {
  return command.split(/[^\w.+-]+/).filter((word) => word === name).length > 1;
}

/** The module with a similar name that is shipped. */
function meantModule(parts: readonly string[], entries: readonly Entry[], list: ListSources): string[] | undefined {
  const [part = "", ...rest] = parts;
  const found = entries.find(({ name }) => moduleName(name) === part);
  if (found === undefined) {
    const near = nearName(part, names(entries).map(moduleName));
    return near === undefined ? undefined : [near, ...rest];
  }
  const meant = rest.length === 0 ? undefined : meantModule(rest, entriesIn(found.path, list), list);
  return meant === undefined ? undefined : [part, ...meant];
}

function moduleName(file: string): string {
  return file.replace(/\.py$/, "");
}

/** The similar name among them; none where one name continues the other, because such names mean different things: `model` and `models`. */
function nearName(word: string, candidates: readonly string[], mostMore = 0): string | undefined {
  const isOther = (name: string) =>
    word.startsWith(name) || (name.startsWith(word) && name.length - word.length > mostMore);
  if (word.length < LEAST_LETTERS) return undefined;
  return nearest(
    word,
    candidates.filter((name) => name.length >= LEAST_LETTERS && !isOther(name)),
  );
}

function names(entries: readonly Entry[]): string[] {
  return entries.map(({ name }) => name);
}
