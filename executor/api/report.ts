import path from "node:path";
import { writtenNumber } from "../../src/job/program-metrics.ts";
import { isShared } from "../../src/job/shared-path.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { nameWithin } from "../carrier/local-files.ts";
import { parseProgress, readMark } from "../monitoring/progress-mark.ts";
import { CallError } from "./call.ts";

/** The progress file is read 64 KiB at a time. */
const MOST_LINE = 16_384;

export interface SaidProgress {
  /** A line for the progress file, which is handled like any other from there on; empty: nothing was reported. */
  readonly line: string;
  readonly checkpoint: string | undefined;
  /** What cannot be kept, and why. */
  readonly ignored: readonly string[];
}

/** @throws CallError where nothing of it can be kept */
export function readReport(body: string): SaidProgress {
  const ignored: string[] = [];
  const mark = readMark(parsed(body), (words) => ignored.push(words));
  if (mark === undefined) {
    if (ignored.length > 0) throw new CallError(400, "BAD_REPORT", ignored.join("; "));
    return { line: "", checkpoint: undefined, ignored };
  }
  const { step, checkpoint, metrics } = mark;
  const written = Object.fromEntries(metrics.map(([name, value]) => [name, writtenNumber(value)]));
  const line = `${JSON.stringify({ step, checkpoint, metrics: written })}\n`;
  if (line.length > MOST_LINE) throw new CallError(413, "TOO_LONG", `a report has at most ${MOST_LINE} characters`);
  return { line, checkpoint, ignored };
}

/**
 * Why a checkpoint may be lost; undefined: another container will find it.
 * @param workFolder the program's
 */
export function checkpointWarning(
  { carrier, checkpointDir }: Pick<JobSpec, "carrier" | "checkpointDir">,
  checkpoint: string,
  workFolder: string,
): string | undefined {
  const folder = carrier?.checkpoints && path.resolve(workFolder, carrier.checkpoints.localDir);
  const isStored = folder !== undefined && nameWithin(folder, checkpoint, workFolder) !== undefined;
  if (isStored || isShared(checkpoint, checkpointDir)) return undefined;
  const toDo =
    folder === undefined
      ? "set tony.checkpoint.local-dir and tony.application.checkpoint-dir, and save it below TONY_CHECKPOINT_LOCAL_DIR"
      : "save it below TONY_CHECKPOINT_LOCAL_DIR";
  return `${checkpoint} is in this container alone, and is lost with it: ${toDo}, or tell an address such as hdfs://…`;
}

function parsed(body: string): unknown {
  try {
    const said = parseProgress(body);
    if (typeof said === "object" && said !== null && !Array.isArray(said)) return said;
  } catch {
    // Reported below.
  }
  throw new CallError(
    400,
    "BAD_REPORT",
    'the body is no JSON object, such as {"step": 1800, "metrics": {"loss": 0.4}}',
  );
}
