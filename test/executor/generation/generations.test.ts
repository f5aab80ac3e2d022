import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { json } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { openFileSystems } from "../../../executor/file-systems.ts";
import type { Generation } from "../../../executor/generation/generation.ts";
import { Generations, type GenerationsOptions } from "../../../executor/generation/generations.ts";
import { outputLogs } from "../../../executor/output/output-files.ts";
import { ModelParameters } from "../../../executor/preparation/model-parameters.ts";
import { takenPorts } from "../../../executor/program/ports.ts";
import { encodeClusterSpec } from "../../../src/api/cluster-spec-codec.ts";
import type { ExecutorReport } from "../../../src/api/messages.ts";
import { TonyError } from "../../../src/errors.ts";
import { noCredentials } from "../../../src/hadoop/security/credentials.ts";
import type { ChildExit } from "../../../src/job/execution.ts";
import type { StopReason } from "../../../src/job/reasons/stops.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import type { TaskName } from "../../../src/job/task.ts";
import type { Log } from "../../../src/log.ts";
import { anExecutorJob } from "../../support/api.ts";
import { deferred } from "../../support/deferred.ts";
import { eventually } from "../../support/eventually.ts";
import { anExecutorLaunch, executorSettingsIn } from "../../support/executor-launch.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";
import { silentLog } from "../../support/silent-log.ts";

describe("the generations of an executor", () => {
  let folder: string;
  let prepared: number[];
  let exits: ChildExit[];
  let carried: string[];
  let stopped: StopReason[];
  let said: string[];
  let told: [generation: number, report: ExecutorReport][];
  let isStuck: boolean;
  /** What becomes of the checkpoint that a program is to begin with. */
  let bringBack: (checkpoint: string) => Promise<string>;
  let options: GenerationsOptions;
  let generations: Generations;
  const portsOf = ({ ports: { task, named } }: Generation) => [task, ...Object.values(named)];

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tony-generations-"));
    prepared = [];
    exits = [];
    [carried, stopped, said, told, isStuck] = [[], [], [], [], false];
    bringBack = (checkpoint) => Promise.resolve(checkpoint);
    jest.spyOn(process, "cwd").mockReturnValue(folder);
    const { attempt, masterAddress, staging } = anExecutorLaunch;
    const settings = executorSettingsIn(folder, { task: { role: "worker", index: 1 } });
    const nobody = () => {
      throw new Error("nobody asks in this test");
    };
    const keep = (_event: string, message: string) => void said.push(message);
    const log: Log = { ...silentLog, info: keep, warn: keep, error: keep, with: () => log };
    options = {
      settings,
      logs: outputLogs(settings),
      environment: { PATH: process.env.PATH },
      log,
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
      report: (generation, report) => {
        told.push([generation, report]);
        if (report.type === "child-exited") exits.push(report.exit);
      },
      prepared: () => prepared.push(generations.current.number),
      suspendedMs: () => 0,
      stopping: (reason) => void stopped.push(reason),
      stuck: () => {
        isStuck = true;
      },
    };
    generations = new Generations(options);
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
  /** The program of that task of a job. */
  const startIn = async (job: Partial<JobSpec>, task: TaskName) => {
    generations = new Generations({ ...options, settings: { ...options.settings, task } });
    await generations.start(anExecutorJob(aJobSpec(job)), {
      ...{ type: "start-child", checkpoint: "", restartReason: "", restarts: 0 },
      clusterSpec: encodeClusterSpec({ generation: 1, tasks: [{ task: "worker:0", host: "127.0.0.1", port: 5000 }] }),
    });
  };
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

  test("are found by their number while their program may run", async () => {
    const first = generations.current;
    const change = generations.prepare(2, "a test", 0);
    expect([generations.find(1), generations.find(2), generations.find(3)]).toEqual([
      ...[first, generations.current, undefined],
    ]);
    await change;
    expect(generations.find(2)).toBe(generations.current);
  });

  test("say before they stop a program why, and end the executor where a process of it survives", async () => {
    const reason = { code: "job-ended" } as const;
    jest.spyOn(generations.current, "stop").mockImplementationOnce(async () => {
      expect([stopped, isStuck]).toEqual([[reason], false]);
      return false;
    });
    await generations.stopChild({ type: "stop-child", graceMs: 5_000, reason });
    expect([isStuck, said]).toEqual([
      ...[true, [expect.stringMatching(/^A process of the program survives SIGKILL: the executor exits/)]],
    ]);
  });

  test("have a program that hangs write its stacks before it is stopped", async () => {
    const order: string[] = [];
    const { current } = generations;
    jest.spyOn(current, "dumpStacks").mockImplementation(async (reason) => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`stacks: ${reason.code}`);
    });
    jest.spyOn(current, "stop").mockImplementation(async () => order.push("stop") > 0);
    const reason = { code: "hung", noProgressMs: 60_000, step: 7 } as const;
    const hangs = { type: "stop-child", graceMs: 5_000, reason } as const;
    await generations.stopChild(hangs);
    await generations.stopChild({ ...hangs, dumpStacks: true });
    expect(order).toEqual(["stop", "stacks: hung", "stop"]);
    expect(said).toEqual([expect.stringMatching(/^The program is stopped, it /)]);
  });

  test("say where a program stands: of the one that is asked for, where that is known", async () => {
    const stacks = 'Current thread 0x1 (most recent call first):\n  File "/work/train.py", line 7 in step\n';
    const { current } = generations;
    const taken = jest.spyOn(current, "stacks").mockResolvedValue([{ pid: 9, parent: 1, program: "python3", stacks }]);
    await generations.tellPlace(2);
    expect(told).toEqual([]);
    await generations.tellPlace(1);
    expect(told).toEqual([
      [
        1,
        {
          ...{ type: "child-place", where: "at train.py:7 (step)", isExchange: false },
          lines: ["Current thread 0x1 (most recent call first):", '  File "/work/train.py", line 7 in step'],
        },
      ],
    ]);
    for (const nothing of [[], undefined]) {
      taken.mockResolvedValue(nothing);
      await generations.tellPlace(1);
    }
    expect(told).toHaveLength(1);
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
    const signals = jest.spyOn(generations.current, "signal");
    const notice = { cause: "preemption", atMs: 1 } as const;
    const give = (signal: string) =>
      generations.giveNotice({ type: "signal-child", signal, reason: "it is taken back", notice });
    give("SIGTERM");
    await start("sleep 100");
    give("SIGNONSENSE");
    expect(signals).not.toHaveBeenCalled();
    give("SIGTERM");
    expect(signals.mock.calls).toEqual([["SIGTERM"]]);
    expect(said).toContain("Sending SIGTERM to the program: it is taken back.");
    expect(await ran()).toMatchObject({ signal: "SIGTERM" });
  });

  test("give a program a socket to call its executor, which goes with it", async () => {
    const waits = `test -S "$TONY_API" && until test -e ${path.join(folder, "done")}; do sleep 0.05; done`;
    await start(waits);
    const socketPath = generations.current.environment?.TONY_API ?? "";
    const asked = request({ socketPath, method: "POST", path: "/v1/report" });
    asked.end('{"step": 3}');
    const [response] = await once(asked, "response");
    expect(await json(response)).toMatchObject({ answer: "continue" });
    await writeFile(path.join(folder, "done"), "");
    expect(await ran()).toMatchObject({ exitCode: 0 });
    await eventually("the socket is gone", () => !existsSync(path.dirname(socketPath)));
  });

  test("run it without one where no socket can be made", async () => {
    await mkdir(path.join(folder, "tony-api-1"));
    await start('test -z "$TONY_API" && exit 6');
    expect(await ran()).toMatchObject({ exitCode: 6 });
    expect(said).toContainEqual(expect.stringMatching(/^TONY_API is not set, as no socket can be made: .*EEXIST/));
  });

  test("let a program run commands in other tasks, where its framework does so", async () => {
    const asked: unknown[] = [];
    const { promise: gone, resolve: cancel } = deferred<undefined>();
    options = {
      ...options,
      openSession: (task, words) => {
        asked.push(task, words);
        return {
          over: gone,
          send: async () => undefined,
          cancel: () => cancel(undefined),
          receive: async (take) => {
            await take({ type: "started", terminal: false });
            await take({ type: "exited", exitCode: 9, signal: "" });
            cancel(undefined);
          },
        };
      },
    };
    const roles = [aRole("launcher", 1, { command: "ssh worker-0 date" }), aRole("worker", 1)];
    await startIn({ framework: "mpi", roles }, { role: "launcher", index: 0 });
    expect(await ran()).toMatchObject({ exitCode: 9 });
    expect(asked).toEqual(["worker:0", ["bash", "-c", expect.stringMatching(/; date$/)]]);
    await eventually("the command is gone", () => !existsSync(path.join(folder, "tony-hosts-1")));
  });

  test("keep the parameters that a job's first program has found, for all others", async () => {
    const parameters = new ModelParameters({
      stagingUrl: `file://${folder}`,
      open: () => openFileSystems({ user: "alice", stagingUrl: "", hadoop: {} }, () => noCredentials),
    });
    options = { ...options, parameters };
    const driver = aRole("driver", 1, { inMaster: true, command: "echo 'Model parameters: depth=3'" });
    const roles = [driver, aRole("worker", 1, { command: 'test "$MODEL_PARAMS" = depth=3 && exit 4' })];
    await startIn({ roles }, { role: "driver", index: 0 });
    expect(await ran()).toMatchObject({ exitCode: 0 });
    await startIn({ roles }, { role: "worker", index: 0 });
    expect(await ran()).toMatchObject({ exitCode: 4 });
    const told = jest.spyOn(parameters, "keep");
    await startIn({ roles: [driver] }, { role: "driver", index: 0 });
    expect(await ran()).toMatchObject({ exitCode: 0 });
    expect(told).not.toHaveBeenCalled();
  });
});
