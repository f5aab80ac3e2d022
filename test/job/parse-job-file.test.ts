import { expect, test } from "@jest/globals";
import type { JobFile, NodeSnapshot } from "../../src/job/job-file.ts";
import { parseJobFile } from "../../src/job/parse-job-file.ts";
import { aJobSpec } from "../support/job-spec.ts";

function jobFile(nodes: readonly unknown[]): string {
  const job: Omit<JobFile, "nodes"> = {
    jobFileVersion: 1,
    build: "test",
    applicationId: "application_1795305600000_0001",
    user: "ada",
    spec: aJobSpec(),
    stagingUrl: "hdfs://nn/user/ada/.tony-ts/application_1795305600000_0001",
    files: { master: [], all: [], byRole: {} },
    node: "node",
    hadoop: {},
    sharedLabels: [],
    resourceTypes: [{ name: "memory-mb", units: "Mi" }],
  };
  return JSON.stringify({ ...job, nodes });
}

const place = { nodeId: "n:8041", host: "n", rack: "/r", labels: [] };

test("takes what the cluster told of its nodes as it is: less than nothing free, or nothing told", () => {
  const total = { memoryMiB: 8192, vcores: 2, others: {} };
  const nodes: NodeSnapshot[] = [{ ...place, free: { ...total, vcores: -5 }, total }, place];
  expect(parseJobFile(jobFile(nodes)).nodes).toEqual(nodes);
});

test("what we write ourselves is as it should be, or the file is damaged", () => {
  expect(() => parseJobFile(jobFile([{ ...place, labels: "gpu" }]))).toThrow(/nodes\[0\]\.labels must be a list/);
});
