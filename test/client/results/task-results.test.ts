import { expect, test } from "@jest/globals";
import { resultsOf } from "../../../client/results/task-results.ts";
import { endedBecause } from "../../../src/job/outcome.ts";
import type { SearchStatus } from "../../../src/job/status.ts";
import { aJobStatus } from "../job-status.ts";

const outcome = { ...endedBecause("killed", { code: "stop-requested", words: "killed by ada" }), endedAtMs: 9 };
const search: SearchStatus = { metric: "loss", direction: "minimize", parameters: ["lr"], command: "train" };
const places = {
  locate: () => {
    throw new Error("nothing is looked for");
  },
};

test.each([
  [{ ...search, outputDir: "hdfs:///results/" }, undefined, "are in hdfs:///results/local_1_0001; tony-ts trials"],
  [search, "/jobs/local_1_0001", "are in /jobs/local_1_0001; tony-ts trials"],
  [search, undefined, "is kept\n  tony-ts trials local_1_0001 shows its trials"],
])("a search that left no results has files of its own: %j in %s", async (given, folder, said) => {
  const status = aJobStatus({ applicationId: "local_1_0001", outcome, search: given });
  await expect(resultsOf(status, undefined, places, folder)).rejects.toThrow(said);
});
