import { expect, test } from "@jest/globals";
import { HeartbeatFailures } from "../../../am/scheduler/yarn/heartbeat-failures.ts";
import { RpcConnectionError, RpcProtocolError } from "../../../src/hadoop/rpc/errors.ts";
import { RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";

const yarn = "org.apache.hadoop.yarn.exceptions";
const strange = new RemoteError("org.example.Strange", "no");
const gone = new RpcConnectionError("gone", { code: "RPC_CONNECTION_LOST" });

function failuresAt() {
  const clock = { atMs: 0, nowMs: () => clock.atMs };
  const failures = new HeartbeatFailures(clock);
  return {
    failures,
    kindAt: (atMs: number, error: unknown) => {
      clock.atMs = atMs;
      return failures.meaningOf(error).kind;
    },
  };
}

test("a container that is too large, with what the ResourceManager allows", () => {
  const words = "maximum allowed allocation=<memory:1024, vCores:1>, please note";
  const error = new RemoteError(`${yarn}.InvalidResourceRequestException`, words);
  expect(failuresAt().failures.meaningOf(error)).toEqual({
    kind: "too-large",
    message: expect.stringContaining(words),
    refusal: { allowed: { memoryMiB: 1024, vcores: 1, others: {} } },
  });
});

test.each([
  [
    "a ResourceManager that takes no constraints",
    "constraints-refused",
    new RemoteError(
      `${yarn}.YarnException`,
      "but the configured yarn.resourcemanager.placement-constraints.handler cannot handle placement constraints. Rejecting this allocate operation",
    ),
  ],
  [
    "a label that its queue may not use",
    "ask-refused",
    new RemoteError(`${yarn}.InvalidLabelResourceRequestException`, "Invalid label resource request"),
  ],
])("%s refuses it ever again: %s", (_case, type, error) => {
  const message = expect.stringContaining(error.javaMessage);
  expect(failuresAt().failures.meaningOf(error)).toEqual({ kind: "refused", event: { type, message } });
});

test("an unknown exception is hopeless when nothing else was heard for five minutes", () => {
  const { failures, kindAt } = failuresAt();
  expect([0, 299_999].map((atMs) => kindAt(atMs, strange))).toEqual(["away", "away"]);
  failures.end();
  expect([300_000, 599_999].map((atMs) => kindAt(atMs, strange))).toEqual(["away", "away"]);
  expect(kindAt(600_000, strange)).toBe("hopeless");
});

test("a ResourceManager that cannot be reached is away, however long, and was away in between", () => {
  const { kindAt } = failuresAt();
  expect([0, 3_600_000].map((atMs) => kindAt(atMs, gone))).toEqual(["away", "away"]);
  expect(kindAt(3_600_001, strange)).toBe("away");
  expect(kindAt(3_800_000, gone)).toBe("away");
  expect(kindAt(3_900_001, strange)).toBe("away");
});

test("so is one whose answer breaks off or cannot be read, which is no exception of its own", () => {
  const { kindAt } = failuresAt();
  expect([0, 3_600_000].map((atMs) => kindAt(atMs, new RpcProtocolError("no answer")))).toEqual(["away", "away"]);
});
