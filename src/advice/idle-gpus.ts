import type { AdviceReason } from "../job/reasons/advice.ts";
import type { RoleStatus } from "../job/status.ts";
import { type Run, rowsOf } from "./run.ts";
import { hostOf } from "./slow-tasks.ts";
import { medianOf } from "./spread.ts";

/** Per cent of use, below which a GPU does nothing. */
const IDLE_PERCENT = 5;
/** Of the time since the program first had it measured. */
const IDLE_SHARE = 0.2;
const LEAST_MEASURED_MS = 600_000;

/** GPUs of a role that did nothing, where they were measured for long enough. */
export function idleGpus(run: Run, role: RoleStatus): AdviceReason[] {
  const spanMs = run.series?.axis.spanMs ?? 0;
  const shares = rowsOf(run, role.name).flatMap(({ task, series }) => {
    const used = series.find(({ name }) => name === "gpu")?.values.filter((value) => value !== null) ?? [];
    if (used.length === 0 || used.length * spanMs < LEAST_MEASURED_MS) return [];
    return [{ task, share: used.filter((value) => value < IDLE_PERCENT).length / used.length }];
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
