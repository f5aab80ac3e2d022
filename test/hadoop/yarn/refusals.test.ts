import { expect, test } from "@jest/globals";
import { RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import { placementRefusal, resourceRefusal } from "../../../src/hadoop/yarn/refusals.ts";

const refusal = (message: string) =>
  new RemoteError("org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException", message);

test("a refusal says what is given with the nodes there are, and what at most", () => {
  const message =
    "Invalid resource request! Cannot allocate containers as requested resource is greater than maximum allowed allocation. Requested resource type=[yarn.io/gpu], Requested resource=<memory:1024, vCores:1, yarn.io/gpu: 8>, maximum allowed allocation=<memory:8192, vCores:4>, please note that maximum allowed allocation is calculated by scheduler based on maximum resource of registered NodeManagers, which might be less than configured maximum allocation=<memory:16384, vCores:8, yarn.io/gpu: 9223372036854775807>";
  expect(resourceRefusal(refusal(message))).toEqual({
    allowed: { memoryMiB: 8192, vcores: 4, others: {} },
    configured: { memoryMiB: 16384, vcores: 8, others: { "yarn.io/gpu": 2 ** 63 } },
  });
});

test("an amount in a unit of its own is not taken for one of the usual", () => {
  const message = "maximum allowed allocation=<memory:8192, vCores:4, disk: 10Gi, yarn.io/gpu: 2>";
  expect(resourceRefusal(refusal(message))?.allowed?.others).toEqual({ "yarn.io/gpu": 2 });
});

test.each([
  "Invalid resource request, requested memory < 0, or requested memory > max configured, requestedMemory=9000, maxMemory=8192",
  "maximum allowed allocation=<memory:many, vCores:4>",
  "maximum allowed allocation=<memory:1",
])("one that does not say it is one all the same: %s", (message) => {
  expect(resourceRefusal(refusal(message))).toStrictEqual({});
});

test("no other error is one", () => {
  const label = "org.apache.hadoop.yarn.exceptions.InvalidLabelResourceRequestException";
  expect(resourceRefusal(new RemoteError(label, "no such label"))).toBeUndefined();
  expect(resourceRefusal(new Error("away"))).toBeUndefined();
});

test("a ResourceManager that places no constrained containers says so, and no other error does", () => {
  const words = "Scheduler cannot handle placement constraints";
  expect(placementRefusal(new RemoteError("org.apache.hadoop.yarn.exceptions.YarnException", words))).toBe(true);
  expect(placementRefusal(new RemoteError("org.apache.hadoop.yarn.exceptions.YarnException", "no"))).toBe(false);
  expect(placementRefusal(new Error(words))).toBe(false);
});
