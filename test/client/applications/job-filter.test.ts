import { describe, expect, test } from "@jest/globals";
import { chooseJobs, type JobFilter } from "../../../client/applications/job-filter.ts";
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
): Promise<{ numbers: number[]; asked: ApplicationFilter }> {
  let asked: ApplicationFilter = {};
  const reports = async (filter: ApplicationFilter) => {
    asked = filter;
    return there.filter(({ state }) => filter.states?.includes(state) ?? true);
  };
  const filter = { all: false, states: undefined, name: undefined, queue: undefined, user: undefined, ...changes };
  const found = await chooseJobs(aPlace({ reports }), filter);
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
  });

  test("by a part of the name, in any case of letters", async () => {
    expect((await chosen({ all: true, name: "bert" })).numbers).toEqual([1, 2, 4, 5]);
  });

  test("everybody's in a queue", async () => {
    expect((await chosen({ queue: "ml" })).asked).toMatchObject({ queues: ["ml"] });
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
