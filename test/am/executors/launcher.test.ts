import { expect, test } from "@jest/globals";
import { Launcher } from "../../../am/executors/launcher.ts";
import { aJobFile } from "../../support/job-file.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";

test("the container of every task says who may see the job and who may end it, and what other systems' clients find", () => {
  const launcher = new Launcher({
    job: aJobFile({
      spec: aJobSpec({ roles: [aRole("worker", 1)], viewAcl: "ada,bob ml", modifyAcl: "ada" }),
    }),
    attempt: 1,
    masterAddress: "n0:1",
    credentialsOf: () => new Uint8Array(0),
    memoryMiBOf: () => undefined,
    outletVariables: { MLFLOW_RUN_ID: "r$1" },
    memoryEnforced: false,
  });
  const { acls, environment } = launcher.command({ containerId: "c1", task: "worker:0", generation: 1 });
  expect(acls).toEqual({ viewers: "ada,bob ml", modifiers: "ada" });
  // The shell of YARN's launch script would expand it.
  expect(environment).toMatchObject({ MLFLOW_RUN_ID: "r\\$1", TONY_APPLICATION_ID: "application_1_0001" });
  // Only in a container that has had another task before its logs have names of their own.
  const inHandedOver = launcher.variables({ containerId: "c1", task: "worker:0", generation: 1 });
  expect([inHandedOver.TONY_LOG_PREFIX, environment.TONY_LOG_PREFIX]).toEqual(["worker-0.", undefined]);
});
