import { expect, test } from "@jest/globals";
import { environmentOf, jobOf, processesOf } from "./support.ts";

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
