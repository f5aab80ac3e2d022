import { expect, test } from "@jest/globals";
import { idleRemedy, idleWords } from "../../src/job/idle.ts";

const idle = { tasks: ["worker:0"], sinceMs: 60_000, untilMs: 660_000, cpuMs: 0, gpus: 0 };

test.each([
  [idle, "worker:0 used no CPU for 10 min"],
  [{ ...idle, cpuMs: 1 }, "worker:0 used 0.1 s of CPU in 10 min"],
  [{ ...idle, cpuMs: 1_200 }, "worker:0 used 1.2 s of CPU in 10 min"],
  [{ ...idle, gpus: 1 }, "worker:0 used no CPU for 10 min, and its GPUs were at 0% in every sample"],
  [
    { ...idle, tasks: ["worker:0", "worker:1", "worker:2"], gpus: 3 },
    "worker:0 to worker:2 used no CPU for 10 min, and their GPUs were at 0% in every sample",
  ],
])("%j is told as: %s", (one, words) => {
  expect(idleWords(one)).toBe(words);
});

test("where its programs stand says why", () => {
  expect(idleRemedy("application_1_0001")).toBe("tony-ts stacks application_1_0001");
});
