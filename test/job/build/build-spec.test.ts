import { describe, expect, test } from "@jest/globals";
import type { VirtualMemoryCheck } from "../../../src/job/build/virtual-memory.ts";
import { check, minimalJob, saidAbout, specOf } from "../support.ts";

describe("a job's spec", () => {
  test("the smallest job gets TonY's defaults", () => {
    const spec = specOf({});
    expect(spec).toMatchObject({
      specVersion: 2,
      queue: "default",
      framework: "tensorflow",
      distributedMode: "gang",
      am: { resource: { memoryMiB: 1024, vcores: 1, others: {} } },
      leadTask: "worker:0",
      tensorBoardTask: "worker:0",
      failure: { onWorkerFailure: "fail", budgets: { program: 0, infrastructure: 10 }, outputLines: 20 },
      timeouts: { heartbeatIntervalMs: 1000, heartbeatExpiryMs: 10_000, registrationMs: 900_000, orphanMs: 780_000 },
    });
    expect(spec.roles).toEqual([
      {
        name: "worker",
        instances: 2,
        resource: { memoryMiB: 2048, vcores: 1, others: {} },
        placement: "any",
        processes: 1,
        command: "python3 -m train",
        environment: {},
        tracking: "tracked",
        stopOnFailure: false,
        chief: "first",
        restartPolicy: "gang",
        reusePort: false,
        files: [],
      },
    ]);
    expect(spec.timeouts.applicationMs).toBeUndefined();
    expect(spec.timeouts.allocationMs).toBeUndefined();
  });

  test("is JSON and nothing else", () => {
    const spec = specOf({ "tony.application.timeout": "1h", "tony.am.port-range": "20000-20010" });
    expect(JSON.parse(JSON.stringify(spec))).toEqual(spec);
  });

  test("roles keep the order of the file, and one with no instances is left out", () => {
    const spec = specOf({ "tony.ps.instances": "1", "tony.evaluator.instances": "0", "tony.chief.instances": "1" });
    expect(
      spec.roles.map(({ name, tracking, chief, stopOnFailure }) => [name, tracking, chief, stopOnFailure]),
    ).toEqual([
      ["worker", "tracked", "none", false],
      ["ps", "untracked", "none", true],
      ["chief", "tracked", "all", false],
    ]);
    expect(spec.leadTask).toBe("chief:0");
  });

  test("without chief and worker the first tracked role leads, and nobody is chief", () => {
    const spec = specOf({ "tony.worker.instances": "0", "tony.ps.instances": "1", "tony.trainer.instances": "3" });
    expect(spec.leadTask).toBe("trainer:0");
    expect(spec.roles.map((role) => role.chief)).toEqual(["none", "none"]);
  });

  test("every key of a role reaches its spec", () => {
    const [role] = specOf({
      "tony.worker.memory": "4g",
      "tony.worker.vcores": "3",
      "tony.worker.gpus": "2",
      "tony.worker.resource.yarn.io/fpga": "1",
      "tony.worker.node-label": "gpu",
      "tony.worker.placement": "spread",
      "tony.worker.restart-policy": "task",
      "tony.worker.command": "python3 own.py",
      "tony.worker.envs": "A=own,TF_GRPC_REUSE_PORT=true",
      "tony.execution.envs": "A=all,B=2",
    }).roles;
    expect(role).toMatchObject({
      resource: { memoryMiB: 4096, vcores: 3, others: { "yarn.io/gpu": 2, "yarn.io/fpga": 1 } },
      nodeLabel: "gpu",
      placement: "spread",
      restartPolicy: "task",
      command: "python3 own.py",
      environment: { A: "own", B: "2", TF_GRPC_REUSE_PORT: "true" },
      reusePort: true,
    });
  });

  test("the application's label holds where none is named", () => {
    const spec = specOf({ "tony.application.node-label": "big", "tony.worker.node-label": "gpu" });
    expect([spec.nodeLabel, spec.am.nodeLabel, spec.roles[0]?.nodeLabel]).toEqual(["big", "big", "gpu"]);
  });

  test("a failed worker is tolerated only when somebody said so", () => {
    const key = "tony.application.fail-on-worker-failure-enabled";
    expect(specOf({ [key]: "false" }).failure.onWorkerFailure).toBe("tolerate");
    expect(specOf({ [key]: "true" }).failure.onWorkerFailure).toBe("fail");
  });

  test("heartbeats and the cluster's expiry give the time-outs that follow from them", () => {
    const { timeouts } = specOf(
      { "tony.task.heartbeat-interval-ms": "500", "tony.task.max-missed-heartbeats": "25" },
      { clusterExpiryMs: 1_200_000 },
    );
    expect(timeouts).toMatchObject({ heartbeatExpiryMs: 12_500, orphanMs: 1_380_000 });
    expect(specOf({ "tony.task.orphan-timeout": "20m" }).timeouts.orphanMs).toBe(1_200_000);
  });

  test("a failure's cause is decided when all tasks must have stopped: later where the grace is long or executors are heard rarely", () => {
    const verdictMs = (set: Record<string, string>) => specOf(set).timeouts.verdictMs;
    expect(verdictMs({})).toBe(15_000);
    expect(verdictMs({ "tony.task.stop-grace": "1s" })).toBe(15_000);
    expect(verdictMs({ "tony.task.stop-grace": "60s" })).toBe(65_000);
    expect(verdictMs({ "tony.task.heartbeat-interval-ms": "10000" })).toBe(42_000);
    expect(verdictMs({ "tony.task.stop-grace": "60s", "tony.failure.verdict-ms": "2s" })).toBe(2_000);
  });

  test("an executor of a job of many tasks is isolated later: its looks into the staging folder are that far apart", () => {
    const isolationMs = (tasks: number, set?: string) =>
      specOf({
        "tony.worker.instances": String(tasks),
        ...(set === undefined ? {} : { "tony.task.isolation-timeout": set }),
      }).timeouts.isolationMs;
    expect([isolationMs(1), isolationMs(400), isolationMs(1_000), isolationMs(10_000)]).toEqual([
      30_000, 30_000, 70_000, 700_000,
    ]);
    expect([isolationMs(400, "20s"), isolationMs(400, "60s")]).toEqual([28_000, 60_000]);
  });

  test("where each setting was made travels with it", () => {
    expect(specOf({ "tony.worker.memory": "4g" }).sources).toMatchObject({ "tony.worker.memory": "job.xml:3" });
  });

  test("TonY's placeholder of a history folder is none", () => {
    expect(specOf({ "tony.history.location": "/path/to/tony-history" }).history).toEqual({ timeZone: "UTC" });
  });
});

describe("TensorBoard beside the job", () => {
  const logDir = { "tony.application.tensorboard-log-dir": "hdfs:///logs" };

  test("a log folder adds a sidecar of one instance that shows it", () => {
    const spec = specOf({ ...logDir, "tony.tensorboard.instances": "3", "tony.tensorboard.memory": "1g" });
    expect(spec.tensorBoardTask).toBe("tensorboard:0");
    expect(spec.roles[1]).toMatchObject({
      name: "tensorboard",
      instances: 1,
      tracking: "sidecar",
      resource: { memoryMiB: 1024 },
      environment: { TB_LOG_DIR: "hdfs:///logs" },
      command: 'python3 -m tensorboard.main --logdir "$TB_LOG_DIR" --port "$TB_PORT" --host "$NM_HOST"',
    });
  });

  test("is said to be one where more are asked for", () => {
    const asking = (instances: string) =>
      saidAbout({ ...minimalJob, ...logDir, "tony.tensorboard.instances": instances });
    expect(asking("3")).toEqual([
      "job.xml:4: warning: tony.tensorboard.instances is 3, but one runs: the one that tony.application.tensorboard-log-dir adds",
    ]);
    expect(asking("1")).toEqual([]);
  });

  test("its own command and the job's interpreter are used", () => {
    expect(specOf({ ...logDir, "tony.tensorboard.command": "tb.sh" }).roles[1]?.command).toBe("tb.sh");
    const { command } = specOf({ ...logDir, "tony.python-exec-path": "venv/bin/python" }).roles[1] ?? {};
    expect(command).toMatch(/^venv\/bin\/python -m tensorboard/);
  });
});

describe("what a job cannot be", () => {
  test("without a command", () => {
    expect(saidAbout({ "tony.worker.instances": "1" })).toEqual([
      "job.xml:1: tony.worker.instances asks for tasks that have no command: set tony.worker.command or tony.containers.command, or give -executes",
    ]);
  });

  test("without a command for a role whose name is another's, misspelt", () => {
    const said = saidAbout({
      "tony.worker.instances": "1",
      "tony.worker.command": "true",
      "tony.wroker.instances": "1",
    });
    expect(said).toEqual([expect.stringMatching(/-executes; did you mean tony\.worker\.instances\?$/)]);
  });

  test("with a command for all that nobody runs", () => {
    const job = { ...minimalJob, "tony.containers.command": "python3 main.py" };
    expect(saidAbout({ ...job, "tony.worker.command": "true" }).join()).toContain(
      "warning: tony.containers.command has no effect: every role has a command of its own",
    );
    expect(saidAbout({ ...job, "tony.worker.command": "true", "tony.ps.instances": "1" }).join()).not.toContain(
      "no effect",
    );
  });

  test("without tasks", () => {
    expect(saidAbout({})).toEqual([
      "tony.worker.instances must be at least 1 for some role; a job without roles needs tony.am.command or tony.containers.command",
    ]);
  });

  test("with nothing to wait for", () => {
    const [untracked, sidecar] = ["tony.application.untracked.jobtypes", "tony.application.sidecar.jobtypes"];
    expect(saidAbout({ ...minimalJob, [untracked]: "worker" })[0]).toMatch(
      /^job.xml:3: tony.application.untracked.jobtypes and tony.application.sidecar.jobtypes name every role/,
    );
    // Of which a ps is untracked by default.
    expect(saidAbout({ ...minimalJob, [sidecar]: "worker", "tony.ps.instances": "1" })[0]).toMatch(
      /^job.xml:3: tony.application.sidecar.jobtypes and tony.application.untracked.jobtypes name every role/,
    );
  });

  test("of a framework that there is none of", () => {
    expect(saidAbout({ ...minimalJob, "tony.application.framework": "keras" })).toEqual([
      'job.xml:3: tony.application.framework must be one of tensorflow, pytorch, torchrun, deepspeed, horovod, jax, mpi, mxnet, dask, ray, generic, standalone, not "keras"',
    ]);
  });

  test("everything is said at once", () => {
    const { spec, problems } = check({
      "tony.worker.instances": "many",
      "tony.worker.memroy": "1g",
      "tony.nonsense": "1",
    });
    expect(spec).toBeUndefined();
    expect(problems.length).toBeGreaterThanOrEqual(3);
  });

  test("a number of tasks that cannot be read is the only mistake, not that there are none", () => {
    const said = saidAbout({ ...minimalJob, "tony.worker.instances": "two" });
    expect(said).toEqual([expect.stringMatching(/^job\.xml:1: tony\.worker\.instances must be /)]);
  });

  test("nor that a list names a role which the job does not have", () => {
    const lists = { "tony.application.stop-on-failure-jobtypes": "worker" };
    expect(saidAbout({ ...minimalJob, "tony.worker.instances": "two", ...lists })).toHaveLength(1);
  });

  test("a role in a list that the job does not have is most often misspelt", () => {
    expect(saidAbout({ ...minimalJob, "tony.application.stop-on-failure-jobtypes": "workers" })).toEqual([
      "job.xml:3: warning: tony.application.stop-on-failure-jobtypes names workers, which the job does not have; did you mean worker?",
    ]);
  });
});

test("a right for everybody is warned of, with what it lets people do", () => {
  expect(saidAbout({ ...minimalJob, "tony.application.acl.modify": "*", "tony.application.acl.run": "*" })).toEqual([
    expect.stringContaining("tony.application.acl.modify is *: every user of the cluster may end this job"),
    expect.stringContaining(
      "tony.application.acl.run is *: every user of the cluster may run commands in its containers as you",
    ),
  ]);
  expect(saidAbout({ ...minimalJob, "tony.application.acl.view": "*", "tony.application.acl.run": "ada" })).toEqual([]);
});

describe("little memory", () => {
  const small = { ...minimalJob, "tony.worker.memory": "256m", "tony.am.memory": "512m" };
  const said = (virtualMemory?: VirtualMemoryCheck) =>
    saidAbout(small, virtualMemory === undefined ? {} : { virtualMemory });

  test("is warned of, because the node would end the container without a word that names the key", () => {
    expect(said({ ratio: 2.1, containerStepMiB: 64 })).toEqual([
      "job.xml:3: warning: tony.worker.memory is 256 MiB: YARN's virtual-memory check ends containers below 512m, because Node itself maps 0.7 GiB",
    ]);
  });

  test("is more with a Node that reserves more", () => {
    const why = "because Node 24 itself maps 1.1 GiB; Node 22, which tony.node.binary may name, maps 0.7 GiB";
    expect(said({ ratio: 2.1, containerStepMiB: 64, nodeVersion: "v24.19.0" })).toEqual([
      `job.xml:3: warning: tony.worker.memory is 256 MiB: YARN's virtual-memory check ends containers below 704m, ${why}`,
      `job.xml:4: warning: tony.am.memory is 512 MiB: YARN's virtual-memory check ends containers below 704m, ${why}`,
    ]);
    expect(said({ ratio: 2.1, containerStepMiB: 64, nodeVersion: "v22.23.3" })).toEqual([
      expect.stringContaining("below 512m"),
    ]);
    expect(said({ ratio: 2.1, containerStepMiB: 1024, nodeVersion: "v24.19.0" })).toEqual([]);
  });

  test("is well where nothing checks virtual memory, where more of it is allowed, or where YARN gives larger containers", () => {
    expect(said()).toEqual([]);
    expect(said({ ratio: 5, containerStepMiB: 64 })).toEqual([]);
    expect(said({ ratio: 2.1, containerStepMiB: 1024 })).toEqual([]);
  });
});

describe("limits of a site", () => {
  test("instances of a role", () => {
    expect(saidAbout({ ...minimalJob, "tony.worker.max-instances": "1" })).toEqual([
      "job.xml:1: tony.worker.instances asks for 2, the limit is 1 (tony.worker.max-instances, job.xml:3)",
    ]);
  });

  test("tasks of all roles", () => {
    expect(saidAbout({ ...minimalJob, "tony.ps.instances": "2", "tony.task.max-total-instances": "3" })).toEqual([
      "job.xml:4: tony.task.max-total-instances is 3, the job asks for 4 in all: lower tony.<role>.instances",
    ]);
  });

  test.each([
    ["tony.task.max-total-gpus", "3", "tony.worker.gpus", "2", "4"],
    ["tony.task.max-total-vcores", "5", "tony.worker.vcores", "3", "6"],
    ["tony.task.max-total-memory", "7g", "tony.worker.memory", "4g", "8192 MiB"],
  ])("%s of %s", (limit, max, key, value, total) => {
    expect(saidAbout({ ...minimalJob, [limit]: max, [key]: value })[0]).toContain(`the job asks for ${total} in all`);
    expect(check({ ...minimalJob, [limit]: "-1", [key]: value }).spec).toBeDefined();
  });
});

describe("resource types", () => {
  const types = [
    { name: "memory-mb", units: "Mi" },
    { name: "vcores", units: "" },
    { name: "yarn.io/gpu", units: "" },
    { name: "local-disk", units: "Gi" },
  ];

  test("an amount is brought to the cluster's unit", () => {
    const { roles } = specOf({ "tony.worker.resource.local-disk": "2Ti" }, { resourceTypes: types });
    expect(roles[0]?.resource.others).toEqual({ "local-disk": 2048 });
  });

  test("a type that the cluster does not know is refused: the ResourceManager would drop it", () => {
    expect(saidAbout({ ...minimalJob, "tony.worker.resource.fpga": "1" }, { resourceTypes: types })).toEqual([
      "job.xml:3: tony.worker.resource.fpga asks for fpga, which is not a resource type of the cluster; it has memory-mb, vcores, yarn.io/gpu, local-disk",
    ]);
    expect(saidAbout({ ...minimalJob, "tony.worker.gpus": "1" }, { resourceTypes: types.slice(0, 2) })[0]).toMatch(
      /^job.xml:3: tony.worker.gpus asks for yarn.io\/gpu, which is not a resource type/,
    );
  });

  test("none of a type asks for nothing, whether the cluster knows the type or not", () => {
    const { roles } = specOf({ "tony.worker.resource.yarn.io/fpga": "0" }, { resourceTypes: types });
    expect(roles[0]?.resource.others).toEqual({});
  });

  test("an amount that is not a whole number of that unit, or none at all, is refused", () => {
    const said = (amount: string) =>
      saidAbout({ ...minimalJob, "tony.worker.resource.local-disk": amount }, { resourceTypes: types })[0];
    expect(said("1500Mi")).toContain('is not a whole number of the cluster\'s unit of local-disk, "Gi"');
    expect(said("much")).toContain("must be a whole amount");
  });

  test("gpus asks for the type that the site names first, and all that it names count as GPUs", () => {
    const site = { "tony.gpu-resource-types": "nvidia.com/gpu, acme.com/a100" };
    const spec = specOf({ ...site, "tony.am.gpus": "1", "tony.worker.gpus": "2" });
    expect([spec.gpuTypes, spec.am.resource.others, spec.roles[0]?.resource.others]).toEqual([
      ["nvidia.com/gpu", "acme.com/a100"],
      { "nvidia.com/gpu": 1 },
      { "nvidia.com/gpu": 2 },
    ]);
    const other = { ...site, "tony.worker.resource.acme.com/a100": "4", "tony.task.max-total-gpus": "3" };
    expect(saidAbout({ ...minimalJob, ...other })[0]).toMatch(/max-total-gpus is 3, the job asks for 8 in all/);
  });

  test.each(["", ",", "nvidia.com/", "a b"])("a site whose GPUs are called '%s' is refused", (types) => {
    expect(saidAbout({ ...minimalJob, "tony.gpu-resource-types": types })[0]).toMatch(
      /tony.gpu-resource-types must be a comma-separated list of resource types/,
    );
  });

  test("a cluster that calls its GPUs otherwise is told by name, with the key for it", () => {
    const resourceTypes = [...types.slice(0, 2), { name: "nvidia.com/gpu", units: "" }];
    expect(saidAbout({ ...minimalJob, "tony.worker.gpus": "1" }, { resourceTypes })).toEqual([
      "job.xml:3: tony.worker.gpus asks for yarn.io/gpu, which is not a resource type of the cluster; it has memory-mb, vcores, nvidia.com/gpu; set tony.gpu-resource-types to nvidia.com/gpu",
    ]);
  });

  test("GPUs that a key asks for by a type that the cluster does not have are told under the types that it has", () => {
    const told = (key: string, gpus: readonly string[], more = {}) => {
      const resourceTypes = [...types.slice(0, 2), ...gpus.map((name) => ({ name, units: "" }))];
      return saidAbout({ ...minimalJob, ...more, [key]: "1" }, { resourceTypes })[0];
    };
    const mend = /it has memory-mb, vcores, yarn\.io\/gpu; write tony\.worker\.resource\.yarn\.io\/gpu$/;
    expect(told("tony.worker.resource.nvidia.com/gpu", ["yarn.io/gpu"])).toMatch(mend);
    expect(told("tony.worker.resource.gpu", ["yarn.io/gpu"], { "tony.gpu-resource-types": "yarn.io/gpu" })).toMatch(
      mend,
    );
    expect(told("tony.am.resource.yarn.io/gpu", ["nvidia.com/gpu", "nvidia.com/mig-1g.5gb"])).toMatch(
      /; write tony\.am\.resource\.nvidia\.com\/gpu or tony\.am\.resource\.nvidia\.com\/mig-1g\.5gb$/,
    );
  });

  test("gpus are asked for once", () => {
    expect(saidAbout({ ...minimalJob, "tony.worker.gpus": "1", "tony.worker.resource.yarn.io/gpu": "2" })).toEqual([
      "job.xml:4: tony.worker.resource.yarn.io/gpu asks for the same resource as gpus; keep one of the two",
    ]);
  });
});
