import { countWords, durationWords } from "../src/job/reasons/words.ts";
import type { JobStatus, TaskStatus } from "../src/job/status.ts";

const lookEveryMs = 60_000;
/** Logged after each of these times, and then again at intervals of the last. */
const saidAfterMs = [600_000, 1_800_000, 3_600_000] as const;
const hourMs = 3_600_000;

/**
 * Notices that a job does not move: no task has changed its state or container, or reported a step or checkpoint. The log then shows
 * when that began.
 */
export class Stillness {
  #seen = "";
  #sinceMs = 0;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #sayAfterMs: number = saidAfterMs[0];

  /** @returns what is to be logged; to be called regularly */
  look(nowMs: number, statusOf: () => JobStatus): string | undefined {
    if (nowMs - this.#lookedAtMs < lookEveryMs) return undefined;
    this.#lookedAtMs = nowMs;
    const status = statusOf();
    const seen = positionOf(status);
    if (seen !== this.#seen) {
      this.#seen = seen;
      this.#sinceMs = nowMs;
      this.#sayAfterMs = saidAfterMs[0];
      return undefined;
    }
    const stillMs = nowMs - this.#sinceMs;
    if (status.outcome !== undefined || stillMs < this.#sayAfterMs) return undefined;
    const after = this.#sayAfterMs;
    this.#sayAfterMs = saidAfterMs.find((ms) => ms > after) ?? after + hourMs;
    return `Nothing has changed for ${durationWords(stillMs)}: ${whereItStands(status)}.`;
  }
}

function positionOf({ state, generation, tasks }: JobStatus): string {
  const places = tasks.map(({ task, state, containerId, step, checkpointStep }) => [
    task,
    state,
    containerId,
    step,
    checkpointStep,
  ]);
  return JSON.stringify([state, generation, places]);
}

function whereItStands({ waits: [wait], tasks }: JobStatus): string {
  if (wait !== undefined) {
    const why = wait.reasons.length === 0 ? "" : ` (${wait.reasons.join("; ")})`;
    return `the job waits for ${wait.what}${why}`;
  }
  const running = tasks.filter(({ state }) => state === "running");
  const measured = running.flatMap(({ cpuCores }) => cpuCores ?? []);
  const cores = measured.reduce((sum, one) => sum + one, 0);
  const use = measured.length === 0 ? "" : `; they use ${countWords(Number(cores.toFixed(1)), "core")} in all`;
  return `${countWords(running.length, "program")} running, ${lastStep(running)}${use}`;
}

function lastStep(running: readonly TaskStatus[]): string {
  const [first] = running.filter(({ step }) => step !== undefined).sort((a, b) => (b.step ?? 0) - (a.step ?? 0));
  return first === undefined ? "no step reported" : `last step reported ${first.step}, by ${first.task}`;
}
