import { describe, expect, it } from "@jest/globals";
import { toldReason } from "../../../am/clients/client-calls.ts";

describe("why a job is ended", () => {
  const owner = "alice";

  it.each([
    ["alice", "killed by alice from node-1", "killed by alice from node-1"],
    ["bob", "killed by bob from node-1", "killed by bob from node-1"],
    ["bob", "killed by alice from node-1", "killed by alice from node-1, by bob"],
    ["bob", "killed by bob's friend", "killed by bob's friend, by bob"],
  ])("says who did it: %s, who says %p", (user, reason, told) => {
    expect(toldReason(reason, { user, owner })).toBe(told);
  });

  it("is one line of some thousand letters, whatever is sent", () => {
    const told = toldReason(`enough\n  worker:0 failed\u2028really${"x".repeat(250_000)}`, { user: "bob", owner });
    expect(told).toMatch(/^enough {3}worker:0 failed reallyx+…, by bob$/);
    expect(told.length).toBeLessThan(5_000);
  });
});
