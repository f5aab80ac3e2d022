import { type ReasonOf, reason, reasonShape } from "./reason.ts";
import { durationWords } from "./words.ts";

/** Why an executor stopped its program. The AM acts on the code; the sentence for people is made from the facts. */
export const stopReasons = {
  "generation-ended": reason({ why: "text" }, ({ why }) => why),
  "job-ended": reason({}, () => "the job ends"),
  hung: reason(
    { noProgressMs: "number", step: "number" },
    ({ noProgressMs, step }) => `hung: no progress for ${durationWords(noProgressMs)} at step ${step}`,
  ),
  "ran-too-long": reason({ limitMs: "number" }, ({ limitMs }) => ranTooLongWords(limitMs)),
  /** It starts again elsewhere. `step`: of the checkpoint that was completed in time, 0 where there was none. */
  "node-leaves": reason({ step: "number" }, () => "its node is being taken out of the cluster"),
  /** SIGTERM: the NodeManager ends the container, and only YARN knows why. */
  "container-terminated": reason({}, () => "the container was told to end (SIGTERM)"),
  /** The task runs in another container now. */
  replaced: reason({ why: "text" }, ({ why }) => why),
  refused: reason({ why: "text" }, ({ why }) => `the ApplicationMaster refused it: ${why}`),
  orphaned: reason(
    { silentMs: "number" },
    ({ silentMs }) => `no ApplicationMaster for ${Math.round(silentMs / 1000)} s (tony.task.orphan-timeout)`,
  ),
  "executor-failed": reason({ error: "text" }, ({ error }) => error),
  /** The code of a newer executor or AM. */
  unknown: reason({}, () => "it was told to stop"),
};

/** @param at where the limit is set, if known */
export function ranTooLongWords(limitMs: number, at?: string): string {
  const place = at === undefined ? "" : `, ${at}`;
  return `ran longer than ${limitMs / 1000} s (tony.task.executor.execution-timeout-ms${place})`;
}

export type StopReason = ReasonOf<typeof stopReasons>;

/** @throws ShapeError */
export const readStopReason = reasonShape(stopReasons);

export function stopWords(stop: StopReason): string {
  return stopReasons[stop.code].words(stop);
}
