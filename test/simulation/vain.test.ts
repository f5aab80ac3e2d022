import { expect, test } from "@jest/globals";
import type { JobSpec } from "../../src/job/spec.ts";
import { VirtualClock } from "./clock.ts";
import { Cluster } from "./cluster.ts";
import { jobSpec, role } from "./job.ts";
import { judge } from "./judge.ts";
import { Random } from "./random.ts";
import { runUntilOver } from "./run.ts";
import { FINE } from "./weather.ts";
import { World } from "./world.ts";

const SEEDS = 4;
const NODES = 4;
const NODE_MIB = 4_096;
const SLOTS = (NODES * NODE_MIB) / 1_024;
const HOUR_MS = 3_600_000;

/**
 * A job that needs more than the cluster has, for an hour, and beside it small jobs of one task each. Then the nodes become
 * larger.
 */
async function runInVain(seed: number): Promise<string[]> {
  const random = new Random(seed);
  const clock = new VirtualClock();
  const cluster = new Cluster(clock, random, { nodes: NODES, capacityMiB: NODE_MIB });
  const problems: string[] = [];
  const start = (number: number, spec: JobSpec) => {
    const startsAtMs: number[] = [];
    const programs = () => {
      startsAtMs.push(clock.nowMs);
      return { runsForMs: 30_000 };
    };
    const applicationId = `application_1_000${number}`;
    const shared = { clock, random, cluster, weather: FINE, attempts: 1, applicationId };
    const world = new World({ ...shared, spec, programs });
    world.start();
    return { world, startsAtMs };
  };
  const large = start(1, jobSpec([role("worker", SLOTS + random.integer(1, SLOTS))]));
  let heldForMs = 0;
  const watch = () => {
    const held = cluster.nodes.reduce((sum, { usedMiB }) => sum + usedMiB, 0);
    heldForMs += held > NODE_MIB ? 1_000 : 0;
    clock.after(1_000, watch);
  };
  watch();
  const small: ReturnType<typeof start>[] = [];
  for (let number = 2; number < 8; number++) {
    clock.after(random.integer(0, HOUR_MS), () => small.push(start(number, jobSpec([role("worker", 1)]))));
  }
  const endsAtMs = clock.nowMs + HOUR_MS + 120_000;
  while (clock.nowMs < endsAtMs && clock.advance()) {
    for (const { world } of [large, ...small]) await world.settle();
  }
  if (large.startsAtMs.length > 0) problems.push("the large job started without room");
  if (heldForMs > HOUR_MS / 10) problems.push(`it held containers for ${heldForMs} ms of an hour`);
  for (const { world, startsAtMs } of small) {
    if (startsAtMs.length !== 1) problems.push(`${world.applicationId} started ${startsAtMs.length} times`);
  }
  for (const node of cluster.nodes) node.capacityMiB *= 3;
  await runUntilOver(clock, [large.world], HOUR_MS);
  if (large.startsAtMs.length === 0) problems.push("the large job never started, though there was room in the end");
  return [...problems, ...judge(large.world, [])].map((problem) => `seed ${seed}: ${problem}`);
}

test(`a gang that needs more than there is holds next to nothing, and starts when there is room, ${SEEDS} times`, async () => {
  const problems: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) problems.push(...(await runInVain(seed)));
  expect(problems).toEqual([]);
});
