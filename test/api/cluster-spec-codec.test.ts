import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { decodeClusterSpec, encodeClusterSpec } from "../../src/api/cluster-spec-codec.ts";
import type { ClusterSpec } from "../../src/job/cluster-spec.ts";
import { formatTaskId } from "../../src/job/task.ts";

const refused = expect.objectContaining({ code: "INVALID_CLUSTER_SPEC" });

function specOf(tasks: number): ClusterSpec {
  const addresses = Array.from({ length: tasks }, (_, index) => ({
    task: formatTaskId("worker", index),
    host: `node-${index % 40}.example.org`,
    port: 20_000 + index,
  }));
  return { generation: 3, tasks: addresses };
}

describe("a cluster spec on its way to the executors", () => {
  test("arrives as it was", () => {
    expect(decodeClusterSpec(encodeClusterSpec(specOf(3)))).toEqual(specOf(3));
  });

  test("keeps the ports that roles give names", () => {
    const ports = { rpc: 20_001, metrics: 20_002 };
    const named = { generation: 1, tasks: [{ task: formatTaskId("worker", 0), host: "a", port: 20_000, ports }] };
    expect(decodeClusterSpec(encodeClusterSpec(named))).toEqual(named);
  });

  test("names the generation of those whom a task joins", () => {
    const joining = { ...specOf(2), gangGeneration: 1 };
    expect(decodeClusterSpec(encodeClusterSpec(joining))).toEqual(joining);
  });

  test("is small even for a large gang", () => {
    expect(encodeClusterSpec(specOf(1_000)).length).toBeLessThan(JSON.stringify(specOf(1_000)).length / 6);
  });

  test.each([
    ["no gzip", Buffer.from("{}")],
    ["cut off", encodeClusterSpec(specOf(3)).subarray(0, 20)],
    ["no spec", gzipSync('{"generation":1}')],
    ["no task's name", encodeClusterSpec({ generation: 1, tasks: [{ task: "worker", host: "a", port: 1 }] })],
  ])("is refused when it is %s", (_, bytes) => {
    expect(() => decodeClusterSpec(bytes)).toThrow(refused);
  });
});
