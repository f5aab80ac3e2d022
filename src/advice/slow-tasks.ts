import { ratesOf } from "../history/series/table.ts";
import type { AdviceReason } from "../job/reasons/advice.ts";
import type { RoleStatus } from "../job/status.ts";
import { type Run, rowsOf, tasksOf } from "./run.ts";
import { meanOf, medianOf } from "./spread.ts";

/** Among fewer tasks nobody can say which is slow. */
const LEAST_TASKS = 3;
/** Relative to the median task's rate, over at least this many spans. */
const SLOW = 0.75;
const LEAST_SPANS = 5;
/** Relative to the median task's time, as in Spark's speculation. */
const LATE = 1.5;
const LEAST_LATE_MS = 60_000;

/** Tasks of a role that are slower than the others; where they wait for each other at every step, all are as slow as the slowest. */
export function slowTasks(run: Run, role: RoleStatus): AdviceReason[] {
  const slow = slowByRate(run, role.name);
  return slow.length > 0 ? slow : lateTasks(run, role.name);
}

function slowByRate(run: Run, role: string): AdviceReason[] {
  const rates = rowsOf(run, role).flatMap(({ task, series }) => {
    const steps = series.find(({ name }) => name === "step");
    if (steps === undefined) return [];
    const ofSpans = ratesOf(steps.values, run.series?.axis.spanMs ?? 1);
    return [
      { task, at: (span: number) => ofSpans[span - steps.first - 1] ?? undefined, end: steps.first + ofSpans.length },
    ];
  });
  const spans = Array.from({ length: Math.max(0, ...rates.map(({ end }) => end + 1)) }, (_, span) => span);
  const middles = spans.map((span) => {
    const known = rates.flatMap(({ at }) => at(span) ?? []);
    return known.length < LEAST_TASKS ? undefined : medianOf(known);
  });
  return rates.flatMap(({ task, at }): AdviceReason[] => {
    const shares = spans.flatMap((span) => {
      const [own, middle] = [at(span), middles[span]];
      return own === undefined || middle === undefined || middle === 0 ? [] : [own / middle];
    });
    const share = meanOf(shares);
    if (shares.length < LEAST_SPANS || share >= SLOW) return [];
    return [{ code: "slow-task", task, ...hostOf(run, role, task), percent: Math.round(share * 100) }];
  });
}

/** Only tasks that ended successfully by themselves count. */
function lateTasks(run: Run, role: string): AdviceReason[] {
  const lives = tasksOf(run, role).flatMap(({ task, state, startedAtMs, endedAtMs }) =>
    state !== "succeeded" || startedAtMs === undefined || endedAtMs === undefined
      ? []
      : [{ task, ranMs: endedAtMs - startedAtMs }],
  );
  const othersMs = lives.length < LEAST_TASKS ? undefined : medianOf(lives.map(({ ranMs }) => ranMs));
  if (othersMs === undefined) return [];
  const isLate = (ranMs: number) => ranMs > othersMs * LATE && ranMs - othersMs > LEAST_LATE_MS;
  return lives
    .filter(({ ranMs }) => isLate(ranMs))
    .map(({ task, ranMs }) => ({ code: "late-task", task, ...hostOf(run, role, task), ranMs, othersMs }));
}

export function hostOf(run: Run, role: string, task: string): { readonly host?: string } {
  const host = tasksOf(run, role).find((one) => one.task === task)?.host;
  return host === undefined ? {} : { host };
}
