import { durationWords } from "../../src/job/reasons/words.ts";
import { idleShare } from "../../src/job/search/container-time.ts";
import { countStates, type TrialState } from "../../src/job/search/trials.ts";
import type { JobStatus, SearchStatus } from "../../src/job/status.ts";
import { formatTable } from "./format.ts";
import type { WaitBlock } from "./output.ts";
import { bestOf, metricOf, parametersOf, type TrialJson, trialsOf } from "./trial-table.ts";

/** So many of the trials that run are shown. */
const SHOWN = 8;
/** With fewer that have ended nobody knows how long they take. */
const LEAST_ENDED = 3;
/** Of these nobody knows yet how long they take. */
const goesOn: readonly TrialState[] = ["running", "paused"];

/** How a search stands: the best trial, how many there are, what runs. Undefined before the first has begun. */
export function searchBoard(status: JobStatus, search: SearchStatus, nowMs: number): WaitBlock | undefined {
  const trials = trialsOf(status, search);
  if (trials.length === 0 || status.outcome !== undefined) return undefined;
  const best = bestOf(trials);
  const counts = countsLine(status, search, trials);
  const running = trials.filter(({ state }) => state === "running").toSorted((a, b) => a.number - b.number);
  return {
    lines: [
      ...(best === undefined ? [] : [`  best   trial ${best.number} · ${standing(best, search)}`]),
      `  trials ${counts}`,
      ...formatTable(
        running.slice(0, SHOWN).map((trial) => {
          const since = trial.startedAtMs === undefined ? "starting" : durationWords(nowMs - trial.startedAtMs);
          return [`  #${trial.number}`, trial.task, since, standing(trial, search)];
        }),
      ),
      ...(running.length > SHOWN ? [`  and ${running.length - SHOWN} more run`] : []),
    ],
    cause: "trials",
    line: `trials: ${counts}`,
    change: "trials",
    facts: [],
  };
}

/** `accuracy 0.9731 at step 81 · lr=0.0031 optimizer=adam` */
function standing(trial: TrialJson, search: SearchStatus): string {
  const step = trial.step === undefined ? "" : ` at step ${trial.step}`;
  return `${metricOf(trial, search)}${step} · ${parametersOf(trial, search)}`;
}

/** `58 ended (41 stopped early, 2 failed) · 4 running · 38 to come · about 12 min left · idle 1.1 % of container time` */
function countsLine(
  { tasks }: JobStatus,
  { containerTime, trials: most = tasks.length }: SearchStatus,
  trials: readonly TrialJson[],
): string {
  const { stopped, failed, paused, running } = countStates(trials);
  const ended = trials.length - running - paused;
  const toCome = most - trials.length;
  const apart = [stopped > 0 && `${stopped} stopped early`, failed > 0 && `${failed} failed`]
    .filter(Boolean)
    .join(", ");
  const leftMs = timeLeftMs(trials, toCome);
  return [
    `${ended} ended${apart === "" ? "" : ` (${apart})`}`,
    `${running} running`,
    ...(paused > 0 ? [`${paused} paused`] : []),
    `${toCome} to come`,
    ...(leftMs === undefined ? [] : [`about ${durationWords(leftMs)} left`]),
    ...(containerTime === undefined ? [] : [`idle ${idleShare(containerTime)} of container time`]),
  ].join(" · ");
}

/** When those to come take as long as those that have ended, and as many run at once as do now. */
function timeLeftMs(trials: readonly TrialJson[], toCome: number): number | undefined {
  const durations = trials.flatMap(({ state, startedAtMs, endedAtMs }) =>
    goesOn.includes(state) || startedAtMs === undefined || endedAtMs === undefined ? [] : [endedAtMs - startedAtMs],
  );
  const running = trials.filter(({ state }) => state === "running").length;
  if (durations.length < LEAST_ENDED || running === 0) return undefined;
  const meanMs = durations.reduce((sum, one) => sum + one, 0) / durations.length;
  return (meanMs * (toCome + running / 2)) / running;
}
