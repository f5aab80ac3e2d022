import { describe, expect, test } from "@jest/globals";
import { resultsOf } from "../../../client/results/task-results.ts";
import { endedBecause } from "../../../src/job/outcome.ts";
import type { SearchStatus, TaskStatus, Transfer } from "../../../src/job/status.ts";
import { aJobStatus } from "../job-status.ts";
import { onThisMachine } from "../place.ts";

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

describe("the results of a task", () => {
  const told = { state: "done", files: 1, bytes: 5, step: 0, atMs: 1, reason: "" } as const;
  const output: Transfer = { ...told, what: "output", url: "file:///gone/output" };
  const of = (...transfers: readonly Transfer[]) => {
    const worker: TaskStatus = { task: "worker:0", state: "succeeded", restarts: 0, transfers };
    return resultsOf(aJobStatus({ outcome, tasks: [worker] }), undefined, onThisMachine);
  };

  test("that are gone are told with what was stored", async () => {
    expect(await of(output)).toEqual({
      files: [],
      folders: [],
      remarks: ["worker:0: 1 file, 5 B were stored in file:///gone/output; it has 0 files, 0 B now"],
      isIncomplete: true,
    });
  });

  test("that were never stored come from no earlier run where there is nothing", async () => {
    const failed = await of({ ...output, state: "failed", reason: "no room" });
    expect(failed.remarks).toEqual(["worker:0: its results were not stored (no room)"]);
  });

  test("are none of the checkpoints that its executor stored", async () => {
    const checkpoint = { ...told, what: "checkpoint", url: "file:///gone/checkpoint" } as const;
    await expect(of(checkpoint)).rejects.toThrow(/^application_1795305600000_0009 left no results\n/);
  });

  test("are none yet while the job runs", async () => {
    const none = resultsOf(aJobStatus(), "worker:1", places);
    await expect(none).rejects.toThrow(
      new Error(
        "worker:1 of application_1795305600000_0009 has no results yet: they are stored when a program has ended",
      ),
    );
  });
});
