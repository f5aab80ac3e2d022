import { IDLE_GPU_PERCENT, isGpu, isPlainGpu } from "../job/gpus.ts";
import type { AdviceReason } from "../job/reasons/advice.ts";
import type { RoleStatus } from "../job/status.ts";
import { type Run, rowsOf, tasksOf } from "./run.ts";
import { hostOf } from "./slow-tasks.ts";
import { medianOf } from "./spread.ts";

/** As a share of the time since the program's first measurement. */
const IDLE_SHARE = 0.2;
const LEAST_MEASURED_MS = 600_000;

/** Advice on a role's GPUs that did nothing, where they were measured for long enough. */
export function idleGpus(run: Run, role: RoleStatus): AdviceReason[] {
  const spanMs = run.series?.axis.spanMs ?? 0;
  const shares = rowsOf(run, role.name).flatMap(({ task, series }) => {
    const used = series.find(({ name }) => name === "gpu")?.values.filter((value) => value !== null) ?? [];
    if (used.length === 0 || used.length * spanMs < LEAST_MEASURED_MS) return [];
    return [{ task, share: used.filter((value) => value < IDLE_GPU_PERCENT).length / used.length }];
  });
  const idle = shares.filter(({ share }) => share >= IDLE_SHARE);
  const middle = medianOf(shares.map(({ share }) => share)) ?? 0;
  if (middle >= IDLE_SHARE) return [{ code: "idle-gpus", role: role.name, percent: percent(middle) }];
  return idle.map(({ task, share }) => {
    const where = hostOf(run, role.name, task);
    return { code: "idle-gpu", task, ...where, percent: percent(share), othersPercent: percent(middle) };
  });
}

function percent(share: number): number {
  return Math.round(share * 100);
}

/** A role's GPUs of one type, and how many of them any task used at any time; undefined where not all were measured. */
export function usedGpus(
  telling: readonly Run[],
  role: RoleStatus,
): { readonly asked: number; readonly used: number; readonly tasks: number } | undefined {
  const asked = Object.entries(role.others).filter(([type]) => isGpu(type));
  const [[type, count] = ["", 0]] = asked;
  // GPUs with another name than that of whole GPUs are requested by another key.
  if (asked.length !== 1 || !isPlainGpu(type)) return undefined;
  const ran = telling.flatMap((run) => tasksOf(run, role.name)).filter(({ startedAtMs }) => startedAtMs !== undefined);
  const used = ran.flatMap(({ gpus }) => (gpus?.unused === undefined ? [] : [gpus.count - gpus.unused]));
  if (used.length === 0 || used.length < ran.length) return undefined;
  return { asked: count, used: Math.max(...used), tasks: used.length };
}
