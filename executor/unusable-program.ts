import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename } from "node:path";
import path from "node:path/posix";
import { errorCode } from "../src/hadoop/errors.ts";
import { archiveOf } from "../src/job/archive-of.ts";
import type { FileToShip } from "../src/job/spec.ts";

/** The longest target of a link (PATH_MAX, limits.h). */
const LONGEST_LINK = 4096;

export interface ProgramFiles {
  /** Run by `bash -c` in the working directory. */
  readonly command: string;
  /** What the container finds in its working directory. */
  readonly files: readonly FileToShip[];
  readonly workFolder: string;
}

/**
 * Why a file of a shipped archive that the command runs cannot be the right program, as a sentence; undefined where no fault is found. Bash
 * runs every executable text as a script: an interpreter whose symbolic link was unpacked as text would do nothing, and exit 0
 * (org.apache.hadoop.util.RunJar#unJar and FileUtil#unZip write a zip's links as files with their targets as text).
 */
export function unusableProgram({ command, files, workFolder }: ProgramFiles): string | undefined {
  for (const file of filesRun(command)) {
    const archive = archiveOf(file, files);
    const fault = archive === undefined ? undefined : faultOf(path.join(workFolder, file));
    if (archive !== undefined && fault !== undefined) {
      const remedy = fault.remedy ?? remedyFor(archive.source);
      return `${file} ${fault.words}; it came from ${archive.source}: ${remedy}`;
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
}

/** The relative paths in a shell's command where it expects a program; quoted ones are ignored. */
function filesRun(command: string): string[] {
  return command.split(/[;&|()\n]+/).flatMap((simple) => {
    const words = simple.trim().split(/\s+/);
    const first = words.find(
      (word) => !/^[A-Za-z_]\w*=/.test(word) && !["exec", "env", "nohup", "time"].includes(word),
    );
    return first !== undefined && /^[\w.+@-][\w.+@/-]*\/[\w.+@-]+$/.test(first) ? [path.normalize(first)] : [];
  });
}

function faultOf(file: string): Fault | undefined {
  try {
    if (!statSync(file).isFile()) return { words: "is not a file" };
    accessSync(file, constants.X_OK);
    const words = faultOfContent(basename(file), headOf(file));
    return words === undefined ? undefined : { words };
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

function isPythonName(name: string): boolean {
  return /^python[\d.]*$/.test(name);
}

/** A link whose target existed only on the machine that packed it. */
function missing(file: string): Fault {
  const target = lastTarget(file);
  if (target === undefined) return { words: "does not exist" };
  const isPython = isPythonName(basename(target)) || isPythonName(basename(file));
  return {
    words: `is a symbolic link to ${target}, which this node does not have`,
    remedy: isPython
      ? "install that Python on every node, or make the environment with python3 -m venv --copies"
      : PACK_THE_FILE,
  };
}

/** The target of the last link in a chain that ends at nothing; undefined where the file itself is no link. */
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
