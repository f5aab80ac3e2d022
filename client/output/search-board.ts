import { durationWords } from "../../src/job/reasons/words.ts";
import { bestOf, countsLine, standing, trialsOf } from "../../src/job/search/trial-list.ts";
import type { JobStatus, SearchStatus, TaskState } from "../../src/job/status.ts";
import { formatTable } from "./format.ts";
import type { WaitBlock } from "./output.ts";
import { waitingLines } from "./wait-block.ts";

/** At most so many of the running trials are shown. */
const SHOWN = 8;

/** The state of a search: the best trial, how many trials there are, and what runs. Undefined before the first trial has begun. */
export function searchBoard(status: JobStatus, search: SearchStatus, nowMs: number): WaitBlock | undefined {
  const trials = trialsOf(status, search);
  if (trials.length === 0 || status.outcome !== undefined) return undefined;
  const best = bestOf(trials);
  const counts = countsLine(status, search, trials);
  const own = new Map(status.tasks.map((one) => [one.task, one]));
  const running = trials.filter(({ state }) => state === "running").toSorted((a, b) => a.number - b.number);
  return {
    lines: [
      ...(best === undefined ? [] : [`  best   trial ${best.number} · ${standing(best, search)}`]),
      `  trials ${counts}`,
      ...formatTable(
        running.slice(0, SHOWN).map((trial) => {
          const { host = "–", state } = own.get(trial.task) ?? {};
          const { number, startedAtMs } = trial;
          const since = startedAtMs === undefined ? unstarted(state) : durationWords(nowMs - startedAtMs);
          return [`  #${number}`, host, since, standing(trial, search)];
        }),
      ),
      ...(running.length > SHOWN ? [`  and ${running.length - SHOWN} more run`] : []),
      ...waitingLines(status, nowMs),
    ],
    cause: "trials",
    line: `trials: ${counts}`,
    change: "trials",
    facts: [],
  };
}

/** The state of a trial whose program has not started. */
function unstarted(state: TaskState | undefined): string {
  return state === "waiting" ? "waiting" : "starting";
}
