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

/** A `.tar.gz` that is made on this machine before it travels. */
export interface Packing {
  /** What it is remembered by. */
  readonly key: string;
  /** Changes when the archive would. */
  readonly identity: string;
  /** The latest change of what it is made of. */
  readonly changedAtMs: number;
  readonly fileName: string;
  /** What unpacks it: a NodeManager an ARCHIVE, for all its containers; the executor what lies in the working directory itself. */
  readonly type: ShippedFile["type"];
  /** What it is made of; of a zip itself. */
  readonly unpackedBytes: number;
  readonly write: (archive: string) => Promise<void>;
  /** How it differs from its source, for people. */
  readonly remarks: readonly string[];
  /** Those of them that may fail the job. */
  readonly warnings: readonly string[];
}

/** Beyond this a person is told what to do about it: every node fetches and unpacks it. */
const largeBytes = 200 * 1024 * 1024;
const mostNamed = 6;
/** A folder with so large a part says nothing that is not better said of what is in it. */
const nearlyAll = 0.95;
const zipEnding = /\.(zip|jar)$/i;

/**
 * A local folder as it travels.
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

/** The Python with an environment's library, where that is no link. */
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

/** By its name, as YARN decides. */
export function isZip(file: string): boolean {
  return zipEnding.test(file);
}

/**
 * A local zip as it travels, when it has symbolic links, which a NodeManager does not make; undefined for one that can go as it is.
 * @throws UserError for what is no zip
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

/** What stayed behind and how much is left; for a large folder where most of it is. */
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

/** What every machine has in the same place, as far as links of folders go. */
const systemFolder = /^\/(?:usr|bin|sbin|lib|lib64|opt|etc|dev|proc|sys)\//;
/** An environment's interpreter, of which more is said elsewhere. */
const interpreter = /\/python[\d.]*$/;

/** An absolute link out of the folder travels as it is: on a node that lacks its target it leads nowhere. */
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

/** YARN's launch script lists what a container gets with `find -L`, and ends where that fails: ContainerExecutor#writeLaunchEnv. */
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

/** Where most of a folder lies: down to where it is not nearly all in one folder of that one. */
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
