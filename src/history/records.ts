import type { JobSpec } from "../job/spec.ts";
import type { JobOutcome, JobStatus } from "../job/status.ts";

/**
 * The history of one job: one JSON object a line, oldest first. The first line of every attempt is a `header`; the last line of a
 * finished job is its `end`. Lines of one attempt are numbered from 1: a line that is there twice was written twice, because an answer of
 * the file system was lost, and counts once.
 */
export type HistoryRecord = HistoryHeader | HistoryLine | HistoryEnd;

interface Numbered {
  readonly attempt: number;
  readonly number: number;
  readonly atMs: number;
}

export interface HistoryHeader extends Numbered {
  readonly record: "header";
  readonly historyVersion: 1;
  readonly applicationId: string;
  readonly user: string;
  /** Version and revision of the ApplicationMaster. */
  readonly build: string;
  readonly spec: JobSpec;
}

/** Something that happened. */
export interface HistoryLine extends Numbered {
  readonly record: "event";
  readonly type: string;
  readonly task?: string;
  readonly containerId?: string;
  readonly generation?: number;
  readonly fields?: Readonly<Record<string, string | number | boolean>>;
}

export interface HistoryEnd extends Numbered {
  readonly record: "end";
  readonly outcome: JobOutcome;
  readonly status: JobStatus;
}

/** A record as its writer is given it; attempt and number are the writer's. */
export type Unnumbered<Record> = Record extends unknown ? Omit<Record, "attempt" | "number"> : never;

export function encodeHistoryRecord(record: HistoryRecord): string {
  return `${JSON.stringify(record)}\n`;
}
