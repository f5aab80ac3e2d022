import { setTimeout as sleep } from "node:timers/promises";
import { executorIdentity } from "../../src/api/identity.ts";
import { aJobSpec } from "../../test/support/job-spec.ts";
import { atMost, type Sample } from "../figures.ts";
import { inFlight } from "../in-flight.ts";
import type { Measurement } from "../measurement.ts";
import { cpuSeconds, processMemory } from "../process-memory.ts";
import { SimulatedExecutor } from "../simulated-executor.ts";
import { StandInMaster } from "../stand-in-master.ts";
import { until } from "../until.ts";

const resident = "AM: memory, 1,000 tasks";
const peak = "AM: peak memory, 1,000 tasks";
const gathering = "first executor connects → 1,000 programs started";
const processor = "AM: processor, 1,000 idle tasks";

const tasks = 1_000;
/** If all opened at once, this process's own handshakes would be what is measured. */
const openingAtOnce = 50;
const settleMs = 5_000;
const idleMs = 10_000;

/** 1,000 executors of the bench's own, each with its own TLS connection to the AM's bundle; no cluster takes part. */
export const crowd: Measurement = {
  name: "crowd",
  what: "the AM with 1,000 simulated executors over real gRPC, a heartbeat a second from each",
  warmUps: 0,
  figures: [
    { name: resident, unit: "MiB", budget: atMost(200) },
    { name: peak, unit: "MiB" },
    { name: gathering, unit: "ms" },
    { name: processor, unit: "%" },
  ],
  async run() {
    const spec = aJobSpec();
    const [worker] = spec.roles;
    if (worker === undefined) throw new Error("the spec has no role");
    const master = new StandInMaster({ ...spec, roles: [{ ...worker, instances: tasks }] });
    const executors: SimulatedExecutor[] = [];
    try {
      return await measure(master, executors);
    } finally {
      for (const executor of executors) executor.close();
      await master.dispose();
    }
  },
};

async function measure(master: StandInMaster, executors: SimulatedExecutor[]): Promise<Sample> {
  let started = 0;
  let lost = 0;
  const hopeless = () => {
    if (!master.alive) return `the AM has ended:\n${master.words()}`;
    // The AM would want others in their place, and nobody plays those.
    return lost > 0 ? `${lost} executors lost the AM` : undefined;
  };
  const allWanted = () => (master.wantedExecutors().length === tasks ? master.wantedExecutors() : undefined);
  const wanted = await until("the AM to want every executor", allWanted, { hopeless });
  const beganAtMs = performance.now();
  const count = {
    started: () => {
      started += 1;
    },
    lost: () => {
      lost += 1;
    },
  };
  await Promise.all([
    inFlight(openingAtOnce, tasks, async (index) => {
      const about = wanted[index];
      if (about === undefined) return;
      const identity = executorIdentity(master.identity, about.containerId);
      const executor = new SimulatedExecutor(about, { identity, port: 10_000 + index, ...count });
      executors.push(executor);
      await executor.admitted;
    }),
    until("every program to be started", () => (started === tasks ? true : undefined), { hopeless }),
  ]);
  const startedAtMs = performance.now();
  await sleep(settleMs);
  const before = cpuSeconds(master.pid) ?? 0;
  await sleep(idleMs);
  const after = cpuSeconds(master.pid) ?? 0;
  const memory = processMemory(master.pid);
  if (memory === undefined || lost > 0) throw new Error(`${lost} executors lost the AM:\n${master.words()}`);
  return {
    [resident]: memory.residentMiB,
    [peak]: memory.peakResidentMiB,
    [gathering]: startedAtMs - beganAtMs,
    [processor]: ((after - before) / (idleMs / 1000)) * 100,
  };
}
