import { writeFileSync } from "node:fs";
import { describe } from "@jest/globals";
import { describeContainers, SCRIPTS } from "../support/scheduler-contract.ts";
import { ApplicationService } from "./application-service.ts";
import { VirtualClock } from "./clock.ts";
import { NodeService } from "./node-service.ts";
import { Process } from "./process.ts";
import { Random } from "./random.ts";
import { type Call, ModelScheduler } from "./scheduler.ts";
import { Yarn } from "./yarn.ts";

const EXIT_STATUS: Readonly<Record<string, number>> = { [SCRIPTS.exits]: 7, [SCRIPTS.isKilled]: 137 };

describe.each([0, 0.2])("where that part of all answers is lost: %s", (lost) => {
  describeContainers("the simulation's YARN", async () => {
    const clock = new VirtualClock();
    const random = new Random(1);
    const yarn = new Yarn(clock, random, 3, 4_096);
    const losesAnswer = (call: Call) => (call === "allocate" || call === "stop") && random.chance(lost);
    const scheduler = new ModelScheduler({
      attempt: 1,
      process: new Process(clock, 0),
      random,
      yarn,
      resourceManager: new ApplicationService(yarn),
      nodeManagers: new NodeService({
        clock,
        random,
        yarn,
        refusals: 0,
        losesAnswer,
        failed: () => {},
        run: (_container, { containerId, environment: { OUTPUT = "" }, commands: [script = ""] }) => {
          if (script.replaceAll("\\$", "$") === SCRIPTS.says) writeFileSync(OUTPUT, "");
          const exitStatus = EXIT_STATUS[script.replaceAll("\\$", "$")];
          if (exitStatus !== undefined) yarn.complete(containerId, exitStatus, "");
        },
        vacate: () => {},
      }),
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
