import type { AdviceReason } from "../job/reasons/advice.ts";
import type { JobStatus } from "../job/status.ts";
import { endOf, type Run, tasksOf } from "./run.ts";

/** A smaller share of all that a job held is not worth mentioning. */
const LEAST_SHARE = 0.1;
const LEAST_VCORE_SECONDS = 60;

/** Advice on what a run held for tasks whose programs had ended: a gang that restarts needs their containers. */
export function keptContainers(run: Run): AdviceReason[] {
  const { roles, usage, search } = run.status;
  if (search !== undefined) return [];
  const kept = roles.flatMap(({ name, vcores }) => {
    const untilMs = heldUntilMs(run.status, name) ?? endOf(run);
    return tasksOf(run, name).flatMap(({ state, endedAtMs }) =>
      state === "succeeded" && endedAtMs !== undefined && endedAtMs < untilMs ? [vcores * (untilMs - endedAtMs)] : [],
    );
  });
  const vcoreSeconds = Math.round(kept.reduce((sum, one) => sum + one, 0) / 1000);
  const { vcoreSeconds: ofVcoreSeconds } = usage;
  const isMuch = vcoreSeconds >= LEAST_VCORE_SECONDS && vcoreSeconds > ofVcoreSeconds * LEAST_SHARE;
  if (!isMuch || ofVcoreSeconds === 0) return [];
  return [{ code: "kept-containers", tasks: kept.length, vcoreSeconds, ofVcoreSeconds }];
}

/** A completed stage gives its containers back; undefined where they are returned at the job's end. */
function heldUntilMs({ generations }: JobStatus, role: string): number | undefined {
  return generations.findLast(({ roles }) => roles?.includes(role))?.endedAtMs;
}
