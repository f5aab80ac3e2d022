import { describe, expect, test } from "@jest/globals";
import { liveLogs } from "../../../client/logs/live-logs.ts";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import { parseLogSelection } from "../../../client/logs/log-selection.ts";
import type { AttemptConnection, LogPiece, LogRequest } from "../../../client/master/attempt-connection.ts";
import { ApiError } from "../../../src/api/errors.ts";
import type { TaskState } from "../../../src/job/status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, role } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { recordedContext } from "../support.ts";

/** Of a search: one trial has ended and its container is another's, one ends while it is read, one runs, one has no container yet. */
const states: readonly TaskState[] = ["succeeded", "running", "running", "waiting"];
const refused = (task: string) => new ApiError(`${task} has no executor at present`, { code: "API_FAILED" });

const link: AttemptConnection = {
  async *follow() {
    yield {
      type: "status",
      status: aJobStatus({
        roles: [role("worker", 4)],
        tasks: states.map((state, index) => ({ task: `worker:${index}`, state, restarts: 0 })),
        search: { metric: "loss", direction: "minimize", parameters: [], command: "" },
      }),
    };
  },
  async *readLog({ task, stream }: LogRequest): AsyncGenerator<LogPiece> {
    if (task === "worker:0" || task === "worker:3") throw refused(task);
    if (stream !== "stdout") return;
    yield { offset: 0, data: Buffer.from(`${task} step 2 \n`), generation: 1, skippedBytes: 0 };
    if (task === "worker:1") throw refused(task);
  },
  async stop() {},
  close() {},
};

const contact = {
  attempt: 1,
  host: "n1",
  port: 1,
  access: { applicationId: "application_1_1", caller: { name: "u/ada", secret: Buffer.alloc(32) } },
};

async function printed(logs: string, pattern?: RegExp) {
  const context = recordedContext({});
  const place = aPlace({ contact: async () => contact });
  const filter = pattern === undefined ? {} : { pattern };
  const request = { report: aReport(), selection: parseLogSelection(logs), filter, follow: false };
  await liveLogs(place, request, new LogPrinter(context.output), () => link);
  return { out: context.out.text, err: context.err.text };
}

describe("logs of a search that runs", () => {
  test("are those of all its trials that can be read; the others are named", async () => {
    expect(await printed("all", /step 2 /)).toEqual({
      out: "worker:1 | worker:1 step 2 \nworker:2 | worker:2 step 2 \n",
      err:
        "no program runs yet of worker:3\n" +
        "not all of the log of worker:0, worker:1 could be read: try again, or when the job has ended\n",
    });
  });

  test("tell of trials by the names that were given", async () => {
    expect((await printed("trial:3")).err).toBe("no program runs yet of trial:3/worker:0\n");
    expect((await printed("trial:2/worker:0", /nan/)).err).toBe("no matching lines in trial:2/worker:0\n");
    await expect(printed("trial:300/worker:0")).rejects.toThrow(
      "The job has no task trial:300/worker:0; it has trial:0 to trial:3",
    );
    await expect(printed("trial:3/worker:1")).rejects.toThrow(
      "The job has no task trial:3/worker:1; it has trial:3/worker:0",
    );
  });

  test("of one trial that cannot be read are an error", async () => {
    await expect(printed("trial:0")).rejects.toThrow("worker:0 has no executor at present");
  });
});
