import { type Rounding, roundedUp } from "../job/amounts.ts";
import { costOf, type Prices } from "../job/cost.ts";
import type { AdviceReason } from "../job/reasons/advice.ts";
import { memoryValue } from "../job/reasons/words.ts";
import type { Cause, JobStatus, RoleStatus } from "../job/status.ts";
import { areFirm, endOf, type Run, ranMs, rowsOf, tasksOf, tellingRuns } from "./run.ts";
import { type Spread, spreadOf } from "./spread.ts";

/** How the scheduler rounds what is asked for. */
export interface Roundings {
  readonly memoryMiB: Rounding;
  readonly vcores: Rounding;
}

export const MEBIBYTE = 1024 ** 2;
/** Room above the most that was seen: the next run may hold more, and the container holds the executor, too. */
const ROOM = 1.2;
const LEAST_ROOM_BYTES = 512 * MEBIBYTE;
/** Of what was asked for: beyond it a little more ends the container. */
const NEAR_OUT = 0.9;
/** Where so little of it is needed, one short run tells enough. */
const WASTE = 0.5;
/** A sampled second of one busy core may come to a little more. */
const CORE_NOISE = 0.1;

/** What memory and how many cores a role needs. */
export function sizesOf(runs: readonly Run[], role: RoleStatus, roundings: Roundings, prices: Prices): AdviceReason[] {
  const telling = tellingRuns(runs, role.name);
  const short = moreMemory(runs, role, roundings.memoryMiB);
  if (short !== undefined) return [short, ...coresOf(telling, role, roundings.vcores)];
  if (telling.length === 0) return [thin(telling, role)];
  const peaks = spreadOf(telling.flatMap((run) => peaksOf(run, role.name)));
  if (peaks === undefined) return [{ code: "unmeasured", role: role.name }];
  return [memoryOf(telling, role, peaks, roundings.memoryMiB, prices), ...coresOf(telling, role, roundings.vcores)];
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
  const tasks = telling.flatMap((run) => peaksOf(run, role.name)).length;
  const held = { p50Bytes: peaks.p50, p95Bytes: peaks.p95, maxBytes: peaks.most, tasks };
  if (toMiB >= role.memoryMiB) return { code: "memory-fits", role: role.name, askedMiB: role.memoryMiB, ...held };
  if (!areFirm(telling, role.name) && toMiB > role.memoryMiB * WASTE) return thin(telling, role);
  const [newest] = telling;
  const heldMs = newest === undefined ? 0 : endOf(newest) - newest.status.startedAtMs;
  const savedMiBSeconds = Math.round(((role.memoryMiB - toMiB) * role.instances * heldMs) / 1000);
  const saved = costOf({ memoryMiBSeconds: savedMiBSeconds, vcoreSeconds: 0 }, prices);
  const cost =
    saved === undefined ? {} : { savedAmount: saved.amount, ...(saved.currency && { currency: saved.currency }) };
  return { code: "less-memory", ...memorySetting(role, toMiB), ...held, savedMiBSeconds, ...cost };
}

/** Whoever came near his limit needs more, however short he ran; undefined where nobody did. */
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
  };
}

function causesOf({ generations, outcome }: JobStatus): readonly Cause[] {
  return [
    ...generations.flatMap(({ endedBy }) => endedBy ?? []),
    ...(outcome?.cause === undefined ? [] : [outcome.cause]),
  ];
}

function ranOutOf({ reason, task }: Cause, role: string): boolean {
  return reason.code === "ran-out-of-memory" && task?.startsWith(`${role}:`) === true;
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

/** Nothing where no run has a series of it. */
function coresOf(telling: readonly Run[], role: RoleStatus, rounding: Rounding): AdviceReason[] {
  const rows = telling.flatMap((run) => rowsOf(run, role.name));
  const samples = rows.flatMap(({ series }) => series.find(({ name }) => name === "cpu")?.values ?? []);
  const spread = spreadOf(samples.filter((value) => value !== null));
  if (spread === undefined) return [];
  const to = roundedUp(Math.max(1, Math.ceil(spread.p95 - CORE_NOISE)), rounding);
  const used = { p50: short(spread.p50), p95: short(spread.p95), max: short(spread.most) };
  const setting = { role: role.name, key: `tony.${role.name}.vcores`, from: role.vcores, to, value: String(to) };
  if (to > role.vcores) return [{ code: "more-cores", ...setting, ...used }];
  if (to === role.vcores) return [{ code: "cores-fit", role: role.name, asked: role.vcores, ...used }];
  const isClear = areFirm(telling, role.name) || to <= role.vcores * WASTE;
  return isClear ? [{ code: "less-cores", ...setting, ...used }] : [];
}

function short(value: number): number {
  return Number(value.toPrecision(2));
}
