import { TonyError } from "../errors.ts";
import { errorMessage } from "../hadoop/errors.ts";
import { type HistoryEvent, readHistoryEvent } from "../job/history-event.ts";
import { count, literal, object, type Shape, ShapeError, string } from "../job/shape.ts";
import type { JobSpec } from "../job/spec.ts";
import { type JobOutcome, type JobStatus, readJobOutcome, readJobStatus } from "../job/status.ts";
import { parseJobSpec } from "../job/stored/parse-spec.ts";
import { parseLine } from "./json-lines.ts";

/** Raised when a reader of the previous version could misunderstand a record: a history of another version is refused. */
export const HISTORY_VERSION = 3;

/**
 * The history of one job: one JSON object a line, oldest first. The first line of every attempt is a `header`; the last line of a finished
 * job is its `end`. The lines of an attempt are numbered from 1: a repeated line was written twice because an answer of the file system was
 * lost, and counts once. docs/reference/history.md describes each record.
 */
export type HistoryRecord = Numbered & UnnumberedRecord;

/** A record before its writer adds the attempt and number. */
export type UnnumberedRecord = HistoryHeader | HistoryLine | HistoryEnd;

interface Numbered {
  readonly attempt: number;
  readonly number: number;
}

interface HistoryHeader {
  readonly record: "header";
  readonly historyVersion: typeof HISTORY_VERSION;
  readonly atMs: number;
  readonly applicationId: string;
  readonly user: string;
  /** Version and revision of the ApplicationMaster. */
  readonly build: string;
  readonly spec: JobSpec;
}

/** Something that happened. */
type HistoryLine = { readonly record: "event" } & HistoryEvent;

interface HistoryEnd {
  readonly record: "end";
  readonly atMs: number;
  readonly outcome: JobOutcome;
  /** The job's last status, outcome included. */
  readonly status: JobStatus;
}

/** One line of the file. */
export function encodeHistoryRecord(record: HistoryRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/**
 * All records of a history file, oldest first, each once. A truncated line after the last line end is left out.
 * @throws TonyError `HISTORY_UNREADABLE` if a line is not one of ours, or of another version
 */
export function decodeHistory(text: string): HistoryRecord[] {
  const known = new Set<string>();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line, index) => decodeLine(line, index + 1))
    .filter(({ attempt, number }) => {
      const key = `${attempt} ${number}`;
      const isNew = !known.has(key);
      known.add(key);
      return isNew;
    });
}

/** Only the events of earlier attempts. @throws ShapeError */
export function earlierEvents(text: string, attempt: number): HistoryEvent[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map(parseLine)
    .filter((value) => readKind(value, "").record === "event" && readNumbers(value, "").attempt < attempt)
    .map((value) => readHistoryEvent(value, ""));
}

function decodeLine(line: string, lineNumber: number): HistoryRecord {
  try {
    return readRecord(parseLine(line), "");
  } catch (cause) {
    throw new TonyError(`line ${lineNumber} of the history cannot be read: ${errorMessage(cause)}`, {
      code: "HISTORY_UNREADABLE",
      cause,
    });
  }
}

const readNumbers = object<Numbered>({ required: { attempt: count, number: count }, optional: {} });
const readKind = object<Pick<HistoryRecord, "record">>({
  required: { record: literal("header", "event", "end") },
  optional: {},
});
const readVersion: Shape<typeof HISTORY_VERSION> = (value, where) => {
  if (typeof value !== "number" || value <= HISTORY_VERSION) return literal(HISTORY_VERSION)(value, where);
  throw new ShapeError(`${where} is ${value}: a newer tony-ts wrote it, and this one reads ${HISTORY_VERSION}`);
};
const readHeader = object<HistoryHeader>({
  required: {
    record: literal("header"),
    historyVersion: readVersion,
    atMs: count,
    applicationId: string,
    user: string,
    build: string,
    spec: parseJobSpec,
  },
  optional: {},
});
const readEnd = object<HistoryEnd>({
  required: { record: literal("end"), atMs: count, outcome: readJobOutcome, status: readJobStatus },
  optional: {},
});

const readRecord: Shape<HistoryRecord> = (value, where) => {
  const numbers = readNumbers(value, where);
  switch (readKind(value, where).record) {
    case "header":
      return { ...numbers, ...readHeader(value, where) };
    case "event":
      return { ...numbers, record: "event", ...readHistoryEvent(value, where) };
    case "end":
      return { ...numbers, ...readEnd(value, where) };
  }
};
