import { describe } from "@jest/globals";
import { describeContainers, SCRIPTS } from "../support/scheduler-contract.ts";
import { Application } from "./application.ts";
import { ApplicationService } from "./application-service.ts";
import { VirtualClock } from "./clock.ts";
import { Cluster } from "./cluster.ts";
import { NodeService } from "./node-service.ts";
import { Process } from "./process.ts";
import { Random } from "./random.ts";
import { type Call, ModelScheduler } from "./scheduler.ts";

const EXIT_STATUS: Readonly<Record<string, number>> = { [SCRIPTS.exits]: 7, [SCRIPTS.isKilled]: 137 };

describe.each([0, 0.2])("where that part of all answers is lost: %s", (lost) => {
  describeContainers("the simulation's YARN", async () => {
    const clock = new VirtualClock();
    const random = new Random(1);
    const application = new Application({
      id: "application_1_0001",
      clock,
      random,
      cluster: new Cluster(clock, random, { nodes: 3, capacityMiB: 4_096 }),
      surplus: 0,
      completionDelayMs: 1_000,
      lateNodes: 0,
      completed: () => {},
    });
    const losesAnswer = (call: Call) => (call === "allocate" || call === "stop") && random.chance(lost);
    const scheduler = new ModelScheduler({
      attempt: 1,
      process: new Process(clock, 0),
      random,
      application,
      resourceManager: new ApplicationService(application),
      nodeManagers: new NodeService({
        clock,
        random,
        application,
        refusals: 0,
        losesAnswer,
        failed: () => {},
        run: (_container, { containerId, commands: [script = ""] }) => {
          const exitStatus = EXIT_STATUS[script.replaceAll("\\$", "$")];
          if (exitStatus !== undefined) application.complete(containerId, exitStatus, "");
        },
      }),
      isReached: () => true,
      losesAnswer,
      settled: () => {},
    });
    let isOpen = true;
    void (async () => {
      while (isOpen) {
        clock.advance();
        await new Promise(setImmediate);
      }
    })();
    return {
      scheduler,
      dispose: async () => {
        isOpen = false;
      },
    };
  });
});
