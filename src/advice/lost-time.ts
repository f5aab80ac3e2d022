import type { AdviceReason } from "../job/reasons/advice.ts";
import type { GenerationSummary, JobStatus } from "../job/status.ts";
import { timelineOf, totalsOf } from "../job/timeline.ts";
import { endOf, type Run } from "./run.ts";

/** A smaller share of a job's time is not worth mentioning. */
const LEAST_SHARE = 0.05;
const LEAST_MS = 30_000;

/** How much of a run's time passed without a running program, or was lost to restarts. */
export function lostTime(run: Run): AdviceReason[] {
  const { status, submittedAtMs } = run;
  const ofMs = endOf(run) - submittedAtMs;
  const isMuch = (lostMs: number) => lostMs >= LEAST_MS && lostMs >= ofMs * LEAST_SHARE;
  const queuedMs = status.startedAtMs - submittedAtMs;
  const startMs = (status.generations[0]?.runningAtMs ?? status.startedAtMs) - status.startedAtMs;
  const restarts = restartsOf(status);
  const lostMs = restarts.reduce((sum, one) => sum + one.lostMs, 0);
  const againMs = restarts.reduce((sum, one) => sum + one.againMs, 0);
  return [
    ...(isMuch(queuedMs) ? [{ code: "queue-time", lostMs: queuedMs, ofMs } as const] : []),
    ...(isMuch(startMs) ? [{ code: "start-time", lostMs: startMs, ofMs, ...partsOf(status) } as const] : []),
    ...(isMuch(lostMs + againMs)
      ? [{ code: "restart-time", times: restarts.length, lostMs, againMs, ofMs } as const]
      : []),
  ];
}

/** The parts of the first start; empty where its ApplicationMaster did not report them. */
function partsOf(
  status: JobStatus,
): Partial<Record<"containersMs" | "filesMs" | "registrationMs" | "programsMs", number>> {
  const [first] = status.generations;
  if (first?.allocatedAtMs === undefined) return {};
  const spans = timelineOf(status).lanes[0]?.spans.filter(({ generation }) => generation === first.generation) ?? [];
  const tookMs = new Map(totalsOf(spans).map((one) => [one.phase, one.tookMs]));
  return {
    containersMs: tookMs.get("containers") ?? 0,
    filesMs: tookMs.get("files") ?? 0,
    registrationMs: tookMs.get("registration") ?? 0,
    programsMs: tookMs.get("programs") ?? 0,
  };
}

/** For each generation that was followed by another of the same roles: the time until that one ran, and the work back to where it resumed. */
function restartsOf({ generations }: JobStatus): { readonly lostMs: number; readonly againMs: number }[] {
  return generations.flatMap((ended, index) => {
    const next = generations.slice(index + 1).find((later) => sameRoles(later, ended));
    const { endedAtMs, runningAtMs } = ended;
    if (next?.runningAtMs === undefined || endedAtMs === undefined) return [];
    const doneFromMs = Math.max(runningAtMs ?? endedAtMs, next.resumedFrom?.atMs ?? 0);
    return [{ lostMs: next.runningAtMs - endedAtMs, againMs: Math.max(0, endedAtMs - doneFromMs) }];
  });
}

function sameRoles(one: GenerationSummary, other: GenerationSummary): boolean {
  return String(one.roles) === String(other.roles);
}
