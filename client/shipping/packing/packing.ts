import path from "node:path";
import { countWords, sizeWords } from "../../../src/job/reasons/words.ts";
import type { FileToShip } from "../../../src/job/spec.ts";
import type { ShippedFile } from "../../../src/job/stored/job-file.ts";
import type { KnownContent } from "../hash-memo.ts";
import { circles } from "./circles.ts";
import { fingerprintTree, readTree, type Tree } from "./directory-tree.ts";
import { exclusionOf } from "./exclusion.ts";
import { isPrivate, lostLinks, type PrivateLink, privateLinks } from "./links.ts";
import { packDirectory } from "./pack-directory.ts";
import { basePython, type Relocated, relocateEnvironment } from "./python-environment.ts";
import { countLinks, repackZip } from "./repack-zip.ts";

/** A `.tar.gz` to be made on this machine before it is uploaded. */
export interface Packing {
  /** The key under which its hash is remembered. */
  readonly key: string;
  /** Changes when the archive's content would. */
  readonly identity: string;
  /** The latest change of its sources. */
  readonly changedAtMs: number;
  readonly fileName: string;
  /**
   * Who unpacks it: a NodeManager unpacks an ARCHIVE, for all its containers; the executor unpacks what belongs directly in the working
   * directory.
   */
  readonly type: ShippedFile["type"];
  /** The size of its sources; for a zip, that of the zip itself. */
  readonly unpackedBytes: number;
  readonly write: (archive: string) => Promise<void>;
  /** Differences from its source, for people. */
  readonly remarks: readonly string[];
  /** Those remarks that may make the job fail. */
  readonly warnings: readonly string[];
}

/** For larger folders a person is told what to do: every node fetches and unpacks them. */
const largeBytes = 200 * 1024 * 1024;
const mostNamed = 6;
/** When one part of a folder has this share, that part's own content is named instead. */
const nearlyAll = 0.95;
const zipEnding = /\.(zip|jar)$/i;

/**
 * A local folder as it will be sent.
 * @param beside the paths of what else is sent from this machine
 * @throws UserError for what cannot be packed
 */
export async function packingOfFolder(
  folder: string,
  as: FileToShip["as"],
  beside: readonly string[] = [],
): Promise<Packing> {
  return packingOfTree(folder, as, await treeOf(folder, as, beside));
}

/** The same for containers that another user may run, with a remark on links which that user cannot follow. */
export async function packingForOthers(
  folder: string,
  as: FileToShip["as"],
  beside: readonly string[] = [],
): Promise<Packing> {
  const relocated = await treeOf(folder, as, beside);
  const packing = packingOfTree(folder, as, relocated);
  const links = linkRemarks(await privateLinks(relocated.tree));
  const more = links.length > 0 ? links : await baseRemarks(relocated.tree);
  return { ...packing, remarks: [...packing.remarks, ...more], warnings: [...packing.warnings, ...more] };
}

/** A remark on the Python that an environment takes its library from, where no link leads to it. */
async function baseRemarks(tree: Tree): Promise<string[]> {
  const home = await basePython(tree);
  if (home === undefined || !(await isPrivate(home))) return [];
  return [
    `it was made from the Python in ${home}, which other users may not read: where YARN runs containers as another ` +
      "user it does not start; make it from a Python that all may read, or pack one that is whole (conda-pack)",
  ];
}

async function treeOf(folder: string, as: FileToShip["as"], beside: readonly string[]): Promise<Relocated> {
  const { tree, remarks } = await relocateEnvironment(await readTree(folder, await exclusionOf(folder, as)), beside);
  return { tree, remarks: [...remarks, ...(await lostLinks(tree))] };
}

function packingOfTree(folder: string, as: FileToShip["as"], { tree, remarks }: Relocated): Packing {
  const warnings = [...outwardRemarks(tree), ...(as === "archive" ? circleRemarks(tree) : []), ...remarks];
  return {
    key: `tree:${folder}`,
    identity: fingerprintTree(tree),
    changedAtMs: tree.entries.reduce((latest, { changedAtMs }) => Math.max(latest, changedAtMs), 0),
    fileName: `${path.basename(folder) || "root"}.tar.gz`,
    type: typeOf(as),
    unpackedBytes: totalOf(filesOf(tree)),
    write: (archive) => packDirectory(tree, archive),
    remarks: [...sizeRemarks(tree), ...warnings],
    warnings,
  };
}

/** By the file's name, as YARN decides. */
export function isZip(file: string): boolean {
  return zipEnding.test(file);
}

/**
 * A local zip with symbolic links, which a NodeManager does not create, as it will be sent; undefined for one that can be sent
 * unchanged.
 * @throws UserError for a file that is not a zip
 */
export async function packingOfZip(
  zip: string,
  { sha256, sizeBytes }: KnownContent,
  as: FileToShip["as"],
): Promise<Packing | undefined> {
  const links = await countLinks(zip, zip);
  if (links === 0) return undefined;
  return {
    key: `zip:${sha256}`,
    identity: "tar.gz",
    changedAtMs: 0,
    fileName: `${path.basename(zip).replace(zipEnding, "")}.tar.gz`,
    type: typeOf(as),
    unpackedBytes: sizeBytes,
    write: (archive) => repackZip(zip, archive),
    remarks: [`sent as .tar.gz: YARN would make ${countWords(links, "symbolic link")} of the zip text files`],
    warnings: [],
  };
}

function typeOf(as: FileToShip["as"]): ShippedFile["type"] {
  return as === "working-directory" ? "FILE" : "ARCHIVE";
}

/** What was excluded and how much is left; for a large folder, where most of it is. */
function sizeRemarks(tree: Tree): string[] {
  const { leftOut } = tree;
  const files = filesOf(tree);
  const totalBytes = totalOf(files);
  const size = `${countWords(files.length, "file")}, ${sizeWords(totalBytes)}`;
  const remarks = leftOut.length === 0 ? [] : [`${size}; left out: ${namesOf(leftOut)}`];
  if (totalBytes <= largeBytes) return remarks;
  const hint = `every node fetches it; most is in ${largestOf(files)}: what tasks do not need goes into .tonyignore, data onto HDFS`;
  return [...remarks, leftOut.length === 0 ? `${size}: ${hint}` : hint];
}

/** Folders that every machine has, as far as links matter. */
const systemFolder = /^\/(?:usr|bin|sbin|lib|lib64|opt|etc|dev|proc|sys)\//;
/** An environment's interpreter, which other remarks cover. */
const interpreter = /\/python[\d.]*$/;

/** An absolute link out of the folder is sent unchanged: on a node without its target it leads nowhere. */
function outwardRemarks({ entries }: Tree): string[] {
  const outward = entries.flatMap(({ entry }) =>
    entry.type === "symlink" &&
    path.isAbsolute(entry.target) &&
    !systemFolder.test(entry.target) &&
    !interpreter.test(entry.target)
      ? [entry]
      : [],
  );
  const [first, ...others] = outward;
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` (and ${others.length} more like it)`;
  return [
    `${first.path} is a link to ${first.target}${more}: it works only on nodes that have that too; ` +
      "a relative link is replaced by what it leads to",
  ];
}

/** YARN's launch script lists a container's files with `find -L`, and exits where that fails: ContainerExecutor#writeLaunchEnv. */
function circleRemarks(tree: Tree): string[] {
  const [first, ...others] = circles(tree);
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` (and ${others.length} more like it)`;
  return [
    `${first.path} is a link to ${first.target}${more}, which leads back to itself: on most clusters YARN's launch script fails at it, ` +
      "and no container starts; take the link out, or send the folder by --src_dir",
  ];
}

function linkRemarks([first, ...others]: readonly PrivateLink[]): string[] {
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` (and ${others.length} more like it)`;
  return [
    `${first.path} is a link to ${first.target}${more}, which other users may not read: where YARN runs containers as another ` +
      "user none starts; pack the file itself (python3 -m venv --copies, conda-pack)",
  ];
}

function filesOf({ entries }: Tree): { readonly path: string; readonly sizeBytes: number }[] {
  return entries.flatMap(({ entry }) => (entry.type === "file" ? [entry] : []));
}

function totalOf(files: readonly { readonly sizeBytes: number }[]): number {
  return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** `.git, __pycache__ (3 times)` */
function namesOf(paths: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of paths.map((entry) => path.posix.basename(entry))) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count} times)`));
  const more = names.length - mostNamed;
  return names.slice(0, mostNamed).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Where most of a folder is: descends until no single subfolder has nearly all of it. */
function largestOf(files: readonly { readonly path: string; readonly sizeBytes: number }[], below = ""): string {
  const sizes = new Map<string, number>();
  for (const { path: file, sizeBytes } of files) {
    const [top = ""] = file.slice(below.length).split("/");
    sizes.set(top, (sizes.get(top) ?? 0) + sizeBytes);
  }
  const [name = "", sizeBytes = 0] = [...sizes].sort(([, left], [, right]) => right - left)[0] ?? [];
  const folder = `${below}${name}/`;
  const within = files.filter(({ path: file }) => file.startsWith(folder));
  if (within.length > 0 && sizeBytes > nearlyAll * totalOf(files)) return largestOf(within, folder);
  return `${below}${name} (${sizeWords(sizeBytes)})`;
}
