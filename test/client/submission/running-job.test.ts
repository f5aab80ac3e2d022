import { describe, expect, test } from "@jest/globals";
import { runningJob, takenBefore } from "../../../client/submission/running-job.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import type { ApplicationFilter } from "../../../src/hadoop/yarn/submission.ts";
import { aReport } from "../application-report.ts";

const job = (number: number, startTimeMs: number) =>
  aReport({ id: `application_1795305600000_${String(number).padStart(4, "0")}`, startTimeMs });

async function firstOf(id: string, unfinished: readonly ApplicationReport[]) {
  const asked: ApplicationFilter[] = [];
  const reports = async (filter: ApplicationFilter) => {
    asked.push(filter);
    return [...unfinished];
  };
  const first = await takenBefore(id, "nightly", { user: "ada", reports });
  expect(asked).toEqual([
    { tags: ["nightly"], users: ["ada"], states: ["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING"] },
  ]);
  return first?.id;
}

test("of several jobs with one tag that have not ended the first one is followed", async () => {
  const reports = async () => [job(3, 3_000), job(1, 1_000), job(2, 2_000)];
  expect((await runningJob("nightly", { user: "ada", reports }))?.id).toBe("application_1795305600000_0001");
  expect(await runningJob("nightly", { user: "ada", reports: async () => [] })).toBeUndefined();
});

describe("of several submissions with one tag at the same moment", () => {
  const early = job(12, 1_000);
  const late = job(11, 1_001);

  test("the one that was taken first stays, whoever got the earlier id", async () => {
    expect(await firstOf(early.id, [late, early])).toBeUndefined();
    expect(await firstOf(late.id, [late, early])).toBe(early.id);
  });

  test("the lower id is the first of those that were taken in one millisecond", async () => {
    const [a, b] = [job(9_999, 1_000), job(10_000, 1_000)];
    expect(await firstOf(a.id, [b, a])).toBeUndefined();
    expect(await firstOf(b.id, [b, a])).toBe(a.id);
  });

  test("one that has ended meanwhile gives way to nobody", async () => {
    expect(await firstOf(late.id, [early])).toBeUndefined();
  });
});
