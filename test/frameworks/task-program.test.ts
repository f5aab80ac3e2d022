import { describe, expect, test } from "@jest/globals";
import { taskProgram } from "../../src/frameworks/task-program.ts";
import { environmentOf, jobOf, processesOf, startOf } from "./support.ts";

const generic = { "tony.application.framework": "generic" };

describe("what every program is told", () => {
  test("the first worker of a first generation", () => {
    expect(environmentOf(jobOf({ worker: 2, ps: 1 }, generic), "worker:0")).toEqual({
      JOB_NAME: "worker",
      JOB_ID: "application_1_0001",
      appid: "application_1_0001",
      TASK_INDEX: "0",
      TASK_NUM: "2",
      DISTRIBUTED_MODE: "GANG",
      SESSION_ID: "0",
      ATTEMPT_NUMBER: "0",
      IS_CHIEF: "true",
      AM_HOST: "am-host",
      AM_PORT: "7000",
      TONY_GENERATION: "1",
      PYTHONUNBUFFERED: "1",
    });
  });

  test("only the chief is the chief: role chief where there is one", () => {
    const plain = jobOf({ worker: 2 });
    expect(environmentOf(plain, "worker:1").IS_CHIEF).toBeUndefined();
    const withChief = jobOf({ chief: 1, worker: 2 });
    expect(environmentOf(withChief, "chief:0").IS_CHIEF).toBe("true");
    expect(environmentOf(withChief, "worker:0").IS_CHIEF).toBeUndefined();
  });

  test("a later generation knows its number, why it came and where to resume", () => {
    const spec = jobOf({ worker: 1 }, { ...generic, "tony.application.checkpoint-dir": "hdfs:///ckpt" });
    const environment = environmentOf(spec, "worker:0", {
      generation: 3,
      restarts: 2,
      attempt: 2,
      restartReason: "worker:1 exited with 1",
      checkpoint: "step-200",
      progressFile: "/logs/progress",
      noticeFile: "/work/notice.json",
      tensorBoardPort: 6006,
      modelParameters: "depth=3",
      address: { host: "n7", port: 5007 },
      apiSocket: "/work/api/socket",
      folders: { checkpoints: "/work/ckpt", output: "/work/results", outputDestination: "hdfs:///out/worker-0" },
    });
    expect(environment).toMatchObject({
      SESSION_ID: "2",
      NUM_AM_RETRIES: "2",
      ATTEMPT_NUMBER: "1",
      TONY_GENERATION: "3",
      TONY_RESTART_REASON: "worker:1 exited with 1",
      TONY_CHECKPOINT_DIR: "hdfs:///ckpt",
      TONY_CHECKPOINT: "step-200",
      TONY_PROGRESS_FILE: "/logs/progress",
      TONY_NOTICE_FILE: "/work/notice.json",
      TB_PORT: "6006",
      MODEL_PARAMS: "depth=3",
      TONY_HOST: "n7",
      TONY_PORT: "5007",
      TONY_API: "/work/api/socket",
      TONY_CHECKPOINT_LOCAL_DIR: "/work/ckpt",
      TONY_OUTPUT_LOCAL_DIR: "/work/results",
      TONY_OUTPUT_DIR: "hdfs:///out/worker-0",
    });
  });

  test("one that came for no reason, and has nothing to resume from, is told neither", () => {
    const environment = environmentOf(jobOf({ worker: 1 }, generic), "worker:0", { restartReason: "", checkpoint: "" });
    expect(environment).not.toHaveProperty("TONY_RESTART_REASON");
    expect(environment).not.toHaveProperty("TONY_CHECKPOINT");
  });

  test("who is counted are the tasks that the job waits for; in the ApplicationMaster's container, those of the role", () => {
    const job = jobOf({ worker: 2, chief: 1, ps: 4 }, { "tony.application.untracked.jobtypes": "ps" });
    const [worker] = job.roles.filter(({ name }) => name === "worker");
    if (worker === undefined) throw new Error("no worker");
    const spec = { ...job, roles: [...job.roles, { ...worker, name: "prep", instances: 1, inMaster: true as const }] };
    expect(environmentOf(spec, "ps:3").TASK_NUM).toBe("3");
    const inMaster = environmentOf(spec, "prep:0");
    expect(inMaster.TASK_NUM).toBe("1");
    expect(inMaster).not.toHaveProperty("TF_CONFIG");
    expect(inMaster).not.toHaveProperty("CLUSTER_SPEC");
  });

  test("each task is a chief of a role that has chiefs alone", () => {
    const job = jobOf({ worker: 2 }, generic);
    const spec = { ...job, roles: job.roles.map((role) => ({ ...role, chief: "all" as const })) };
    expect([environmentOf(spec, "worker:0").IS_CHIEF, environmentOf(spec, "worker:1").IS_CHIEF]).toEqual([
      "true",
      "true",
    ]);
  });

  test("the first start of a later stage is no restart", () => {
    const environment = environmentOf(jobOf({ worker: 1 }, generic), "worker:0", { generation: 2 });
    expect(environment).toMatchObject({ SESSION_ID: "0", TONY_GENERATION: "2" });
    expect(environment).not.toHaveProperty("NUM_AM_RETRIES");
  });

  test("Python's output is not buffered, unless the job says otherwise", () => {
    expect(environmentOf(jobOf({ worker: 1 }, generic), "worker:0").PYTHONUNBUFFERED).toBe("1");
    const own = { ...generic, "tony.worker.envs": "PYTHONUNBUFFERED=0" };
    expect(environmentOf(jobOf({ worker: 1 }, own), "worker:0").PYTHONUNBUFFERED).toBe("0");
    const inherited = { ...generic, "tony.execution.envs": "PYTHONUNBUFFERED=" };
    expect(environmentOf(jobOf({ worker: 1 }, inherited), "worker:0").PYTHONUNBUFFERED).toBe("");
  });

  test("Python's fault handler is the job's to set, unless its progress is watched", () => {
    const own = { ...generic, "tony.execution.envs": "PYTHONFAULTHANDLER=0" };
    expect(environmentOf(jobOf({ worker: 1 }, own), "worker:0").PYTHONFAULTHANDLER).toBe("0");
    const watched = jobOf({ worker: 1 }, { ...own, "tony.task.progress-timeout": "5m" });
    expect(environmentOf(watched, "worker:0").PYTHONFAULTHANDLER).toBe("1");
  });

  test("ports that roles give names: its own each by a variable, and everybody's", () => {
    const spec = jobOf({ worker: 2, ps: 1 }, { ...generic, "tony.worker.ports": "rpc,web-ui", "tony.ps.ports": "rpc" });
    const all = {
      "worker.rpc": ["n1:6000", "n1:6001"],
      "worker.web-ui": ["n1:7000", "n1:7001"],
      "ps.rpc": ["n1:6002"],
    };
    const { TONY_PORTS = "", ...own } = environmentOf(spec, "worker:1");
    expect(JSON.parse(TONY_PORTS)).toEqual(all);
    expect(own).toMatchObject({ TONY_PORT_RPC: "6001", TONY_PORT_WEB_UI: "7001" });
    expect(environmentOf(spec, "ps:0")).toMatchObject({ TONY_PORT_RPC: "6002", TONY_PORTS });
  });

  test("a role that the job does not have is a mistake of ours", () => {
    expect(() => environmentOf(jobOf({ worker: 1 }), "ps:0")).toThrow("the job has no role ps");
  });
});

describe("whose value wins", () => {
  const spec = jobOf({ worker: 1 }, { "tony.execution.envs": "B=program,TASK_INDEX=9" });

  test("the container's < the program's < what is told", () => {
    const inherited = { A: "container", B: "container", PATH: "/bin", GONE: undefined };
    const [environment] = taskProgram(inherited, startOf(spec, "worker:0")).environments;
    expect(environment).toMatchObject({ PATH: "/bin", A: "container", B: "program", TASK_INDEX: "0" });
    expect(environment).not.toHaveProperty("GONE");
  });

  test("MALLOC_ARENA_MAX is taken away", () => {
    const { environments } = taskProgram({ MALLOC_ARENA_MAX: "4" }, startOf(spec, "worker:0"));
    expect(environments[0]).not.toHaveProperty("MALLOC_ARENA_MAX");
  });
});

test("the network interface towards the other nodes is told where nobody has said another", () => {
  const start = { ...startOf(jobOf({ worker: 2 }), "worker:0"), networkInterface: "ib0" };
  const told = { GLOO_SOCKET_IFNAME: "ib0", NCCL_SOCKET_IFNAME: "ib0", HOROVOD_GLOO_IFACE: "ib0" };
  expect(taskProgram({}, start).environments[0]).toMatchObject(told);
  expect(taskProgram({ NCCL_SOCKET_IFNAME: "eth1" }, start).environments[0]).toMatchObject({
    ...told,
    NCCL_SOCKET_IFNAME: "eth1",
  });
  expect(taskProgram({}, startOf(jobOf({ worker: 2 }), "worker:0")).environments[0]).not.toHaveProperty(
    "GLOO_SOCKET_IFNAME",
  );
});

describe("GPUs", () => {
  const spec = jobOf({ worker: 1, ps: 1 }, { "tony.worker.gpus": "1" });

  test("are hidden from a role that has none in a job that has some", () => {
    const hidden = { CUDA_VISIBLE_DEVICES: "", ROCR_VISIBLE_DEVICES: "", HIP_VISIBLE_DEVICES: "" };
    expect(environmentOf(spec, "ps:0")).toMatchObject(hidden);
    expect(environmentOf(spec, "worker:0").CUDA_VISIBLE_DEVICES).toBeUndefined();
  });

  test("are hidden whatever the site calls them", () => {
    const other = jobOf({ worker: 1, ps: 1 }, { "tony.worker.gpus": "1", "tony.gpu-resource-types": "acme.com/a100" });
    expect(environmentOf(other, "ps:0").CUDA_VISIBLE_DEVICES).toBe("");
  });

  test("stay as they are in a job that asks for none: the cluster may not schedule them", () => {
    expect(environmentOf(jobOf({ worker: 1, ps: 1 }), "ps:0").CUDA_VISIBLE_DEVICES).toBeUndefined();
  });

  test("the job's own word goes before that", () => {
    const own = jobOf({ worker: 1, ps: 1 }, { "tony.worker.gpus": "1", "tony.ps.envs": "CUDA_VISIBLE_DEVICES=0" });
    expect(environmentOf(own, "ps:0").CUDA_VISIBLE_DEVICES).toBe("0");
    const all = jobOf(
      { worker: 1, ps: 1 },
      { "tony.worker.gpus": "1", "tony.containers.envs": "CUDA_VISIBLE_DEVICES=1" },
    );
    expect(taskProgram({ CUDA_VISIBLE_DEVICES: "1" }, startOf(all, "ps:0")).environments[0].CUDA_VISIBLE_DEVICES).toBe(
      "1",
    );
  });
});

test("distributed mode fcfs gives no addresses", () => {
  const spec = jobOf({ worker: 2 }, { "tony.application.distributed-mode": "FCFS" });
  const environment = environmentOf(spec, "worker:1");
  expect(environment.DISTRIBUTED_MODE).toBe("FCFS");
  expect(environment).not.toHaveProperty("TF_CONFIG");
  expect(environment).not.toHaveProperty("CLUSTER_SPEC");
});

test("a container of several processes runs the command once for each, and each differs from the others in its ranks alone", () => {
  const spec = jobOf({ worker: 2 }, { "tony.application.framework": "pytorch", "tony.worker.processes": "2" });
  const [first, second, ...further] = processesOf(spec, "worker:1");
  expect(further).toEqual([]);
  const ranks = { RANK: "3", LOCAL_RANK: "3" };
  expect(second).toEqual({ ...first, ...ranks });
  expect(first).toMatchObject({ RANK: "2", WORLD_SIZE: "4", LOCAL_RANK: "2", LOCAL_WORLD_SIZE: "4" });
});

test("a trial of a search has its parameters in its command and environment", () => {
  const keys = {
    "tony.worker.command": "train --lr {{param.lr}} --optimizer {{param.optimizer}} --momentum {{param.momentum}}",
  };
  const start = {
    ...startOf(jobOf({ worker: 3 }, keys), "worker:2"),
    trial: { number: 2, parameters: { lr: 0.1, optimizer: "sgd; ls" } },
  };
  const { command, environments } = taskProgram({}, start);
  expect(command).toBe("train --lr 0.1 --optimizer 'sgd; ls' --momentum ");
  expect(environments[0]).toMatchObject({
    TONY_TRIAL_NUMBER: "2",
    TONY_TRIAL_PARAMS: '{"lr":0.1,"optimizer":"sgd; ls"}',
    TONY_PARAM_LR: "0.1",
    TONY_PARAM_OPTIMIZER: "sgd; ls",
  });
});
