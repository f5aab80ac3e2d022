import { createCore } from "../am/core/core.ts";
import type { Effect } from "../am/core/state/effects.ts";
import type { Event } from "../am/core/state/events.ts";
import { searchRun } from "../src/job/build/search-run.ts";
import { searchOf } from "../test/job/search/support.ts";
import { childExit } from "../test/support/child-exit.ts";
import { aJobSpec, aRole } from "../test/support/job-spec.ts";

const APPLICATION = "application_1_0001";
const SPACE = { x: "float 0 1", y: "float 1e-5 1e-1 log", kind: "choice adam sgd", size: "int 1 64 log" };
const WRITE_MS = 20;
const START_MS = 1_000;
const RUNS_MS = 30_000;
const STEPS = 4;

export interface CoreCost {
  /** How long the search would have taken, by the simulated clock. */
  readonly seconds: number;
  readonly journalMiB: number;
  readonly processorMs: number;
}

/**
 * What a search of trials of half a minute each costs the core alone, in simulated time: each program reports four times, and nothing
 * fails.
 * @param parallel how many trials run at once
 * @param workers how many workers each trial has
 */
export function searchOfCore(trials: number, parallel: number, workers = 1): CoreCost {
  const search = { ...searchOf(SPACE), maxTrials: trials, maxParallel: parallel };
  const identity = { attempt: 1, amHost: "h", amContainerId: "am", startedAtMs: 1_000_000, nodeHeartbeatMs: 1_000 };
  const core = createCore(searchRun(aJobSpec({ roles: [aRole("worker", workers)] }), search), {
    applicationId: APPLICATION,
    ...identity,
  });
  const due: { readonly atMs: number; readonly event: Event }[] = [];
  let nowMs = identity.startedAtMs;
  let wakeAtMs = Number.POSITIVE_INFINITY;
  let given = 0;
  let journalBytes = 0;

  const later = (afterMs: number, event: Event) => {
    const atMs = nowMs + afterMs;
    const place = due.findIndex((other) => other.atMs > atMs);
    due.splice(place < 0 ? due.length : place, 0, { atMs, event });
  };
  const registers = (launch: { readonly task: string; readonly containerId: string; readonly generation: number }) =>
    later(START_MS, {
      type: "executor-registered",
      ...{ task: launch.task, containerId: launch.containerId, generation: launch.generation, host: "n", port: 1 },
      ...{ tensorboardPort: 0, rejoinAddress: "n:9", child: { state: "none" } },
    });
  const runs = (task: string, containerId: string, generation: number) => {
    const own = { task, containerId, generation };
    later(0, { type: "child-started", ...own, pid: 7, atMs: nowMs });
    for (let step = 1; step <= STEPS; step += 1) {
      const atMs = nowMs + (step * RUNS_MS) / (STEPS + 1);
      later(atMs - nowMs, { type: "child-progress", ...own, step, atMs, metrics: { loss: given / step } });
    }
    // They do not all end at once.
    const endsMs = RUNS_MS + (Number(task.split(":")[1]) % 7) * 1_000;
    later(endsMs, { type: "child-exited", ...own, exit: childExit(nowMs + endsMs, {}) });
  };
  const obey = (effect: Effect) => {
    if (effect.type === "wake-at") wakeAtMs = effect.atMs;
    if (effect.type === "journal") {
      journalBytes += effect.snapshot.length + (effect.part?.length ?? 0);
      later(WRITE_MS, { type: "journal-written", sequence: effect.sequence });
    }
    if (effect.type === "launch" || effect.type === "relaunch") for (const launch of effect.launches) registers(launch);
    if (effect.type === "send" && effect.message.type === "start-child")
      runs(effect.to.task, effect.to.containerId, effect.message.generation);
  };
  const tell = (event: Event) => {
    for (const effect of core.step(event, nowMs)) obey(effect);
  };
  const allocate = () => {
    const wanted = core.state.asks.reduce((sum, { outstanding }) => sum + outstanding, 0);
    const resource = { memoryMiB: 512, vcores: 1, others: {} };
    const made = Array.from({ length: wanted }, () => {
      given += 1;
      const place = { nodeId: "n:1", host: "n", nodeHttpAddress: "n:2" };
      return { containerId: `container_1_0001_01_${String(given).padStart(6, "0")}`, ...place, priority: 1, resource };
    });
    if (made.length > 0) tell({ type: "containers-allocated", containers: made });
  };

  const before = process.cpuUsage();
  tell({ type: "am-registered", attempt: 1, counted: "all", resourceTypes: [] });
  while (core.state.outcome === undefined) {
    allocate();
    const next = due[0];
    if (wakeAtMs < (next?.atMs ?? Number.POSITIVE_INFINITY)) {
      nowMs = Math.max(nowMs, wakeAtMs);
      wakeAtMs = Number.POSITIVE_INFINITY;
      tell({ type: "wake-up" });
    } else if (next === undefined) {
      throw new Error("the core waits for nothing");
    } else {
      due.shift();
      nowMs = Math.max(nowMs, next.atMs);
      tell(next.event);
    }
  }
  const used = process.cpuUsage(before);
  return {
    seconds: (nowMs - identity.startedAtMs) / 1_000,
    journalMiB: journalBytes / 2 ** 20,
    processorMs: (used.user + used.system) / 1_000,
  };
}
