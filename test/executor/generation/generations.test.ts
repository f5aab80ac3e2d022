import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Generation } from "../../../executor/generation/generation.ts";
import { Generations } from "../../../executor/generation/generations.ts";
import { outputLogs } from "../../../executor/output/output-files.ts";
import { ModelParameters } from "../../../executor/preparation/model-parameters.ts";
import { takenPorts } from "../../../executor/program/ports.ts";
import { TonyError } from "../../../src/errors.ts";
import type { ChildExit } from "../../../src/job/execution.ts";
import { anExecutorJob } from "../../support/api.ts";
import { eventually } from "../../support/eventually.ts";
import { anExecutorLaunch, executorSettingsIn } from "../../support/executor-launch.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";
import { silentLog } from "../../support/silent-log.ts";

describe("the generations of an executor", () => {
  let folder: string;
  let prepared: number[];
  let exits: ChildExit[];
  let carried: string[];
  /** What becomes of the checkpoint that a program is to begin with. */
  let bringBack: (checkpoint: string) => Promise<string>;
  let generations: Generations;
  const portsOf = ({ ports: { task, named } }: Generation) => [task, ...Object.values(named)];

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tony-generations-"));
    prepared = [];
    exits = [];
    carried = [];
    bringBack = (checkpoint) => Promise.resolve(checkpoint);
    jest.spyOn(process, "cwd").mockReturnValue(folder);
    const { attempt, masterAddress, staging } = anExecutorLaunch;
    const settings = executorSettingsIn(folder, { task: { role: "worker", index: 1 } });
    const nobody = () => {
      throw new Error("nobody asks in this test");
    };
    generations = new Generations({
      settings,
      logs: outputLogs(settings),
      environment: { PATH: process.env.PATH },
      log: silentLog,
      nowMs: Date.now,
      random: Math.random,
      master: () => ({ attempt, address: masterAddress }),
      carrier: () => ({
        settle: async ({ last }) => void carried.push(last ? "settled for good" : "settled"),
        abandonStart: () => void carried.push("start abandoned"),
      }),
      bringBack: (checkpoint) => bringBack(checkpoint),
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
      report: (_generation, report) => {
        if (report.type === "child-exited") exits.push(report.exit);
      },
      prepared: () => prepared.push(generations.current.number),
      suspendedMs: () => 0,
      stopping: () => undefined,
      stuck: () => undefined,
    });
  });
  afterEach(async () => {
    await generations.stop({ graceMs: 0, reason: { code: "job-ended" } });
    await generations.current.releasePorts();
    jest.restoreAllMocks();
    await rm(folder, { recursive: true });
  });

  /** The order to run that command, from that checkpoint on. */
  const start = (command: string, checkpoint = "") =>
    generations.start(anExecutorJob(aJobSpec({ roles: [aRole("worker", 2, { command })] })), {
      ...{ type: "start-child", clusterSpec: new Uint8Array(), checkpoint, restartReason: "", restarts: 0 },
    });
  const ran = async () => {
    await eventually("the program has ended", () => exits.length > 0);
    return exits.splice(0)[0];
  };

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

  test("change when nothing of the one before is downloaded any more, and all of it is uploaded", async () => {
    await generations.current.prepare();
    await generations.prepare(2, "a test", 0);
    expect(carried).toEqual(["start abandoned", "settled"]);
  });

  test("each run their program once, with the checkpoint that was brought back", async () => {
    bringBack = async (checkpoint) => `/brought/${checkpoint}`;
    for (const prepare of [() => generations.current.prepare(), () => generations.prepare(2, "a test", 0)]) {
      await prepare();
      const command = 'test "$TONY_CHECKPOINT" = /brought/step-7 && exit 7';
      await Promise.all([start(command, "step-7"), start("exit 8")]);
      expect(await ran()).toMatchObject({ exitCode: 7 });
      await start("exit 9");
      expect(exits).toEqual([]);
    }
  });

  test("do not run a program whose checkpoint is of no use on any machine", async () => {
    bringBack = () => Promise.reject(new TonyError("it is damaged", { code: "CHECKPOINT_UNUSABLE" }));
    await start("exit 0", "step-7");
    expect(await ran()).toMatchObject({ failedToStart: true, errorSummary: "it is damaged" });
  });

  test("leave it to another container where the checkpoint does not come, but where the program was stopped meanwhile", async () => {
    const away = new TonyError("HDFS is away", { code: "CHECKPOINT_NOT_RESTORED" });
    bringBack = () => Promise.reject(away);
    await expect(start("exit 0", "step-7")).rejects.toBe(away);
    await generations.prepare(2, "a test", 0);
    bringBack = async () => {
      await generations.stop({ graceMs: 0, reason: { code: "job-ended" } });
      throw away;
    };
    await start("exit 0", "step-7");
    expect(await ran()).toMatchObject({ stopReason: { code: "job-ended" } });
  });

  test("send a signal to a program that runs alone, and only one that a program may get", async () => {
    await generations.current.prepare();
    const told = jest.spyOn(generations.current, "signal");
    const notice = { cause: "preemption", atMs: 1 } as const;
    const give = (signal: string) =>
      generations.giveNotice({ type: "signal-child", signal, reason: "it is taken back", notice });
    give("SIGTERM");
    await start("sleep 100");
    give("SIGNONSENSE");
    expect(told).not.toHaveBeenCalled();
    give("SIGTERM");
    expect(told.mock.calls).toEqual([["SIGTERM"]]);
    expect(await ran()).toMatchObject({ signal: "SIGTERM" });
  });
});
