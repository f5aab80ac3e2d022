import { describe, expect, test } from "@jest/globals";
import { ManagerLink } from "../../../am/scheduler/yarn/manager-link.ts";
import { silentLog } from "../../support/silent-log.ts";

describe("the link to the ResourceManager", () => {
  test("is silent from a heartbeat without an answer until one is answered", () => {
    const link = new ManagerLink(silentLog, "throw");
    link.move("registered");
    expect(link.isSilent).toBe(false);
    link.move("unanswered");
    link.move("unanswered");
    expect(link.isSilent).toBe(true);
    link.move("answered");
    expect(link.isSilent).toBe(false);
  });

  test("is not silent for a heartbeat that was under way when the end was told", () => {
    const link = new ManagerLink(silentLog, "throw");
    link.move("registered");
    link.move("end-told");
    link.move("unanswered");
    link.move("attempt-over");
    expect(link.isSilent).toBe(false);
  });

  test("throws in tests what its table has no row for, and tells of it in production", () => {
    const told: string[] = [];
    const log = { ...silentLog, error: (_event: string, words: string) => void told.push(words) };
    expect(() => new ManagerLink(silentLog, "throw").move("answered")).toThrow("no row for answered in unregistered");
    new ManagerLink(log, "log").move("answered");
    expect(told).toEqual([expect.stringContaining("no row for answered in unregistered")]);
  });
});
