import { beforeEach, describe, expect, test } from "@jest/globals";
import { ManagerReports } from "../../../client/following/manager-reports.ts";
import { HadoopError } from "../../../src/hadoop/errors.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { masterSaying } from "../speaking-master.ts";
import { type RecordedContext, recordedContext } from "../support.ts";
import { followedInto } from "./follow-options.ts";

const silent = new HadoopError("connection refused", { code: "RPC_CONNECT_FAILED", retryable: true });
const forgotten = new HadoopError("no such application", { code: "APPLICATION_NOT_FOUND" });
const minute = 60_000;

let context: RecordedContext;
let answer: () => ApplicationReport;
let reports: ManagerReports;
beforeEach(() => {
  context = recordedContext({});
  answer = () => aReport();
  reports = new ManagerReports({
    id: aReport().id,
    applications: aPlace({ report: async () => answer() }),
    connect: () => masterSaying(aJobStatus),
    ...followedInto(context),
  });
});

const failing = (error: Error) => () => {
  throw error;
};

describe("a ResourceManager that does not answer", () => {
  test("is waited for ten minutes, and its silences do not add up", async () => {
    for (let silence = 0; silence < 3; silence += 1) {
      answer = failing(silent);
      for (let passed = 0; passed <= 9; passed += 1) {
        expect(await reports.ask(false)).toBeUndefined();
        context.clock.nowMs += minute;
      }
      expect(reports.areSilent).toBe(true);
      answer = () => aReport();
      expect(await reports.ask(false)).toEqual(aReport());
      expect(reports.areSilent).toBe(false);
    }
  });

  test("is given up after that, unless the AM still says how the job is", async () => {
    answer = failing(silent);
    expect(await reports.ask(false)).toBeUndefined();
    context.clock.nowMs += 10 * minute + 1;
    expect(await reports.ask(true)).toBeUndefined();
    await expect(reports.ask(false)).rejects.toMatchObject({ code: "CONTACT_LOST", cause: silent });
  });

  test("is told of once it has lasted, with what it says", async () => {
    answer = failing(silent);
    await reports.ask(false);
    context.clock.nowMs += 5_000;
    await reports.ask(false);
    expect(context.out.text + context.err.text).toBe("");
    context.clock.nowMs += 1;
    await reports.ask(false);
    expect(context.out.text + context.err.text).toMatch(/has not answered for 5 s; .*: connection refused\n/);
  });

  test("is none that does not know the job", async () => {
    answer = failing(forgotten);
    await expect(reports.ask(true)).rejects.toMatchObject({
      code: "CONTACT_LOST",
      message: expect.stringContaining("the ResourceManager no longer knows it"),
    });
  });
});
