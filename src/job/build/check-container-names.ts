import { posix } from "node:path";
import { ownerOf, YARN_TEMPORARY } from "../launch/container-names.ts";
import type { FileToShip } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";
import { hasScheme } from "./resource-strings.ts";
import { shipOption } from "./submission.ts";

/** The files that a key adds to containers, next to those of options. */
export interface NamedFiles {
  readonly key: string;
  readonly files: readonly FileToShip[];
  /** Whether tasks get them, together with the content of `--src_dir`. */
  readonly besideSources: boolean;
}

/** The top-level names of a folder on this machine that are sent when it is the `--src_dir`. */
export type ListSources = (folder: string) => readonly string[];

/** Refuses files whose names belong to tony-ts or YARN in every container, and warns of files in `--src_dir` that others replace. */
export function checkContainerNames(
  reader: JobReader,
  named: readonly NamedFiles[],
  { ship, list }: { readonly ship: readonly FileToShip[]; readonly list: ListSources },
): void {
  for (const { key, files } of named) {
    for (const { name, source } of files) {
      const owner = ownerOf(name);
      if (owner === undefined) continue;
      reader.error(key, `puts ${source} at ${name}, which ${owner} has in every container; rename it: SOURCE::NAME`);
    }
  }
  for (const sources of ship.filter((file) => isFolder(reader, file))) {
    const names = list(sources.source);
    checkSources(reader, sources, names);
    const tasks = named.filter(({ besideSources }) => besideSources);
    for (const { key, files } of tasks) {
      for (const file of hiding(files, sources, names)) {
        reader.warn(key, `puts ${file.source} at ${file.name}, in place of what --src_dir has there: rename one`);
      }
    }
    for (const file of hiding(ship, sources, names)) {
      const message = `puts ${file.source} at ${file.name}, in place of what --src_dir has there`;
      reader.problems.push({ severity: "warning", message, at: shipOption(file.as) });
    }
  }
}

function isFolder(reader: JobReader, { source, as }: FileToShip): boolean {
  return as === "working-directory" && !hasScheme(source) && reader.lookUp(source) === "directory";
}

function checkSources(reader: JobReader, { source, as }: FileToShip, names: readonly string[]): void {
  for (const name of names) {
    const owner = ownerOf(name);
    const isShared = name === YARN_TEMPORARY && reader.lookUp(posix.join(source, name)) === "directory";
    if (owner === undefined || isShared) continue;
    const message =
      `has ${name} at the top of ${source}, which ${owner} has in every container: rename it, leave it out by .tonyignore, ` +
      "or send the folder by tony.containers.resources, which keeps its name";
    reader.problems.push({ severity: "error", message, at: shipOption(as) });
  }
}

/** The files whose names are also in the sources; names that nobody may use are already reported. */
function hiding(files: readonly FileToShip[], { source }: FileToShip, names: readonly string[]): FileToShip[] {
  const isOther = ({ name, source: own }: FileToShip) => names.includes(name) && own !== posix.join(source, name);
  return files.filter((file) => isOther(file) && ownerOf(file.name) === undefined);
}
