import type { JobRow } from "../src/page/portal-answers.ts";

export const jobStates = [
  "waiting",
  "running",
  "succeeded",
  "failed",
  "killed",
  "unknown",
] as const satisfies readonly JobRow["state"][];

/** Which jobs are requested; undefined: all. */
export interface JobQuery {
  /** Matches whole names, with `*` for anything: a query for ada's use must not include adam's. */
  readonly user: string | undefined;
  readonly queue: string | undefined;
  /** In upper or lower case, as YARN compares them. */
  readonly tag: string | undefined;
  /** Matches anywhere in its field, in upper or lower case. */
  readonly name: string | undefined;
  readonly cause: string | undefined;
  readonly state: JobRow["state"] | undefined;
  /** Jobs that ran at some time in this interval. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly from: number;
  readonly count: number;
}

export const MOST_JOBS = 500;
/** In the year 33658. */
const LATEST_MS = 999_999_999_999_999;

const DAY_MS = 24 * 3_600_000;

const known = ["user", "queue", "tag", "name", "cause", "state", "since", "until", "from", "count"];

/** @returns what is wrong with the query, if anything is */
export function parseJobQuery(query: URLSearchParams): JobQuery | string {
  const unknown = [...query.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) return `${unknown} is not one of ${known.join(", ")}`;
  const exact = (name: string) => query.get(name)?.trim() || undefined;
  const text = (name: string) => exact(name)?.toLowerCase();
  const number = (name: string, otherwise: number) => {
    const value = query.get(name) || String(otherwise);
    return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  };
  const state = jobStates.find((one) => one === text("state"));
  if (state === undefined && text("state") !== undefined) return `state is one of ${jobStates.join(", ")}`;
  const sinceMs = momentOf(exact("since") ?? "0", 0);
  const untilMs = momentOf(exact("until") ?? String(LATEST_MS), DAY_MS - 1);
  const [from, count] = [number("from", 0), number("count", 50)];
  if (sinceMs === undefined || untilMs === undefined)
    return "since and until are milliseconds since the epoch, or times as 2026-11-28 (UTC) or 2026-11-28T10:00Z";
  if (from === undefined || count === undefined) return "from and count are whole numbers";
  const names = { user: exact("user"), queue: exact("queue"), tag: text("tag") };
  return {
    ...names,
    name: text("name"),
    cause: text("cause"),
    state,
    sinceMs,
    untilMs,
    from,
    count: Math.min(count, MOST_JOBS),
  };
}

/** @param ofDayMs the time of day to use for a date without a time */
function momentOf(text: string, ofDayMs: number): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const ms = /^\d{4}-\d\d-\d\d(T.+)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) return undefined;
  return text.includes("T") ? ms : ms + ofDayMs;
}

/** The requested rows, in their order, and their number. */
export function askedFor(rows: readonly JobRow[], query: JobQuery) {
  const { from, count } = query;
  const matching = matchingRows(rows, query);
  return { total: rows.length, matching: matching.length, from, rows: matching.slice(from, from + count) };
}

export function matchingRows(rows: readonly JobRow[], query: JobQuery): readonly JobRow[] {
  const { user, queue, tag, name, cause, state, sinceMs, untilMs } = query;
  const isUser = matcher(user);
  const isTag = matcher(tag);
  const isQueue = queueMatcher(queue);
  const has = (field: string, wanted: string) => field.toLowerCase().includes(wanted);
  return rows.filter(
    (row) =>
      (state === undefined || row.state === state) &&
      row.startedAtMs <= untilMs &&
      (row.endedAtMs ?? Number.POSITIVE_INFINITY) >= sinceMs &&
      isUser(row.user) &&
      isQueue(row.queue) &&
      (tag === undefined || (row.tags ?? []).some((one) => isTag(one.toLowerCase()))) &&
      (name === undefined || has(row.name, name) || has(row.applicationId, name)) &&
      (cause === undefined || has(row.cause ?? "", cause)),
  );
}

/**
 * Matches a name against the requested one, in which `*` stands for anything. Uses no regular expression, whose running time viewers
 * could increase with every star.
 */
function matcher(asked: string | undefined): (name: string) => boolean {
  if (asked === undefined) return () => true;
  const [first = "", ...rest] = asked.split("*");
  const last = rest.pop();
  if (last === undefined) return (name) => name === asked;
  return (name) => {
    let at = name.startsWith(first) ? first.length : -1;
    for (const part of rest) {
      const found = at < 0 ? -1 : name.indexOf(part, at);
      at = found < 0 ? -1 : found + part.length;
    }
    return at >= 0 && name.endsWith(last) && at <= name.length - last.length;
  };
}

/** A queue is given by its name or by its path from the root: where both are paths, the whole path counts. */
function queueMatcher(asked: string | undefined): (queue: string) => boolean {
  const nameOf = (queue: string) => queue.slice(queue.lastIndexOf(".") + 1);
  const [isPath, isName] = [matcher(asked), matcher(asked && nameOf(asked))];
  return (queue) => (queue.includes(".") && asked?.includes(".") ? isPath(queue) : isName(nameOf(queue)));
}
