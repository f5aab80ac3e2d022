import { networkInterfaces } from "node:os";
import path from "node:path";
import { describe, expect, it, test } from "@jest/globals";
import { type PlanOptions, pexVariables, planProgram } from "../../../executor/generation/plan-program.ts";
import { encodeClusterSpec } from "../../../src/api/cluster-spec-codec.ts";
import type { TaskAddress } from "../../../src/job/cluster-spec.ts";
import type { FileToShip, JobSpec, RoleSpec } from "../../../src/job/spec.ts";
import { anExecutorJob } from "../../support/api.ts";
import { executorSettingsIn } from "../../support/executor-launch.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const pex: FileToShip = { source: "/home/ada/env.pex", name: "env.pex", as: "file" };
const other: FileToShip = { source: "/home/ada/train.py", name: "train.py", as: "file" };
const container = { LOCAL_DIRS: "/disk1/app_1,/disk2/app_1", HOME: "/home/" };

describe("a PEX that the job ships", () => {
  it("is unpacked in the application's folder of the node, which goes with the job", () => {
    expect(pexVariables(container, [other, pex])).toEqual({ PEX_ROOT: "/disk1/app_1/pex" });
  });

  it("is unpacked where the job says", () => {
    expect(pexVariables({ ...container, PEX_ROOT: "/var/pex" }, [pex])).toEqual({});
  });

  it("is left to itself where the container has no folder of the application", () => {
    expect(pexVariables({ HOME: "/home/ada" }, [pex])).toEqual({});
  });
});

it("a job without a PEX gets no variable for it", () => {
  expect(pexVariables(container, [other])).toEqual({});
});

describe("the plan of a program's start", () => {
  const work = temporaryFolder();
  const tasks: readonly TaskAddress[] = [
    { task: "worker:0", host: "127.0.0.1", port: 5000 },
    { task: "worker:1", host: "127.0.0.1", port: 5001 },
  ];

  interface Changes {
    readonly spec?: Partial<JobSpec>;
    readonly role?: Partial<RoleSpec>;
    readonly settings?: Partial<PlanOptions["settings"]>;
    readonly command?: Partial<PlanOptions["command"]>;
    readonly tasks?: readonly TaskAddress[];
    readonly options?: Partial<PlanOptions>;
  }

  /** For worker:1 of two workers. */
  function planOf({ spec, role, settings, command, tasks: all = tasks, options }: Changes = {}) {
    const roles = [aRole("ps", 1, { command: "serve" }), aRole("worker", 2, { command: "train", ...role })];
    return planProgram({
      settings: executorSettingsIn(work.path, { task: { role: "worker", index: 1 }, ...settings }),
      job: anExecutorJob(aJobSpec({ roles, ...spec })),
      command: {
        ...{ type: "start-child", restartReason: "", checkpoint: "", restarts: 0 },
        clusterSpec: encodeClusterSpec({ generation: 4, tasks: all }),
        ...command,
      },
      master: { attempt: 2, address: "am-host:7000" },
      generation: 4,
      ports: { task: 5001, tensorBoard: 0, named: {} },
      environment: { PATH: "/usr/bin:/bin", TONY_TASK: "worker:1", HOME: "/home/" },
      workFolder: work.path,
      checkpoint: "",
      modelParameters: undefined,
      apiSocket: undefined,
      ...options,
    });
  }

  const at = (name: string) => path.join(work.path, name);

  it("has the program's command, its files in the container, and the container's mark in its environment", async () => {
    const plan = await planOf();
    expect(plan).toMatchObject({
      command: "train",
      marker: "TONY_PROGRAM_OF=container_1",
      progressFile: at("tony-progress-4.jsonl"),
      noticeFile: at("tony-notice-4.json"),
      hostsFolder: at("tony-hosts-4"),
      environments: [
        {
          ...{ PATH: "/usr/bin:/bin", HOME: "/home/", HADOOP_USER_NAME: "alice", TONY_PROGRAM_OF: "container_1" },
          PYTHONPATH: at(".tony-stacks"),
          ...{ TONY_PROGRESS_FILE: at("tony-progress-4.jsonl"), TONY_NOTICE_FILE: at("tony-notice-4.json") },
          ...{ JOB_NAME: "worker", JOB_ID: "application_1_0001", TASK_INDEX: "1", TASK_NUM: "3" },
          ...{ TONY_GENERATION: "4", SESSION_ID: "0", ATTEMPT_NUMBER: "1", AM_HOST: "am-host", AM_PORT: "7000" },
          ...{ TONY_HOST: "127.0.0.1", TONY_PORT: "5001" },
        },
      ],
    });
    const [environment] = plan.environments;
    for (const absent of ["TONY_TASK", "TB_PORT", "TONY_API", "MODEL_PARAMS", "TONY_CHECKPOINT", "GLOO_SOCKET_IFNAME"])
      expect(environment).not.toHaveProperty(absent);
    for (const absent of ["unusable", "serve", "hosts"]) expect(plan).not.toHaveProperty(absent);
  });

  it("tells it what only some programs are told: ports, parameters, an earlier life and its checkpoint, and whom to call", async () => {
    const { environments } = await planOf({
      command: { restartReason: "worker:0 exited 1", restarts: 3 },
      options: {
        ports: { task: 5001, tensorBoard: 6006, named: { rpc: 6001 } },
        checkpoint: "/ckpt/7",
        modelParameters: "--depth 3",
        apiSocket: "/run/api",
      },
    });
    expect(environments).toMatchObject([
      {
        ...{ SESSION_ID: "3", NUM_AM_RETRIES: "3", TONY_RESTART_REASON: "worker:0 exited 1" },
        ...{ TB_PORT: "6006", TONY_PORT_RPC: "6001", MODEL_PARAMS: "--depth 3" },
        ...{ TONY_CHECKPOINT: "/ckpt/7", TONY_API: "/run/api" },
      },
    ]);
  });

  it("names the folders that are uploaded, and where the output of this task goes", async () => {
    const checkpoints = { localDir: "ckpt", keep: 2 };
    const output = { localDir: "out", dir: "hdfs://nn/results" };
    const carrier = { outputRequired: true, timeoutMs: 60_000 };
    const { environments } = await planOf({ spec: { carrier: { ...carrier, checkpoints, output } } });
    expect(environments).toMatchObject([
      {
        ...{ TONY_CHECKPOINT_LOCAL_DIR: at("ckpt"), TONY_OUTPUT_LOCAL_DIR: at("out") },
        TONY_OUTPUT_DIR: "hdfs://nn/results/application_1_0001/worker-1",
      },
    ]);
    const [without] = (await planOf({ spec: { carrier } })).environments;
    for (const absent of ["TONY_CHECKPOINT_LOCAL_DIR", "TONY_OUTPUT_LOCAL_DIR", "TONY_OUTPUT_DIR"])
      expect(without).not.toHaveProperty(absent);
  });

  it("has the other tasks' addresses, except where the program starts before they exist", async () => {
    const spec = { framework: "pytorch", roles: [aRole("worker", 2)] } as const;
    const [environment] = (await planOf({ spec })).environments;
    expect(environment).toMatchObject({ INIT_METHOD: "tcp://127.0.0.1:5000", RANK: "1", WORLD: "2" });
    const alone = await planOf({ spec, command: { clusterSpec: new Uint8Array() } });
    expect(alone.start).not.toHaveProperty("cluster");
    expect(alone.environments[0]).not.toHaveProperty("RANK");
  });

  it("is of the task's place in its trial, with the parameters of that", async () => {
    const { command, start } = await planOf({
      spec: { trials: 3, roles: [aRole("worker", 2, { command: "train --rate {{param.rate}}" })] },
      settings: { task: { role: "worker", index: 5 } },
      command: { trialParams: '{"rate":0.5}' },
      tasks: [
        { task: "worker:4", host: "127.0.0.1", port: 5000 },
        { task: "worker:5", host: "127.0.0.1", port: 5001 },
      ],
    });
    expect(command).toBe("train --rate 0.5");
    expect(start).toMatchObject({
      task: { role: "worker", index: 1 },
      trial: { number: 2, parameters: { rate: 0.5 } },
    });
    expect(start.cluster?.tasks.map(({ task }) => task)).toEqual(["worker:0", "worker:1"]);
    await expect(planOf({ command: { trialParams: '{"rate":[]}' } })).rejects.toThrow("rate");
  });

  it("runs the command once for each process that the executor starts, each with the container's mark", async () => {
    const roles = [aRole("worker", 2, { processes: 2 })];
    const { environments } = await planOf({ spec: { framework: "deepspeed", roles } });
    expect(environments).toMatchObject([
      { LOCAL_RANK: "2", TONY_PROGRAM_OF: "container_1", PYTHONPATH: at(".tony-stacks") },
      { LOCAL_RANK: "3", TONY_PROGRAM_OF: "container_1", PYTHONPATH: at(".tony-stacks") },
    ]);
  });

  it("has what some frameworks need: something that is served, commands before its own, other tasks as hosts, addresses", async () => {
    const settings = { task: { role: "worker", index: 0 } };
    const horovod = await planOf({ spec: { framework: "horovod", roles: [aRole("worker", 2)] }, settings });
    expect(horovod.serve).toEqual(expect.any(Function));
    const elastic = aRole("worker", 2, { command: "train", minInstances: 1 });
    const { command } = await planOf({ spec: { framework: "horovod", roles: [elastic] }, settings });
    expect(command).toMatch(/^.+\ntrain$/s);

    const mpi = await planOf({
      spec: { framework: "mpi", roles: [aRole("launcher", 1), aRole("worker", 2)] },
      settings: { task: { role: "launcher", index: 0 } },
    });
    expect([...(mpi.hosts?.tasks ?? [])]).toEqual([
      ["worker-0", "worker:0"],
      ["worker-1", "worker:1"],
    ]);
    expect(mpi.environments[0]).toMatchObject({ TONY_HOSTFILE: at("tony-hosts-4/hostfile") });

    const scheduler = { task: "scheduler:0", host: "localhost", port: 5002 } as const;
    const mxnet = await planOf({
      spec: { framework: "mxnet", roles: [aRole("scheduler", 1), aRole("worker", 2)] },
      tasks: [...tasks, scheduler],
    });
    expect(mxnet.environments[0].DMLC_PS_ROOT_URI).toMatch(/^(127\.0\.0\.1|::1)$/);
  });

  it("says why the program cannot be run, of files of the job and of its role", async () => {
    const venv: FileToShip = { source: "hdfs://nn/venv.tar.gz", name: "venv", as: "archive" };
    for (const files of [{ spec: { files: [venv] } }, { role: { files: [venv] } }]) {
      const role = { command: "venv/bin/python train.py", ...files.role };
      const { unusable } = await planOf({ ...files, role });
      expect(unusable).toMatch(/^venv\/bin\/python does not exist; it came from hdfs:\/\/nn\/venv\.tar\.gz/);
    }
  });

  it("unpacks a PEX of the job in the application's folder, and has the job's user and module path, unless the container says otherwise", async () => {
    const environment = { LOCAL_DIRS: "/disk1/app_1", HADOOP_USER_NAME: "etl", PYTHONPATH: "lib" };
    const [own] = (await planOf({ spec: { files: [pex] }, options: { environment } })).environments;
    expect(own).toMatchObject({
      ...{ PEX_ROOT: "/disk1/app_1/pex", HADOOP_USER_NAME: "etl", PYTHONPATH: `${at(".tony-stacks")}:lib` },
    });
  });

  it("is none of a role that the job does not have", async () => {
    await expect(planOf({ settings: { task: { role: "chief", index: 0 } } })).rejects.toMatchObject({
      code: "UNKNOWN_ROLE",
      message: "The job has no role chief",
    });
  });

  const [name, host] =
    Object.entries(networkInterfaces())
      .flatMap(([one, infos = []]) => infos.flatMap(({ internal, address }) => (internal ? [] : [[one, address]])))
      .at(0) ?? [];
  const onNetwork = name === undefined || host === undefined ? test.skip : test;

  onNetwork("names the network interface of this node where a task is on another", async () => {
    const { environments } = await planOf({ settings: { host: String(host) } });
    expect(environments[0].GLOO_SOCKET_IFNAME).toBe(name);
  });
});
