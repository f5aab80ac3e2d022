import { describe, expect, test } from "@jest/globals";
import { nearest } from "../../src/job/nearest.ts";

describe("the nearest word", () => {
  test.each([
    ["wroker", ["ps", "worker"], "worker"],
    ["owrker", ["ps", "worker"], "worker"],
    ["evalutor", ["evaluator", "worker"], "evaluator"],
    ["Memory", ["memory"], "memory"],
    ["vcore", ["vcores"], "vcores"],
    ["tony.aplication.nmae", ["tony.application.tags", "tony.application.name"], "tony.application.name"],
    ["tony.worker.nodeLabel", ["tony.worker.node-label"], "tony.worker.node-label"],
  ])("forgives a swap, a slip, a letter too few or too many: %s", (word, candidates, meant) => {
    expect(nearest(word, candidates)).toBe(meant);
  });

  test("takes a word that was left off for its whole", () => {
    expect(nearest("stat", ["status", "submit"])).toBe("status");
    expect(nearest("tony.yarn.que", ["tony.yarn.queue"])).toBe("tony.yarn.queue");
    expect(nearest("tony.wor", ["tony.worker.memory"])).toBeUndefined();
    expect(nearest("st", ["status"])).toBeUndefined();
  });

  test("prefers the closer one", () => {
    expect(nearest("tony.ps.memoy", ["tony.ps.gpus", "tony.ps.memory"])).toBe("tony.ps.memory");
  });

  test.each([
    ["zzz", "worker"],
    ["cpus", "gpus"],
    ["tony.worker.cpus", "tony.worker.gpus"],
    ["tony.worker.image", "tony.worker.gpus"],
    ["tony.am.retries", "tony.am.gpus"],
    ["tony.worker.timeout", "tony.worker.command"],
    ["tony.application.owner", "tony.application.name"],
    ["queue", "quota"],
  ])("says nothing where %s could mean anything but %s", (word, candidate) => {
    expect(nearest(word, [candidate])).toBeUndefined();
  });
});
