import { closeSync, existsSync, openSync, statSync } from "node:fs";
import path from "node:path";
import type { LogStream, OutputStream } from "../../src/api/messages.ts";
import { BUNDLES, logPrefixOf } from "../../src/job/launch/container-names.ts";
import { logFileOf } from "../../src/job/launch/launch-command.ts";
import { OUTPUT_INDEX } from "../../src/job/output-index.ts";
import type { TaskId } from "../../src/job/task.ts";
import { RotatingLog } from "../../src/rotating-log.ts";
import type { ExecutorSettings } from "../settings.ts";

/** Enough for the last lines and a deep traceback. */
const TAIL_BYTES = 131_072;

/** What a task's programs and its executor write in its container; YARN serves and aggregates the files. */
export type OutputLogs = Readonly<Record<LogStream, RotatingLog>>;

export function outputLogs({ logFolder, logPrefix }: Pick<ExecutorSettings, "logFolder" | "logPrefix">): OutputLogs {
  const log = (name: string) => new RotatingLog(path.join(logFolder, logPrefix + name));
  return {
    stdout: log("stdout"),
    stderr: log("stderr"),
    index: log(OUTPUT_INDEX),
    executor: log(logFileOf(BUNDLES.executor)),
  };
}

/**
 * The logs of a task that had the container before: its files have a name of their own (see logPrefixOf) or, if it was the first one, none.
 * @param logFolder of the container
 */
export function earlierLogs(logFolder: string, task: TaskId): OutputLogs {
  const later = outputLogs({ logFolder, logPrefix: logPrefixOf(task) });
  return existsSync(later.stdout.file) ? later : outputLogs({ logFolder, logPrefix: "" });
}

/** The files of one run, open for the program to write to. They begin with what earlier runs wrote. */
export interface OutputFiles {
  readonly stdout: number;
  readonly stderr: number;
  close(): void;
  /** The last part of what this run wrote. */
  tail(stream: OutputStream): string;
  /** When it was last written to; undefined where that is not known. */
  writtenAtMs(stream: OutputStream): number | undefined;
}

export function openOutputFiles(logs: OutputLogs): OutputFiles {
  const open = (log: RotatingLog) => ({ descriptor: openSync(log.file, "a"), start: log.sizeBytes });
  const files = { stdout: open(logs.stdout), stderr: open(logs.stderr) };
  return {
    stdout: files.stdout.descriptor,
    stderr: files.stderr.descriptor,
    close() {
      closeSync(files.stdout.descriptor);
      closeSync(files.stderr.descriptor);
    },
    tail: (stream) => readTail(logs[stream], files[stream].start),
    writtenAtMs(stream) {
      const changed = statSync(logs[stream].file, { throwIfNoEntry: false })?.mtimeMs;
      return changed === undefined ? undefined : Math.floor(changed);
    },
  };
}

/** The last bytes of a log, none before `start`, as text; an incomplete character at the front is dropped. */
function readTail(log: RotatingLog, start: number): string {
  try {
    const size = log.sizeBytes;
    const pieces: Buffer[] = [];
    for (let at = log.firstFrom(Math.max(start, size - TAIL_BYTES)); at < size; ) {
      const piece = log.read(at, size - at);
      if (piece.length === 0) break;
      pieces.push(piece);
      at += piece.length;
    }
    return Buffer.concat(pieces)
      .toString("utf8")
      .replace(/^\uFFFD+/, "");
  } catch {
    return "";
  }
}
