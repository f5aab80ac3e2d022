import type { JobSeries, SeriesRow } from "../src/history/series/file.ts";
import type { TaskSeries } from "../src/history/series/table.ts";
import { countedGenerations } from "../src/job/timeline.ts";
import { yarnState } from "../src/page/live-answer.ts";
import type {
  ComparedChart,
  ComparedJob,
  ComparedLine,
  ComparedRole,
  Comparison,
  Difference,
} from "../src/page/portal-answers.ts";
import { short } from "./job-index.ts";
import type { StoredJob } from "./stored-job.ts";

/** A job as recorded in its history, with its settings. */
export interface WholeJob {
  readonly job: StoredJob;
  readonly series: JobSeries | undefined;
  /** Undefined: its history has none. */
  readonly settings: ReadonlyMap<string, string> | undefined;
}

const MOST_SETTINGS = 500;
const MOST_CHARTS = 40;
const MOST_ROLES = 100;

/** Two jobs side by side: how their requests differed, how long they took, what they held, and what they reported. */
export function compare(a: WholeJob, b: WholeJob): Comparison {
  const settings = a.settings && b.settings && differences(a.settings, b.settings);
  return {
    jobs: [jobOf(a.job), jobOf(b.job)],
    ...(settings === undefined ? {} : { settings: settings.slice(0, MOST_SETTINGS) }),
    moreSettings: Math.max(0, (settings?.length ?? 0) - MOST_SETTINGS),
    roles: rolesOf(a, b).slice(0, MOST_ROLES),
    charts: chartsOf(a, b),
  };
}

function jobOf({ user, status, events }: StoredJob): ComparedJob {
  const { applicationId, name, queue, state, submittedAtMs, startedAtMs, nowMs, outcome, usage } = status;
  const running = events.find(({ type }) => type === "task-started" || type === "cluster-spec-sent");
  const cause = outcome?.cause?.summary ?? (outcome?.result === "succeeded" ? undefined : outcome?.summary);
  return {
    applicationId,
    name: short(name),
    user: short(user),
    queue: short(queue),
    state: yarnState(state),
    ...(submittedAtMs === undefined ? {} : { submittedAtMs }),
    startedAtMs,
    tookMs: Math.max(0, (outcome?.endedAtMs ?? nowMs) - startedAtMs),
    ...(running === undefined ? {} : { waitedMs: Math.max(0, running.atMs - startedAtMs) }),
    generations: Math.max(1, countedGenerations(status).length),
    ...(cause === undefined ? {} : { cause: short(cause) }),
    usage,
  };
}

/** Ordered by name. */
export function differences(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): Difference[] {
  const keys = [...new Set([...a.keys(), ...b.keys()])].sort();
  return keys.flatMap((key) => {
    const [ofA, ofB] = [a.get(key), b.get(key)];
    return ofA === ofB ? [] : [{ key: short(key), of: [cut(ofA), cut(ofB)] as const }];
  });
}

function cut(value: string | undefined): string | null {
  return value === undefined ? null : short(value);
}

function rolesOf(a: WholeJob, b: WholeJob): Comparison["roles"][number][] {
  const names = [...new Set([a, b].flatMap(({ job }) => job.status.roles.map(({ name }) => name)))];
  return names.map((name) => ({ name: short(name), of: [roleOf(name, a), roleOf(name, b)] }));
}

function roleOf(name: string, { job, series }: WholeJob): ComparedRole | null {
  const role = job.status.roles.find((one) => one.name === name);
  if (role === undefined) return null;
  const { instances, memoryMiB, vcores } = role;
  const isOwn = ({ task }: { readonly task: string }) => task.startsWith(`${name}:`);
  const held = job.status.tasks.filter(isOwn).flatMap(({ maxMemoryBytes }) => maxMemoryBytes ?? []);
  const rows = (series?.rows ?? []).filter(isOwn);
  const [meanCores, meanGpu] = ["cpu", "gpu"].map((quantity) => meanOf(rows, quantity));
  return {
    instances,
    memoryMiB,
    vcores,
    ...(held.length === 0 ? {} : { maxMemoryBytes: held.reduce((most, one) => Math.max(most, one)) }),
    ...(meanCores === undefined ? {} : { meanCores }),
    ...(meanGpu === undefined ? {} : { meanGpu }),
  };
}

function meanOf(rows: readonly SeriesRow[], quantity: string): number | undefined {
  const values = rows.flatMap(({ series }) => series.find(({ name }) => name === quantity)?.values ?? []);
  const heard = values.filter((value) => value !== null);
  return heard.length === 0 ? undefined : heard.reduce((sum, value) => sum + value, 0) / heard.length;
}

/** First the quantities that programs report. */
function chartsOf(a: WholeJob, b: WholeJob): ComparedChart[] {
  const names = [a, b].flatMap(({ series }) =>
    (series?.rows ?? []).flatMap((row) => row.series.map(({ name }) => name)),
  );
  const rank = (name: string) => (name.startsWith("metric:") ? 0 : 1);
  const sorted = [...new Set(names)].sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
  return sorted.slice(0, MOST_CHARTS).map((name): ComparedChart => {
    const found = [a, b].map(({ series }) =>
      (series?.rows ?? []).find((row) => row.series.some((one) => one.name === name)),
    );
    const bySteps = name.startsWith("metric:") && found.every((row) => row === undefined || stepsOf(row) !== undefined);
    const [ofA, ofB] = [a, b].map((job, at) => lineOf(job, found[at], name, bySteps));
    return { name: short(name), axis: bySteps ? "step" : "seconds", of: [ofA ?? null, ofB ?? null] };
  });
}

function stepsOf(row: SeriesRow): TaskSeries | undefined {
  return row.series.find(({ name }) => name === "step");
}

function lineOf(
  { job, series }: WholeJob,
  row: SeriesRow | undefined,
  name: string,
  bySteps: boolean,
): ComparedLine | null {
  const one = row?.series.find((each) => each.name === name);
  if (series === undefined || row === undefined || one === undefined) return null;
  const { fromMs, spanMs } = series.axis;
  const secondsOf = (span: number) => Math.round((fromMs + span * spanMs - job.status.startedAtMs) / 1000);
  const steps = stepsOf(row);
  const xOf = (span: number) => (bySteps ? steps?.values[span - steps.first] : secondsOf(span));
  const points = one.values.flatMap((y, index): [number, number | null][] => {
    const x = xOf(one.first + index);
    return x === undefined || x === null ? [] : [[x, y]];
  });
  return { task: row.task, points };
}
