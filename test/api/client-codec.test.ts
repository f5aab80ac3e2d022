import { describe, expect, test } from "@jest/globals";
import { followMessage } from "../../src/api/client-codec.ts";

describe("what an AM tells those who follow it", () => {
  test.each([
    { type: "status", attempt: 2, status: Buffer.from("{}") },
    { type: "outcome", attempt: 1, outcome: Buffer.from("{}") },
  ] as const)("$type goes over the wire as it is", (message) => {
    expect(followMessage.deserialize(followMessage.serialize(message))).toEqual(message);
  });

  test("what a newer AM adds is unknown, not a status", () => {
    expect(followMessage.deserialize(followMessage.serialize({ type: "unknown", attempt: 3 }))).toEqual({
      type: "unknown",
      attempt: 3,
    });
  });
});
