import { describe, expect, test } from "@jest/globals";
import { gpusOf, gpuTypesOf, isGpu, isPlainGpu } from "../../src/job/gpus.ts";
import { aJobSpec, aRole } from "../support/job-spec.ts";

const amount = (others: Readonly<Record<string, number>>) => ({ memoryMiB: 512, vcores: 1, others });

describe("a resource type counts GPUs", () => {
  test.each(["yarn.io/gpu", "nvidia.com/gpu", "amd.com/gpu", "gpu", "gpus", "nvidia.com/mig-1g.5gb", "mig-3g.40gb.me"])(
    "that is called %s",
    (type) => {
      expect(isGpu(type)).toBe(true);
    },
  );

  test("that the site names, whatever it is called", () => {
    expect(isGpu("acme.com/a100")).toBe(false);
    expect(isGpu("acme.com/a100", ["acme.com/a100"])).toBe(true);
  });

  test.each(["yarn.io/fpga", "yarn.io/gpu-memory", "acme.com/gpu.shares", "migrations"])("but %s does not", (type) => {
    expect(isGpu(type)).toBe(false);
  });
});

test("a profile of MIG keeps its name: it matters which", () => {
  expect(["nvidia.com/gpu", "nvidia.com/mig-1g.5gb"].map(isPlainGpu)).toEqual([true, false]);
});

test("GPUs of every type are added up, and nothing else", () => {
  const others = { "yarn.io/gpu": 1, "nvidia.com/mig-1g.5gb": 2, "acme.com/a100": 4, "yarn.io/fpga": 8 };
  expect(gpusOf(others)).toBe(3);
  expect(gpusOf(others, ["acme.com/a100"])).toBe(7);
});

test("a job's types are the site's, and those that it asks for by name", () => {
  const role = aRole("worker", 1, { resource: amount({ "nvidia.com/gpu": 1, "yarn.io/fpga": 1 }) });
  expect(gpuTypesOf(aJobSpec({ gpuTypes: ["acme.com/a100"], roles: [role] }))).toEqual([
    "acme.com/a100",
    "nvidia.com/gpu",
  ]);
});
