import { expect, test } from "@jest/globals";
import { jobOf, processesOf } from "./support.ts";

test("JAX's processes are numbered over all containers, and process 0 is the coordinator", () => {
  const spec = jobOf({ worker: 2 }, { "tony.application.framework": "jax", "tony.worker.processes": "2" });
  const told = [0, 1].flatMap((index) => processesOf(spec, `worker:${index}`, ["n1", "n2"]));
  expect(told.map(({ JAX_PROCESS_ID }) => JAX_PROCESS_ID)).toEqual(["0", "1", "2", "3"]);
  expect(told[3]).toMatchObject({ JAX_NUM_PROCESSES: "4", JAX_COORDINATOR_ADDRESS: "n1:5000" });
});
