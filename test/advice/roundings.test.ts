import { expect, test } from "@jest/globals";
import { roundingOf, roundingsOf, usualRoundings } from "../../src/advice/roundings.ts";
import { Configuration } from "../../src/hadoop/conf/configuration.ts";

const fair = {
  "yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler",
};
const configured = (hadoop: Readonly<Record<string, string>>) => new Configuration().withValues(hadoop);

test("a cluster that says nothing rounds to gibibytes and cores", () => {
  expect(roundingsOf(configured({}))).toEqual(usualRoundings);
  expect(usualRoundings).toEqual({ memoryMiB: { least: 1024, step: 1024 }, vcores: { least: 1, step: 1 } });
});

test.each([
  ["by the scheduler's own key", "memory-mb", { "yarn.scheduler.minimum-allocation-mb": "512" }, 512, 512],
  ["of cores", "vcores", { "yarn.scheduler.minimum-allocation-vcores": "2" }, 2, 2],
  [
    "first by that of the resource type",
    "memory-mb",
    {
      "yarn.scheduler.minimum-allocation-mb": "512",
      "yarn.resource-types.memory-mb.minimum-allocation": "256",
    },
    256,
    256,
  ],
  ["of another type by its own key alone", "yarn.io/gpu", { "yarn.scheduler.minimum-allocation-mb": "512" }, 7, 7],
  ["of another type", "yarn.io/gpu", { "yarn.resource-types.yarn.io/gpu.minimum-allocation": "2" }, 2, 2],
  [
    "by FairScheduler in steps of its own",
    "memory-mb",
    { ...fair, "yarn.scheduler.increment-allocation-mb": "64" },
    7,
    64,
  ],
  ["by FairScheduler in usual steps", "memory-mb", { ...fair, "yarn.scheduler.minimum-allocation-mb": "512" }, 512, 7],
  [
    "whose steps another scheduler does not have",
    "memory-mb",
    { "yarn.scheduler.increment-allocation-mb": "64" },
    7,
    7,
  ],
  [
    "by CapacityScheduler, which is named, without steps",
    "memory-mb",
    {
      "yarn.resourcemanager.scheduler.class":
        "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler",
      "yarn.scheduler.increment-allocation-mb": "64",
    },
    7,
    7,
  ],
  ["by no number that is none", "memory-mb", { "yarn.scheduler.minimum-allocation-mb": "0" }, 7, 7],
] as const)("what is asked for is rounded %s", (_, type, hadoop, least, step) => {
  expect(roundingOf(configured(hadoop), type, 7)).toEqual({ least, step });
});
