import type { JobRow } from "../src/page/portal-answers.ts";

export const jobStates = [
  "running",
  "succeeded",
  "failed",
  "killed",
  "unknown",
] as const satisfies readonly JobRow["state"][];

/** Which jobs are asked for. Text is looked for anywhere in its field, in any case; undefined: all. */
export interface JobQuery {
  readonly user: string | undefined;
  readonly queue: string | undefined;
  readonly name: string | undefined;
  readonly cause: string | undefined;
  readonly state: JobRow["state"] | undefined;
  /** Jobs that ran at some time between these. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly from: number;
  readonly count: number;
}

export const MOST_JOBS = 500;
/** In the year 33658. */
const LATEST_MS = 999_999_999_999_999;

const known = ["user", "queue", "name", "cause", "state", "since", "until", "from", "count"];

/** @returns what is wrong with it, where it is none */
export function parseJobQuery(query: URLSearchParams): JobQuery | string {
  const unknown = [...query.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) return `${unknown} is not one of ${known.join(", ")}`;
  const text = (name: string) => query.get(name)?.trim().toLowerCase() || undefined;
  const number = (name: string, otherwise: number) => {
    const value = query.get(name) || String(otherwise);
    return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  };
  const state = jobStates.find((one) => one === text("state"));
  if (state === undefined && text("state") !== undefined) return `state is one of ${jobStates.join(", ")}`;
  const [sinceMs, untilMs] = [number("since", 0), number("until", LATEST_MS)];
  const [from, count] = [number("from", 0), number("count", 50)];
  if (sinceMs === undefined || untilMs === undefined) return "since and until are milliseconds since the epoch";
  if (from === undefined || count === undefined) return "from and count are whole numbers";
  const texts = { user: text("user"), queue: text("queue"), name: text("name"), cause: text("cause") };
  return { ...texts, state, sinceMs, untilMs, from, count: Math.min(count, MOST_JOBS) };
}

/** The rows that are asked for, in their order, and how many there are of them. */
export function askedFor(rows: readonly JobRow[], query: JobQuery) {
  const { from, count } = query;
  const matching = matchingRows(rows, query);
  return { total: rows.length, matching: matching.length, from, rows: matching.slice(from, from + count) };
}

export function matchingRows(rows: readonly JobRow[], query: JobQuery): readonly JobRow[] {
  const { user, queue, name, cause, state, sinceMs, untilMs } = query;
  const has = (field: string, wanted: string) => field.toLowerCase().includes(wanted);
  return rows.filter(
    (row) =>
      (state === undefined || row.state === state) &&
      row.startedAtMs <= untilMs &&
      (row.endedAtMs ?? Number.POSITIVE_INFINITY) >= sinceMs &&
      (user === undefined || has(row.user, user)) &&
      (queue === undefined || has(row.queue, queue)) &&
      (name === undefined || has(row.name, name) || has(row.applicationId, name)) &&
      (cause === undefined || has(row.cause ?? "", cause)),
  );
}
