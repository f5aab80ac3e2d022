import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename } from "node:path";
import path from "node:path/posix";
import { errorCode } from "../../src/hadoop/errors.ts";
import { VENV_NAME } from "../../src/job/launch/container-names.ts";
import { archiveOf, type FileToShip } from "../../src/job/spec.ts";
import { architectureOf } from "../../src/machine.ts";

/** The longest target of a link (PATH_MAX, limits.h). */
const LONGEST_LINK = 4096;

/** More than one simple command, or one with an assignment: PATH may have changed by the time a script is run. */
const MAY_SET_PATH = /[;&|()\n=]/;

export interface ProgramFiles {
  /** Run by `bash -c` in the working directory. */
  readonly command: string;
  /** The program's PATH; undefined where it has none. */
  readonly searchPath: string | undefined;
  /** The files that the container finds in its working directory. */
  readonly files: readonly FileToShip[];
  readonly workFolder: string;
}

/**
 * Why a shipped file that the command runs cannot be the right program, as a sentence; undefined where no fault is found. Bash runs every
 * executable text as a script: an interpreter whose symbolic link was unpacked as text would do nothing, and exit with 0
 * (org.apache.hadoop.util.RunJar#unJar and FileUtil#unZip write a zip's links as files with their targets as text).
 */
export function unusableProgram({ command, searchPath, files, workFolder }: ProgramFiles): string | undefined {
  const places = MAY_SET_PATH.test(command) ? undefined : searchPath?.split(":");
  for (const file of filesRun(command)) {
    const origin = archiveOf(file, files) ?? files.find(({ name }) => name === file);
    const fault = origin === undefined ? undefined : faultOf(path.join(workFolder, file), places);
    if (origin !== undefined && fault !== undefined) {
      const remedy = fault.isAbsent ? whereElse(workFolder, file, origin) : (fault.remedy ?? remedyFor(origin.source));
      return `${file} ${fault.words}; it came from ${origin.source}: ${remedy}`;
    }
  }
  return undefined;
}

function remedyFor(source: string): string {
  return /\.(zip|jar)$/i.test(source) ? "pack that as tar.gz, which keeps links and modes" : PACK_THE_FILE;
}

const PACK_THE_FILE = "pack the file itself into that, with what it needs, not a link to what one machine has";

interface Fault {
  readonly words: string;
  /** Where the packing is not the cause. */
  readonly remedy?: string;
  readonly isAbsent?: true;
}

/** An environment is packed with or without its own folder: the path in the command may have one folder too many, or one too few. */
function whereElse(workFolder: string, file: string, { as, name }: FileToShip): string {
  const root = as === "archive" ? name : "";
  const rest = path.relative(root, file).split("/");
  const shorter = rest.slice(1).map((_, index) => path.join(root, ...rest.slice(index + 1)));
  const longer = foldersIn(path.join(workFolder, root)).map((folder) => path.join(root, folder, ...rest));
  const found = [...shorter, ...longer].find((candidate) => existsSync(path.join(workFolder, candidate)));
  if (found === undefined)
    return as === "working-directory" ? keptWords(rest) : "put it in there, or name what is there";
  const option = name === VENV_NAME ? ` (--python_binary_path ${path.relative(root, found)})` : "";
  return `there it is ${found}${option}`;
}

/** What `--src_dir` leaves out is reported when it is sent; here that is not known. */
function keptWords([top = ""]: readonly string[]): string {
  return (
    "put it in there; where it is in there, it was left out as that was sent: " +
    `end its .tonyignore with !${top}, or send a Python environment with --python_venv`
  );
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
}

/** The relative paths in a shell's command where it expects a program, and of `activate` scripts that it reads; quoted ones are ignored. */
function filesRun(command: string): string[] {
  return command.split(/[;&|()\n]+/).flatMap((simple) => {
    const words = simple.trim().split(/\s+/);
    const [builtin = "", script = ""] = words;
    if (builtin === "source" || builtin === ".")
      return /^[\w.+@-][\w.+@/-]*\/activate$/.test(script) ? [path.normalize(script)] : [];
    const first = words.find(
      (word) => !/^[A-Za-z_]\w*=/.test(word) && !["exec", "env", "nohup", "time"].includes(word),
    );
    return first !== undefined && /^[\w.+@-][\w.+@/-]*\/[\w.+@-]+$/.test(first) ? [path.normalize(first)] : [];
  });
}

function faultOf(file: string, searched: readonly string[] | undefined): Fault | undefined {
  try {
    if (!statSync(file).isFile()) return { words: "is not a file" };
    if (basename(file) === "activate") return activateFault(file);
    accessSync(file, constants.X_OK);
    const head = headOf(file);
    const words = faultOfContent(basename(file), head);
    if (words !== undefined) return { words };
    return architectureFault(head) ?? interpreterFault(file, head, searched) ?? baseFault(file);
  } catch (error) {
    if (errorCode(error) === "EACCES") return { words: "is not executable" };
    return errorCode(error) === "ENOENT" ? missing(file) : undefined;
  }
}

function faultOfContent(name: string, head: Buffer): string | undefined {
  const text = head.toString("latin1");
  if (text === "") return "is empty";
  if (/^\x7fELF|^#!/.test(text)) return undefined;
  if (head.length < LONGEST_LINK && /^[\x21-\x7e]+$/.test(text)) {
    return `is not a program but the text of a symbolic link to ${text}`;
  }
  return isPythonName(name) ? "is neither a program nor a script that names its interpreter" : undefined;
}

/** The kernel runs it if it has an emulator for it, as binfmt_misc says; otherwise there is an "Exec format error". */
function architectureFault(head: Buffer): Fault | undefined {
  const architecture = architectureOf(head) ?? process.arch;
  if (architecture === process.arch || emulators().length > 0) return undefined;
  return {
    words: `is made for ${architecture}, and this node is ${process.arch}`,
    remedy:
      "bring one that was made on a machine like the nodes, or ask for nodes like that one (tony.<role>.node-label)",
  };
}

function emulators(): string[] {
  try {
    return readdirSync("/proc/sys/fs/binfmt_misc").filter((name) => name.startsWith("qemu-"));
  } catch {
    return [];
  }
}

/**
 * A script whose first line names something that the node does not have, such as the place where its environment was made.
 * @param searched the folders of PATH; undefined where they are not known
 */
function interpreterFault(file: string, head: Buffer, searched: readonly string[] | undefined): Fault | undefined {
  const [, named = "", first = ""] = /^#![ \t]*(\S+)(?:[ \t]+(\S+))?/.exec(head.toString("latin1")) ?? [];
  const isSearched = basename(named) === "env" && /^[\w.+]/.test(first) && !first.includes("=");
  const interpreter = isSearched ? first : named;
  const places = isSearched ? searched?.map((folder) => path.join(folder, first)) : [named];
  if (named === "" || places === undefined) return undefined;
  const isOwn = existsSync(path.join(path.dirname(file), basename(interpreter)));
  const remedy = isOwn
    ? `run it by the ${basename(interpreter)} beside it, or send the environment's folder instead of an archive`
    : `give it to an interpreter that the nodes have, or install ${basename(interpreter)} there`;
  return lackOf(places, `is a script for ${interpreter}`, remedy);
}

/** It would put a folder of another machine into PATH: the node's own Python would silently run instead. */
function activateFault(file: string): Fault | undefined {
  const [, folder = ""] = /^\s*(?:export +)?VIRTUAL_ENV=["']?(\/[^"'\n;]*)/m.exec(readFileSync(file, "utf8")) ?? [];
  if (folder === "") return undefined;
  const remedy = "run the python beside it, or send the environment's folder instead of an archive";
  return lackOf([folder], `is for the environment in ${folder}`, remedy);
}

/** The Python of a virtual environment brings no library of its own: that is in the installation that it was made from (PEP 405). */
function baseFault(file: string): Fault | undefined {
  const settings = path.join(path.dirname(file), "../pyvenv.cfg");
  if (!isPythonName(basename(file)) || !existsSync(settings)) return undefined;
  const [, home = ""] = /^home *= *(.*)$/m.exec(readFileSync(settings, "utf8")) ?? [];
  if (home === "") return undefined;
  const remedy = "install that Python on every node, or pack one that is whole (conda-pack)";
  return lackOf([home], `is of a virtual environment made from the Python in ${home}`, remedy);
}

/** A fault where none of the places exists. If one is in a folder that is closed to this process's user, that cannot be said. */
function lackOf(places: readonly string[], words: string, remedy: string): Fault | undefined {
  const states = places.map(stateOf);
  if (states.includes("")) return undefined;
  if (states.some((state) => state !== "EACCES")) return { words: `${words}, which this node does not have`, remedy };
  return {
    words: `${words}, which the user of this node's containers may not read`,
    remedy: "let every user enter that folder and those above it, or pack a Python that is whole",
  };
}

/** Why nothing is found at a place; empty where something is. */
function stateOf(place: string): string {
  try {
    statSync(place);
    return "";
  } catch (error) {
    return String(errorCode(error));
  }
}

function isPythonName(name: string): boolean {
  return /^python[\d.]*$/.test(name);
}

/** A link whose target existed only on the machine that packed it. */
function missing(file: string): Fault {
  const target = lastTarget(file);
  if (target === undefined) return { words: "does not exist", isAbsent: true };
  const isPython = isPythonName(basename(target)) || isPythonName(basename(file));
  return {
    words: `is a symbolic link to ${target}, which this node does not have`,
    remedy: isPython
      ? "install that Python on every node, or make the environment with python3 -m venv --copies"
      : PACK_THE_FILE,
  };
}

/** The target of the last link in a dangling chain; undefined where the file itself is no link. */
function lastTarget(file: string): string | undefined {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return undefined;
  const target = readlinkSync(file);
  return lastTarget(path.resolve(realpathSync(path.dirname(file)), target)) ?? target;
}

function headOf(file: string): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const head = Buffer.alloc(LONGEST_LINK);
    return head.subarray(0, readSync(descriptor, head));
  } finally {
    closeSync(descriptor);
  }
}
