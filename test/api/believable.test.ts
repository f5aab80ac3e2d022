import { describe, expect, it } from "@jest/globals";
import { bounded, unbelievable } from "../../src/api/believable.ts";
import { aRegistration } from "../support/api.ts";

describe("where a task says that it listens", () => {
  it.each(["node-1", "node_1.example.com", "node-1.", "10.0.0.7", "::1", "fe80::1", "7"])("may be %s", (host) => {
    expect(unbelievable(aRegistration({ host }))).toBeUndefined();
  });

  it.each([
    "",
    "node;reboot",
    "$(id)",
    "a b",
    "a'b",
    'a"b',
    "a\nb",
    "-oProxyCommand=x",
    "[::1]",
    "a:1",
    "a,b",
    "{{spec.json}}",
    "x".repeat(256),
  ])("may not be %j, which would be written into other tasks' commands", (host) => {
    expect(unbelievable(aRegistration({ host }))).toContain("its host is not a host name");
  });

  it("has no port that there is not", () => {
    expect(unbelievable(aRegistration({ port: 65_536 }))).toContain("port");
    expect(unbelievable(aRegistration({ ports: { rpc: 70_000 } }))).toContain("port");
    expect(unbelievable(aRegistration({ ports: { rpc: 65_535 } }))).toBeUndefined();
  });
});

describe("what an executor reports", () => {
  const progress = { type: "child-progress", step: 1, atMs: 1 } as const;

  it("has 32 metrics at most, and none whose name or value our own executors would not send", () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`m${at}`, at]));
    expect(Object.keys(bounded({ ...progress, metrics: many }).metrics ?? {})).toHaveLength(32);
    const odd = { loss: 0.5, "a b": 1, ["x".repeat(65)]: 1, "": 1, nan: Number.NaN, big: Number.POSITIVE_INFINITY };
    expect(bounded({ ...progress, metrics: odd }).metrics).toEqual({ loss: 0.5 });
    expect(bounded(progress)).toEqual(progress);
  });

  it("has words of a length that can be kept", () => {
    const long = "x".repeat(100_000);
    const announced = bounded({ type: "service-announced", name: long, url: long });
    expect([announced.name.length, announced.url.length]).toEqual([4_097, 4_097]);
    const { transfer } = bounded({
      type: "transfer",
      transfer: { what: "output", state: "failed", url: long, files: 1, bytes: 1, step: 0, atMs: 1, reason: long },
    });
    expect([transfer.url.length, transfer.reason.length]).toEqual([4_097, 4_097]);
    expect(bounded({ type: "goodbye", reason: "done" })).toEqual({ type: "goodbye", reason: "done" });
  });
});
