import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Generation } from "../../../executor/generation/generation.ts";
import { Generations } from "../../../executor/generation/generations.ts";
import { outputLogs } from "../../../executor/output/output-files.ts";
import { ModelParameters } from "../../../executor/preparation/model-parameters.ts";
import { takenPorts } from "../../../executor/program/ports.ts";
import type { ExecutorSettings } from "../../../executor/settings.ts";
import { anExecutorLaunch } from "../../support/executor-launch.ts";
import { silentLog } from "../../support/silent-log.ts";

describe("the generations of an executor", () => {
  let folder: string;
  let prepared: number[];
  let generations: Generations;
  const portsOf = ({ ports: { task, named } }: Generation) => [task, ...Object.values(named)];

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tony-generations-"));
    prepared = [];
    const { applicationId, masterAddress, staging, attempt, isolationMs, sections } = anExecutorLaunch;
    const settings: ExecutorSettings = {
      ...{ applicationId, masterAddress, staging, attempt, isolationMs, sections: { ...sections, ports: {} } },
      task: { role: "worker", index: 1 },
      containerId: "container_1",
      host: "127.0.0.1",
      generation: 1,
      portNames: ["rpc"],
      tensorBoard: false,
      reusePort: false,
      logFolder: folder,
      logPrefix: "",
      tokenFile: path.join(folder, "tokens"),
    };
    const nobody = () => {
      throw new Error("nobody asks in this test");
    };
    generations = new Generations({
      settings,
      logs: outputLogs(settings),
      environment: {},
      log: silentLog,
      nowMs: Date.now,
      random: Math.random,
      master: () => ({ attempt, address: masterAddress }),
      carrier: () => undefined,
      bringBack: (checkpoint) => Promise.resolve(checkpoint),
      parameters: new ModelParameters({ stagingUrl: staging.stagingUrl, open: nobody }),
      openSession: nobody,
      storeFor: () => ({ transact: nobody, watch: nobody }),
      feedsFor: () => ({
        feeds: () => [],
        ask: nobody,
        openFileSystems: nobody,
        nowMs: Date.now,
        log: silentLog,
        resultsFolder: "/nowhere",
      }),
      awaitEnds: nobody,
      report: () => undefined,
      prepared: () => prepared.push(generations.current.number),
      suspendedMs: () => 0,
      stopping: () => undefined,
      stuck: () => undefined,
    });
  });
  afterEach(async () => {
    await generations.current.releasePorts();
    await rm(folder, { recursive: true });
  });

  test("have each their own ports: those of the one before are free when the next is told of", async () => {
    const first = generations.current;
    await first.prepare();
    await generations.prepare(2, "a test", 0);
    expect(prepared).toEqual([2]);
    expect(await takenPorts(portsOf(first))).toEqual([]);
    const held = portsOf(generations.current);
    expect(await takenPorts(held)).toEqual(held);
    expect(generations.find(1)).toBeUndefined();
  });

  test("one that is overtaken while its ports open is never told of, and keeps none of them", async () => {
    await generations.current.prepare();
    const second = generations.prepare(2, "a test", 0);
    const overtaken = generations.current;
    await Promise.all([second, generations.prepare(3, "a test", 0)]);
    expect(prepared).toEqual([3]);
    expect(portsOf(overtaken)).not.toContain(0);
    expect(await takenPorts(portsOf(overtaken))).toEqual([]);
  });

  test("end with their executor, also the one whose program is being stopped for the next", async () => {
    const first = generations.current;
    const change = generations.prepare(2, "a test", 60_000);
    const stops = [first, generations.current].map((generation) => jest.spyOn(generation, "stop"));
    const reason = { code: "job-ended" } as const;
    generations.kill(reason);
    for (const stop of stops) expect(stop).toHaveBeenLastCalledWith({ graceMs: 0, reason });
    await change;
  });

  test("stop the program of the one that runs when they are told to, with the grace and the reason of the order", async () => {
    const stop = jest.spyOn(generations.current, "stop");
    const reason = { code: "job-ended" } as const;
    await generations.stopChild({ type: "stop-child", graceMs: 5_000, reason });
    expect(stop.mock.calls).toEqual([[{ graceMs: 5_000, reason }]]);
  });

  test("are told of again, as they are, where the same one is ordered twice", async () => {
    const first = generations.current;
    await first.prepare();
    await generations.prepare(1, "a test", 0);
    expect(prepared).toEqual([1]);
    expect(generations.current).toBe(first);
    expect(await takenPorts(portsOf(first))).toEqual(portsOf(first));
  });
});
