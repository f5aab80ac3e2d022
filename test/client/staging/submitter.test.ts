import { spawnSync } from "node:child_process";
import { hostname } from "node:os";
import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { mayBeAtWork, parseSubmitter, thisSubmitter } from "../../../client/staging/submitter.ts";

afterEach(() => {
  jest.restoreAllMocks();
});

describe("who made a staging folder", () => {
  test("is this process, which finds itself again in what it has written", () => {
    const own = { host: hostname(), pid: process.pid };
    expect(thisSubmitter()).toEqual(own);
    expect(parseSubmitter(JSON.stringify({ pageKey: "k", submitter: own, secret: "s" }))).toEqual(own);
  });

  test.each([
    ["null"],
    ['{"secret":"s"}'],
    ['{"submitter":null}'],
    ['{"submitter":"n1"}'],
    ['{"submitter":{"host":"n1"}}'],
    ['{"submitter":{"pid":1}}'],
    ['{"submitter":{"host":1,"pid":1}}'],
    ['{"submitter":{"host":"n1","pid":"1"}}'],
  ])("is not said by %s", (text) => {
    expect(parseSubmitter(text)).toBeUndefined();
  });

  test("is at work where its process runs, and gone where that has ended", () => {
    expect(mayBeAtWork(thisSubmitter())).toBe(true);
    expect(mayBeAtWork({ host: hostname(), pid: spawnSync("true").pid })).toBe(false);
  });

  test("may be at work on a machine where nobody here can look", () => {
    expect(mayBeAtWork({ host: "elsewhere", pid: spawnSync("true").pid })).toBe(true);
  });

  test.each([
    ["EPERM", true],
    ["ESRCH", false],
    ["EINVAL", false],
  ])("is looked for without a signal: what %s says", (code, isAtWork) => {
    const sent = jest.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("no"), { code });
    });
    expect(mayBeAtWork({ host: hostname(), pid: 4_711 })).toBe(isAtWork);
    expect(sent.mock.calls).toEqual([[4_711, 0]]);
  });
});
