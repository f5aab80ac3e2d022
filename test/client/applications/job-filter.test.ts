import { describe, expect, test } from "@jest/globals";
import type { Applications } from "../../../client/applications/applications.ts";
import { chooseJobs, type JobFilter, ownJobs } from "../../../client/applications/job-filter.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import type { ApplicationFilter } from "../../../src/hadoop/yarn/submission.ts";
import { aReport } from "../application-report.ts";
import { aPlace } from "../place.ts";

const jobs: readonly ApplicationReport[] = [
  aReport({ id: "application_1_0001", name: "bert-large", state: "RUNNING" }),
  aReport({ id: "application_1_0002", name: "bert", state: "ACCEPTED" }),
  aReport({ id: "application_1_0003", name: "resnet", state: "FINISHED", finalStatus: "SUCCEEDED" }),
  aReport({ id: "application_1_0004", name: "BERT", state: "FINISHED", finalStatus: "FAILED" }),
  aReport({ id: "application_1_0005", name: "bert", state: "FAILED", finalStatus: "FAILED" }),
];

/** The last numbers of those chosen, and what the place was asked for. */
async function chosen(
  changes: Partial<JobFilter>,
  there = jobs,
  place: Partial<Applications> = {},
): Promise<{ numbers: number[]; asked: ApplicationFilter }> {
  let asked: ApplicationFilter = {};
  const reports = async (filter: ApplicationFilter) => {
    asked = filter;
    return there.filter(({ state }) => filter.states?.includes(state) ?? true);
  };
  const found = await chooseJobs(aPlace({ reports, ...place }), { ...ownJobs, ...changes });
  return { numbers: found.map(({ id }) => Number(id.slice(-4))), asked };
}

describe("choosing jobs", () => {
  test("the caller's own that run, unless told otherwise", async () => {
    const { numbers, asked } = await chosen({});
    expect(numbers).toEqual([1, 2]);
    expect(asked).toMatchObject({ users: ["ada"], types: ["TONY"] });
  });

  test("by what became of them: a job that its AM failed is FINISHED to YARN", async () => {
    expect((await chosen({ states: ["failed"] })).numbers).toEqual([4, 5]);
    expect((await chosen({ states: ["succeeded", "running"] })).numbers).toEqual([1, 3]);
    expect((await chosen({ all: true })).numbers).toEqual([1, 2, 3, 4, 5]);
    expect((await chosen({ all: true, states: ["failed"] })).numbers).toEqual([4, 5]);
  });

  test("in all of YARN's states of it", async () => {
    const statesOf = async (...states: JobFilter["states"] & {}) => (await chosen({ states })).asked.states;
    expect(await statesOf("waiting")).toEqual(["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED"]);
    expect(await statesOf("killed", "failed")).toEqual(["FINISHED", "KILLED", "FAILED"]);
    const killed = aReport({ id: "application_1_0006", state: "FINISHED", finalStatus: "KILLED" });
    const odd = aReport({ id: "application_1_0007", state: "FINISHED", finalStatus: "UNDEFINED" });
    expect((await chosen({ states: ["killed"] }, [killed, odd])).numbers).toEqual([6]);
    expect((await chosen({ states: ["failed"] }, [killed, odd])).numbers).toEqual([7]);
    const several = aReport({ id: "application_1_0008", state: "FINISHED", finalStatus: "ENDED" });
    expect((await chosen({ states: ["succeeded"] }, [several, odd])).numbers).toEqual([8]);
  });

  test("by a part of the name, in any case of letters", async () => {
    for (const name of ["bert", "BERT"]) expect((await chosen({ all: true, name })).numbers).toEqual([1, 2, 4, 5]);
  });

  test("everybody's in a queue, or one user's there", async () => {
    const { asked } = await chosen({ queue: "ml" });
    expect(asked).toMatchObject({ queues: ["ml"] });
    expect(asked).not.toHaveProperty("users");
    expect((await chosen({ queue: "ml", user: "bob" })).asked).toMatchObject({ queues: ["ml"], users: ["bob"] });
  });

  test("everybody's", async () => {
    const { asked } = await chosen({ allUsers: true });
    expect(asked).toMatchObject({ types: ["TONY"] });
    expect(asked).not.toHaveProperty("users");
  });

  test("by when they were submitted, also where a place does not look at that", async () => {
    const there = [1, 2, 3].map((n) => aReport({ id: `application_1_000${n}`, startTimeMs: n * 1000 }));
    const { numbers, asked } = await chosen({ submittedMs: { from: 2000, to: 2999 } }, there);
    expect(numbers).toEqual([2]);
    expect(asked).toMatchObject({ startedMs: { from: 2000, to: 2999 } });
    expect((await chosen({ submittedMs: { from: 1000, to: 2000 } }, there)).numbers).toEqual([1, 2]);
    expect((await chosen({ submittedMs: { to: 2000 } }, there)).asked).toMatchObject({ startedMs: { to: 2000 } });
    expect((await chosen({}, there)).asked).not.toHaveProperty("startedMs");
  });

  test("of a queue that has others below it also theirs", async () => {
    const there = ["root.ml.train", "serve", "root.etl", "root.ml"].map((queue, index) =>
      aReport({ id: `application_1_000${index}`, queue }),
    );
    const queuesBelow = async () => ["root.ml", "root.ml.train", "root.ml.serve"];
    const { numbers, asked } = await chosen({ queue: "ml" }, there, { queuesBelow });
    expect(numbers).toEqual([0, 1, 3]);
    expect(asked.queues).toEqual(["root.ml", "ml", "root.ml.train", "train", "root.ml.serve", "serve"]);
  });

  test.each([
    ["ml", [1, 2, 3]],
    ["root.ml", [1, 3]],
    ["root.test.ml", [2, 3]],
    ["root.mll", []],
  ])("a queue by its name or by its path: %s", async (queue, expected) => {
    const { numbers, asked } = await chosen({ queue }, [
      aReport({ id: "application_1_0001", queue: "root.ml" }),
      aReport({ id: "application_1_0002", queue: "root.test.ml" }),
      aReport({ id: "application_1_0003", queue: "ml" }),
    ]);
    expect(numbers).toEqual(expected);
    expect(asked.queues).toContain(queue);
  });
});
