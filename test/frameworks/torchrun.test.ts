import { describe, expect, test } from "@jest/globals";
import { environmentOf, jobOf, processesOf, startOf } from "./support.ts";

test("torchrun's agents meet at the first worker's port, and each starts the processes of its container itself", () => {
  const spec = jobOf({ worker: 2 }, { "tony.application.framework": "torchrun", "tony.worker.processes": "3" });
  expect(processesOf(spec, "worker:0")).toHaveLength(1);
  expect(environmentOf(spec, "worker:1", { hosts: ["n1", "n2"] })).toMatchObject({
    PET_NNODES: "2",
    PET_NPROC_PER_NODE: "3",
    PET_NODE_RANK: "1",
    PET_RDZV_BACKEND: "c10d",
    PET_RDZV_ENDPOINT: "n1:5000",
    PET_RDZV_ID: "generation-1",
    PET_RDZV_CONF: "is_host=false",
    PET_LOCAL_ADDR: "n2",
  });
  expect(environmentOf(spec, "worker:0").PET_RDZV_CONF).toBe("is_host=true");
});

describe("torchrun with as many nodes as there are", () => {
  const keys = {
    "tony.application.framework": "torchrun",
    "tony.worker.min-instances": "2",
    "tony.am.retry-count": "3",
  };
  const spec = jobOf({ worker: 4 }, keys);

  test("knows from how many to how many, waits for a container's time, and gives ranks as nodes meet", () => {
    const told = environmentOf(spec, "worker:1");
    expect(told).toMatchObject({
      PET_NNODES: "2:4",
      PET_RDZV_CONF: "is_host=false,join_timeout=3600,last_call_timeout=10",
      TORCH_DISABLE_SHARE_RDZV_TCP_STORE: "1",
    });
    expect(told).not.toHaveProperty("PET_NODE_RANK");
  });

  test("endures as many losses of others as the job, unless the job says how many", () => {
    expect(environmentOf(spec, "worker:1").PET_MAX_RESTARTS).toBe("13");
    const counted = jobOf({ worker: 4 }, { ...keys, "tony.worker.retry-count": "5" });
    expect(environmentOf(counted, "worker:1").PET_MAX_RESTARTS).toBe("15");
    const own = jobOf({ worker: 4 }, { ...keys, "tony.worker.envs": "PET_MAX_RESTARTS=2" });
    expect(environmentOf(own, "worker:1").PET_MAX_RESTARTS).toBe("2");
  });

  test("meets under one name, whenever a task joins the others", () => {
    const { tasks } = startOf(spec, "worker:3").cluster ?? { tasks: [] };
    const cluster = { generation: 7, gangGeneration: 2, tasks };
    expect(environmentOf(spec, "worker:3", { cluster }).PET_RDZV_ID).toBe("generation-2");
  });

  test("meets at the first worker, though others are missing", () => {
    const { tasks } = startOf(spec, "worker:3").cluster ?? { tasks: [] };
    const cluster = { generation: 1, tasks: tasks.filter(({ task }) => task === "worker:0" || task === "worker:3") };
    expect(environmentOf(spec, "worker:3", { cluster })).toMatchObject({
      PET_RDZV_ENDPOINT: "n1:5000",
      PET_NNODES: "2:4",
    });
  });
});
