import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { thisMachine, usableGpus } from "../src/machine.ts";

describe("the GPUs of this machine", () => {
  const sources = { listed: () => undefined, devices: () => ["null", "nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm"] };

  test("are those that nvidia-smi lists", () => {
    const PATH = `${fileURLToPath(new URL("fixtures/bin", import.meta.url))}:${process.env.PATH}`;
    expect(thisMachine({ PATH }).gpus).toEqual(["0", "1", "2"]);
  });

  test("are counted by their device files where there is no nvidia-smi, and numbered as CUDA does", () => {
    expect(usableGpus(undefined, sources)).toEqual(["0", "1"]);
    expect(usableGpus(undefined, { listed: () => "No devices were found", devices: () => ["nvidia0"] })).toEqual([]);
  });

  test.each([
    ["2,3", ["2", "3"]],
    ["GPU-1a, GPU-2b", ["GPU-1a", "GPU-2b"]],
    ["0,-1,1", ["0"]],
    ["", []],
    ["-1", []],
  ])("are bounded by CUDA_VISIBLE_DEVICES=%s", (visible, usable) => {
    expect(usableGpus(visible, sources)).toEqual(usable);
  });
});

test("memory and cores are counted too", () => {
  const { memoryMiB, vcores } = thisMachine({ CUDA_VISIBLE_DEVICES: "" });
  expect(memoryMiB).toBeGreaterThan(0);
  expect(vcores).toBeGreaterThan(0);
});
