import { expect, test } from "@jest/globals";
import { resourcesFinding } from "../../../client/cluster/resources-finding.ts";

const types = (...names: string[]) => ["memory-mb", "vcores", ...names].map((name) => ({ name, units: "" }));
const maximum = { memoryMiB: 8192, vcores: 4, others: {} };

test("a cluster's resources are well where gpus asks for one of them, or where there are no GPUs", () => {
  const gpuTypes = ["yarn.io/gpu"];
  expect(resourcesFinding(types("yarn.io/gpu"), [], { maximum, gpuTypes })).toEqual({
    subject: "resources",
    state: "well",
    found: "memory-mb, vcores, yarn.io/gpu; largest container 8 GiB, 4 cores; largest free space 0 MiB",
  });
  expect(resourcesFinding(types(), [], { maximum, gpuTypes }).state).toBe("well");
});

test("GPUs under another name are remarked on, with the key that names them", () => {
  const mig = types("nvidia.com/mig-1g.5gb", "nvidia.com/gpu");
  expect(resourcesFinding(mig, [], { maximum, gpuTypes: ["yarn.io/gpu"] })).toMatchObject({
    state: "remark",
    found: expect.stringMatching(/; tony.<role>.gpus asks for yarn.io\/gpu, which this cluster does not have$/),
    remedy: "set tony.gpu-resource-types to nvidia.com/gpu,nvidia.com/mig-1g.5gb in tony-site.xml",
  });
  expect(resourcesFinding(mig, [], { maximum, gpuTypes: ["nvidia.com/gpu"] }).state).toBe("well");
});
