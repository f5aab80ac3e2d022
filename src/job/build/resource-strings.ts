import { posix } from "node:path";
import { nearest } from "../nearest.ts";
import type { FileToShip } from "../spec.ts";

/** What exists at a local path; undefined: nothing. */
export type LookUpPath = (path: string) => "file" | "directory" | undefined;

/** Where relative paths start: in the folder of the file that names them, then in the working directory, as in TonY. */
export interface LocalPaths {
  readonly folders: readonly string[];
  readonly lookUp: LookUpPath;
}

/**
 * One `SOURCE[::NAME][#archive]` (TonY's LocalizableResource). Without a scheme the source is a local path; a local directory is
 * packed and localised as an archive. @throws RangeError whose message says what is wrong with the text
 */
export function parseResourceString(text: string, paths: LocalPaths): FileToShip {
  const archiveMark = /#archive$/i.exec(text.trim());
  const [beforeName = "", given, ...more] = text.trim().slice(0, archiveMark?.index).split("::");
  const written = beforeName.length > 1 ? beforeName.replace(/\/+$/, "") : beforeName;
  if (written === "" || given === "" || more.length > 0) {
    throw new RangeError(`"${text}" is not SOURCE[::NAME][#archive]`);
  }
  const name = given ?? posix.basename(written);
  if (name === "" || name === "." || name === ".." || name.includes("/")) {
    throw new RangeError(`"${text}" needs a plain name without folders: SOURCE::NAME`);
  }
  checkLaunchable(text, name, "give it another name: SOURCE::NAME");
  if (hasScheme(written)) checkLaunchable(text, posix.basename(written), "rename the file there");
  if (hasScheme(written)) return shippable({ source: written, name, as: archiveMark === null ? "file" : "archive" });
  const { source, kind } = locate(written, paths);
  const as = archiveMark !== null || kind === "directory" ? "archive" : "file";
  return shippable({ source, name, as }, kind);
}

/** @throws RangeError for a name that a node would execute, change or refuse */
function checkLaunchable(text: string, name: string, mend: string): void {
  const problem = launchProblem(name);
  if (problem !== undefined) throw new RangeError(`${text}: ${problem}; ${mend}`);
}

/**
 * Why no resource may have that name; undefined: it may. A NodeManager writes a resource's link, and the file's own name, between double
 * quotes into a script that a shell runs, and makes a path of both, which must not contain a colon
 * (ContainerLaunch.ShellScriptBuilder#symlink, org.apache.hadoop.fs.Path).
 */
export function launchProblem(name: string): string | undefined {
  const bad = [...new Set(name.match(/["$`\\:\p{Cc}]/gu) ?? [])];
  if (bad.length === 0) return undefined;
  return `NodeManagers cannot take ${bad.map((sign) => JSON.stringify(sign)).join(", ")} in the name of a resource`;
}

/** In addition to the machine's own; `FileSystems` opens them. */
const schemes = ["hdfs", "webhdfs", "swebhdfs", "viewfs"];

/** Schemes of file systems that nodes can fetch from if Hadoop's connector is installed; a scheme that resembles one of them is a mistake. */
const connectors = [
  "gs",
  "s3",
  "s3a",
  "s3n",
  "abfs",
  "abfss",
  "wasb",
  "wasbs",
  "adl",
  "o3fs",
  "ofs",
  "oss",
  "cosn",
  "obs",
];

/** Whether the client itself can access files with that scheme. */
export function isOfCluster(scheme: string): boolean {
  return schemes.includes(scheme);
}

/** The resources of a list that the client cannot access itself. */
export function foreignSources(list: string): string[] {
  return list.split(",").filter((item) => {
    const [, scheme = "file"] = /^\s*([a-z][a-z0-9+.-]*):\//i.exec(item.toLowerCase()) ?? [];
    return scheme !== "file" && !isOfCluster(scheme);
  });
}

/** The archives that a NodeManager can unpack (org.apache.hadoop.yarn.util.FSDownload.unpack). */
const archiveEndings = [".zip", ".tar", ".tar.gz", ".tgz", ".jar"];

/** @param kind of a local source @throws RangeError for a file that no container can get, as far as its name and this machine tell */
export function shippable(file: FileToShip, kind?: "file" | "directory"): FileToShip {
  const { source, as } = file;
  const [, scheme = "file"] = /^([a-z][a-z0-9+.-]*):\//i.exec(source.toLowerCase()) ?? [];
  const known = ["file", ...schemes, ...connectors];
  const meant = known.includes(scheme) ? undefined : nearest(scheme, known);
  if (meant !== undefined) throw new RangeError(`${source} has no scheme that Hadoop knows; did you mean ${meant}:`);
  const isFile = kind === "file" || scheme !== "file";
  if (as !== "file" && isFile) checkUnpackable(source, source);
  return file;
}

/** @param source as the person wrote it @throws RangeError for a file that YARN does not unpack: it decides by the name's extension */
export function checkUnpackable(file: string, source: string): void {
  if (archiveEndings.some((ending) => file.toLowerCase().endsWith(ending))) return;
  throw new RangeError(`${source} is to be unpacked, but YARN unpacks only ${archiveEndings.join(", ")}`);
}

/** `hdfs://…`, `viewfs:/…`; a local path with a colon in it needs `./` in front. */
export function hasScheme(source: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\//i.test(source);
}

/** The first of the folders that contains the path. @throws RangeError when none does */
export function locate(
  written: string,
  { folders, lookUp }: LocalPaths,
): { readonly source: string; readonly kind: "file" | "directory" } {
  const candidates = [...new Set(folders.map((folder) => resolve(folder, written)))];
  for (const source of candidates) {
    const kind = lookUp(source);
    if (kind !== undefined) return { source, kind };
  }
  throw new RangeError(`${candidates.join(" or ")} does not exist`);
}

function resolve(folder: string, path: string): string {
  return posix.isAbsolute(path) ? posix.normalize(path) : posix.join(folder, path);
}
