import { expect, test } from "@jest/globals";
import { SocketGpuClaims } from "../../../../am/scheduler/local/gpu-claims.ts";

test("a job claims as many GPUs as it wants of those that are free, the first ones, and what it gives back is free again", async () => {
  const prefix = `tony-ts-test-claims-${process.pid}`;
  const [one, other] = [new SocketGpuClaims(prefix), new SocketGpuClaims(prefix)];
  const gpus = ["0", "1", "2"];
  expect(await one.claim(gpus, 1)).toEqual(["0"]);
  expect(await other.claim(gpus, 3)).toEqual(["1", "2"]);
  expect(await one.claim(["1", "2"], 1)).toEqual([]);
  other.giveBack(["2"]);
  expect(await one.claim(["1", "2"], 2)).toEqual(["2"]);
  one.giveBack(["0", "2"]);
  other.giveBack(["1"]);
});
