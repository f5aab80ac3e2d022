import { accessSync, closeSync, constants, lstatSync, openSync, readlinkSync, readSync, statSync } from "node:fs";
import { basename } from "node:path";
import path from "node:path/posix";
import { errorCode } from "../src/hadoop/errors.ts";
import type { ResourceToLocalize } from "../src/job/spec.ts";

/** Longer no link's target can be (PATH_MAX, limits.h). */
const LONGEST_LINK = 4096;

export interface ProgramFiles {
  /** Run by `bash -c` in the working directory. */
  readonly command: string;
  /** What the container finds in its working directory. */
  readonly resources: readonly ResourceToLocalize[];
  readonly workFolder: string;
}

/**
 * Why a file that the command runs out of a shipped archive cannot be what it should be, in words; undefined where nothing speaks against
 * it. Bash takes every executable text for a script: an interpreter whose symbolic link was unpacked as text would do nothing, and
 * exit 0 (org.apache.hadoop.util.RunJar#unJar and FileUtil#unZip write a zip's links as files that hold their targets).
 */
export function unusableProgram({ command, resources, workFolder }: ProgramFiles): string | undefined {
  for (const file of filesRun(command)) {
    const archive = archiveOf(file, resources);
    const fault = archive === undefined ? undefined : faultOf(path.join(workFolder, file));
    if (archive !== undefined && fault !== undefined) {
      return `${file} ${fault}; it came from ${archive.source}: ${remedyFor(archive.source)}`;
    }
  }
  return undefined;
}

function remedyFor(source: string): string {
  return /\.(zip|jar)$/i.test(source)
    ? "pack that as tar.gz, which keeps links and modes"
    : "pack the file itself into that, with what it needs, not a link to what one machine has";
}

/** The relative paths in a shell's command that stand where it expects a program; quoted ones are passed over. */
function filesRun(command: string): string[] {
  return command.split(/[;&|()\n]+/).flatMap((simple) => {
    const words = simple.trim().split(/\s+/);
    const first = words.find(
      (word) => !/^[A-Za-z_]\w*=/.test(word) && !["exec", "env", "nohup", "time"].includes(word),
    );
    return first !== undefined && /^[\w.+@-][\w.+@/-]*\/[\w.+@-]+$/.test(first) ? [path.normalize(first)] : [];
  });
}

/** The archive whose unpacked content holds the file: one of that name, else the one that is laid out in the working directory itself. */
function archiveOf(file: string, resources: readonly ResourceToLocalize[]): ResourceToLocalize | undefined {
  const named = resources.find(({ as, name }) => as === "archive" && file.startsWith(`${name}/`));
  return named ?? resources.find(({ as }) => as === "working-directory");
}

function faultOf(file: string): string | undefined {
  try {
    if (!statSync(file).isFile()) return "is not a file";
    accessSync(file, constants.X_OK);
    return faultOfContent(basename(file), headOf(file));
  } catch (error) {
    if (errorCode(error) === "EACCES") return "is not executable";
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
  return /^python[\d.]*$/.test(name) ? "is neither a program nor a script that names its interpreter" : undefined;
}

/** A link whose target only the machine had that it was packed on. */
function missing(file: string): string {
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? `is a symbolic link to ${readlinkSync(file)}, which this node does not have` : "does not exist";
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
