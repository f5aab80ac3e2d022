import { type Rounding, type Roundings, roundedUp } from "../job/amounts.ts";
import { costOf, type Prices, type Usage } from "../job/cost.ts";
import type { AdviceReason } from "../job/reasons/advice.ts";
import { memoryValue } from "../job/reasons/words.ts";
import type { Cause, JobStatus, RoleStatus } from "../job/status.ts";
import { usedGpus } from "./idle-gpus.ts";
import { areFirm, endOf, type Run, ranMs, rowsOf, tasksOf, tellingRuns } from "./run.ts";
import { type Spread, spreadOf } from "./spread.ts";

export const MEBIBYTE = 1024 ** 2;
/** Room above the highest use: the next run may need more, and the container also contains the executor. */
const ROOM = 1.2;
const LEAST_ROOM_BYTES = 512 * MEBIBYTE;
/** As a share of the request: a little more ends the container. */
const NEAR_OUT = 0.9;
/** Where so little of the request is needed, one short run is enough evidence. */
const WASTE = 0.5;
/** A sampled second of one busy core may come out slightly above one. */
const CORE_NOISE = 0.1;

/** How much memory and how many cores and GPUs a role needs. */
export function sizesOf(runs: readonly Run[], role: RoleStatus, roundings: Roundings, prices: Prices): AdviceReason[] {
  const telling = tellingRuns(runs, role.name);
  const short = moreMemory(runs, role, roundings.memoryMiB);
  const others = areFirm(telling, role.name)
    ? [...coresOf(telling, role, roundings.vcores, prices), ...gpusOf(telling, role, prices)]
    : [];
  if (short !== undefined) return [short, ...others];
  if (telling.length === 0) return [thin(telling, role)];
  const peaks = spreadOf(telling.flatMap((run) => peaksOf(run, role.name)));
  if (peaks === undefined) return [{ code: "unmeasured", role: role.name }];
  return [memoryOf(telling, role, peaks, roundings.memoryMiB, prices), ...others];
}

function thin(telling: readonly Run[], { name }: RoleStatus): AdviceReason {
  const all = telling.reduce((sum, run) => sum + ranMs(run, name), 0);
  return { code: "thin", role: name, runs: telling.length, ranMs: all };
}

function memoryOf(
  telling: readonly Run[],
  role: RoleStatus,
  peaks: Spread,
  rounding: Rounding,
  prices: Prices,
): AdviceReason {
  const toMiB = neededMiB(peaks.most, rounding);
  if (!areFirm(telling, role.name) && toMiB > role.memoryMiB * WASTE) return thin(telling, role);
  const tasks = telling.flatMap((run) => peaksOf(run, role.name)).length;
  const held = { p50Bytes: peaks.p50, p95Bytes: peaks.p95, maxBytes: peaks.most, tasks };
  if (toMiB >= role.memoryMiB) return { code: "memory-fits", role: role.name, askedMiB: role.memoryMiB, ...held };
  const savedMiBSeconds = heldOverTime(telling, role, role.memoryMiB - toMiB);
  const cost = savedCost({ memoryMiBSeconds: savedMiBSeconds }, prices);
  return { code: "less-memory", ...memorySetting(role, toMiB), ...held, savedMiBSeconds, ...cost };
}

/** What all containers of a role held, when each holds this amount, from the start of the newest run to its end. */
function heldOverTime([newest]: readonly Run[], { instances }: RoleStatus, amount: number): number {
  const heldMs = newest === undefined ? 0 : endOf(newest) - newest.status.startedAtMs;
  return Math.round((amount * instances * heldMs) / 1000);
}

function savedCost(saved: Partial<Usage>, prices: Prices): { savedAmount?: number; currency?: string } {
  const cost = costOf({ memoryMiBSeconds: 0, vcoreSeconds: 0, ...saved }, prices);
  return cost === undefined ? {} : { savedAmount: cost.amount, ...(cost.currency && { currency: cost.currency }) };
}

/** A task that came near its limit needs more, however briefly it ran; undefined where none did. */
function moreMemory(runs: readonly Run[], role: RoleStatus, rounding: Rounding): AdviceReason | undefined {
  const sameSize = runs.filter(({ status }) =>
    status.roles.some(({ name, memoryMiB }) => name === role.name && memoryMiB === role.memoryMiB),
  );
  const all = sameSize.flatMap((run) => peaksOf(run, role.name));
  const peaks = spreadOf(all) ?? { p50: 0, p95: 0, most: 0 };
  const cause = sameSize.flatMap(({ status }) => causesOf(status)).find((one) => ranOutOf(one, role.name));
  if (cause === undefined && peaks.most < role.memoryMiB * MEBIBYTE * NEAR_OUT) return undefined;
  const advisedMiB = cause?.fix?.code === "raise-memory" ? cause.fix.toMiB : 0;
  const least = Math.max(advisedMiB, role.memoryMiB + 1);
  const toMiB = Math.max(neededMiB(peaks.most, rounding), roundedUp(least, rounding));
  return {
    code: "more-memory",
    ...memorySetting(role, toMiB),
    p50Bytes: peaks.p50,
    p95Bytes: peaks.p95,
    maxBytes: peaks.most,
    tasks: all.length,
    ...(cause?.task === undefined ? {} : { ranOut: cause.task }),
    ...(cause?.reason.code === "exceeded-virtual-memory" ? { virtual: true } : {}),
  };
}

function causesOf({ generations, outcome }: JobStatus): readonly Cause[] {
  return [
    ...generations.flatMap(({ endedBy }) => endedBy ?? []),
    ...(outcome?.cause === undefined ? [] : [outcome.cause]),
  ];
}

function ranOutOf({ reason, task }: Cause, role: string): boolean {
  const isOfMemory = reason.code === "ran-out-of-memory" || reason.code === "exceeded-virtual-memory";
  return isOfMemory && task?.startsWith(`${role}:`) === true;
}

function memorySetting({ name, memoryMiB }: RoleStatus, toMiB: number) {
  return { role: name, key: `tony.${name}.memory`, fromMiB: memoryMiB, toMiB, value: memoryValue(toMiB) };
}

function neededMiB(mostBytes: number, rounding: Rounding): number {
  return roundedUp(Math.ceil(Math.max(mostBytes * ROOM, mostBytes + LEAST_ROOM_BYTES) / MEBIBYTE), rounding);
}

function peaksOf(run: Run, role: string): number[] {
  return tasksOf(run, role).flatMap(({ maxMemoryBytes = 0 }) => (maxMemoryBytes > 0 ? [maxMemoryBytes] : []));
}

/** Empty where no run has a series of it. */
function coresOf(telling: readonly Run[], role: RoleStatus, rounding: Rounding, prices: Prices): AdviceReason[] {
  const rows = telling.flatMap((run) => rowsOf(run, role.name));
  const samples = rows.flatMap(({ series }) => series.find(({ name }) => name === "cpu")?.values ?? []);
  const spread = spreadOf(samples.filter((value) => value !== null));
  if (spread === undefined) return [];
  const to = roundedUp(Math.max(1, Math.ceil(spread.p95 - CORE_NOISE)), rounding);
  const used = { p50: short(spread.p50), p95: short(spread.p95), max: short(spread.most) };
  const setting = { role: role.name, key: `tony.${role.name}.vcores`, from: role.vcores, to, value: String(to) };
  if (to > role.vcores) return [{ code: "more-cores", ...setting, ...used }];
  if (to === role.vcores) return [{ code: "cores-fit", role: role.name, asked: role.vcores, ...used }];
  const vcoreSeconds = heldOverTime(telling, role, role.vcores - to);
  const saved = { savedVcoreSeconds: vcoreSeconds, ...savedCost({ vcoreSeconds }, prices) };
  return [{ code: "less-cores", ...setting, ...used, ...saved }];
}

/** Empty where all were used, or their use was not measured. */
function gpusOf(telling: readonly Run[], role: RoleStatus, prices: Prices): AdviceReason[] {
  const gpus = usedGpus(telling, role);
  if (gpus === undefined || gpus.used >= gpus.asked) return [];
  const { asked: from, used: to, tasks } = gpus;
  const gpuSeconds = heldOverTime(telling, role, from - to);
  const setting = { role: role.name, key: `tony.${role.name}.gpus`, from, to, value: String(to) };
  return [{ code: "less-gpus", ...setting, tasks, savedGpuSeconds: gpuSeconds, ...savedCost({ gpuSeconds }, prices) }];
}

function short(value: number): number {
  return Number(value.toPrecision(2));
}
