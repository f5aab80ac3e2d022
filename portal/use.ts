import type { Cost } from "../src/job/cost.ts";
import type { JobRow, Use, UseAnswer } from "../src/page/portal-answers.ts";

/** A total while it is being added up. */
type Sum = { -readonly [Quantity in keyof Omit<Use, "costs">]: number } & { readonly costs: Cost[] };

const DAY_MS = 24 * 3_600_000;
const MOST_DAYS = 366;

/** By queue and user, the largest first, and by day: a job's use is spread evenly over its duration. */
export function useOf(rows: readonly JobRow[], nowMs: number): UseAnswer {
  const owners = new Map<string, { queue: string; user: string } & Sum>();
  const days = new Map<number, Sum>();
  for (const row of rows) {
    const { queue, user, startedAtMs } = row;
    if (row.endedAtMs === undefined) continue;
    // A history can contain any number.
    const endedAtMs = Math.min(row.endedAtMs, nowMs);
    const all = heldBy(row);
    const key = JSON.stringify([queue, user]);
    const owner = owners.get(key) ?? { queue, user, ...nothing() };
    owners.set(key, owner);
    add(owner, all, 1);
    owner.jobs += 1;
    for (const { day, share } of sharesOf(startedAtMs, endedAtMs)) {
      const use = days.get(day) ?? nothing();
      days.set(day, use);
      add(use, all, share);
    }
    const last = days.get(dayOf(endedAtMs));
    if (last !== undefined) last.jobs += 1;
  }
  return {
    owners: [...owners.values()].sort((a, b) => b.gibHours - a.gibHours),
    days: [...days]
      .sort(([a], [b]) => a - b)
      .slice(-MOST_DAYS)
      .map(([day, use]) => ({ day: new Date(day * DAY_MS).toISOString().slice(0, 10), ...use })),
  };
}

function nothing(): Sum {
  return { jobs: 0, gibHours: 0, coreHours: 0, gpuHours: 0, wastedGibHours: 0, wastedGpuHours: 0, costs: [] };
}

function heldBy({ usage, state }: JobRow): Omit<Use, "jobs"> {
  const gibHours = usage.memoryMiBSeconds / 1024 / 3600;
  const gpuHours = (usage.gpuSeconds ?? 0) / 3600;
  const isWaste = state !== "succeeded";
  return {
    gibHours,
    coreHours: usage.vcoreSeconds / 3600,
    gpuHours,
    wastedGibHours: isWaste ? gibHours : 0,
    wastedGpuHours: isWaste ? gpuHours : 0,
    costs: usage.cost === undefined ? [] : [usage.cost],
  };
}

function add(use: Sum, more: Omit<Use, "jobs">, share: number): void {
  for (const quantity of quantities) use[quantity] += more[quantity] * share;
  for (const { amount, currency } of more.costs) {
    const at = use.costs.findIndex((cost) => cost.currency === currency);
    const sum = (use.costs[at]?.amount ?? 0) + amount * share;
    use.costs.splice(
      at < 0 ? use.costs.length : at,
      1,
      currency === undefined ? { amount: sum } : { amount: sum, currency },
    );
  }
}

const quantities = ["gibHours", "coreHours", "gpuHours", "wastedGibHours", "wastedGpuHours"] as const;

/** The share of a job's use on each of its days; for a job without duration, all of it on its day. */
function sharesOf(startedAtMs: number, endedAtMs: number): { readonly day: number; readonly share: number }[] {
  const fromMs = Math.max(Math.min(startedAtMs, endedAtMs), endedAtMs - MOST_DAYS * DAY_MS);
  const wholeMs = endedAtMs - fromMs;
  if (wholeMs === 0) return [{ day: dayOf(endedAtMs), share: 1 }];
  const shares = [];
  for (let atMs = fromMs; atMs < endedAtMs; ) {
    const nextMs = Math.min(endedAtMs, (dayOf(atMs) + 1) * DAY_MS);
    shares.push({ day: dayOf(atMs), share: (nextMs - atMs) / wholeMs });
    atMs = nextMs;
  }
  return shares;
}

/** Since the epoch. */
function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}
