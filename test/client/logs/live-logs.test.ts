import { describe, expect, test } from "@jest/globals";
import { type LiveLogsOptions, liveLogs } from "../../../client/logs/live-logs.ts";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import { parseLogSelection } from "../../../client/logs/log-selection.ts";
import type {
  AttemptConnection,
  FollowUpdate,
  LogPiece,
  LogRequest,
} from "../../../client/master/attempt-connection.ts";
import { ApiError } from "../../../src/api/errors.ts";
import type { TaskState } from "../../../src/job/status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, role } from "../job-status.ts";
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
      out: "trial:1 | worker:1 step 2 \ntrial:2 | worker:2 step 2 \n",
      err:
        "no program runs yet of trial:3\n" +
        "not all of the log of trial:0, trial:1 could be read: try again, or when the job has ended\n",
    });
  });

  test("tell of trials by the names that people call them by", async () => {
    expect((await printed("trial:3")).err).toBe("no program runs yet of trial:3\n");
    expect((await printed("trial:2/worker:0", /nan/)).err).toBe("no matching lines in trial:2\n");
    expect((await printed("trial:1", /nan/)).err).toMatch(/^not all of the log of trial:1 could be read/);
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

describe("logs of a job that runs", () => {
  const pieces: Readonly<Record<string, readonly string[]>> = {
    "worker:0 stdout": ["one\n", "two\nunfinished"],
    "worker:0 stderr": ["warned\n"],
    "am stdout": ['{"a":1}\n', '{"a":2}\n'],
    "worker:0 executor": ["begun\n"],
  };
  /** What is printed of them, and how far that was, by an AM that has this of them. */
  async function scene(
    logs: string | { readonly kind: "master" },
    more: Partial<LiveLogsOptions> = {},
    update: FollowUpdate | undefined = {
      type: "status",
      status: aJobStatus({ generation: 2, tasks: [{ task: "worker:0", state: "running", restarts: 0 }] }),
    },
    goneBytes = 0,
  ) {
    let closed = 0;
    const job: AttemptConnection = {
      ...link,
      async *follow() {
        if (update !== undefined) yield update;
      },
      async *readLog({ task, stream }) {
        let offset = goneBytes;
        for (const text of pieces[`${task} ${stream}`] ?? []) {
          yield { offset, data: Buffer.from(text), generation: 1, skippedBytes: 0 };
          offset += text.length;
        }
      },
      close() {
        closed += 1;
      },
    };
    const context = recordedContext({});
    const selection = typeof logs === "string" ? parseLogSelection(logs) : logs;
    const request = { report: aReport(), selection, filter: {}, follow: false, ...more };
    const place = aPlace({ contact: async () => contact });
    const printedTo = await liveLogs(place, request, new LogPrinter(context.output), () => job).catch(String);
    return { printedTo, out: context.out.text, err: context.err.text, closed };
  }
  const ends = ({ printedTo }: Awaited<ReturnType<typeof scene>>, task: string) => {
    if (typeof printedTo !== "function") return printedTo;
    return (["stdout", "stderr", "executor"] as const).map((stream) => printedTo(task, stream));
  };

  test("are printed to their ends, also lines that have not ended", async () => {
    const shown = await scene("worker:0");
    expect(shown).toMatchObject({ out: "one\ntwo\nwarned\nunfinished\n", closed: 1 });
  });

  test("that are followed afterwards leave what has not ended to that, which begins where the rest ended", async () => {
    const shown = await scene("worker:0", { follow: true });
    expect(shown.out).toBe("one\ntwo\nwarned\n");
    expect(ends(shown, "worker:0")).toEqual([8, 7, 0]);
    expect(ends(shown, "worker:1")).toEqual([0, 0, 0]);
    const tasks = [{ task: "worker:0", state: "running", restarts: 0 } as const];
    const update = { type: "status", status: aJobStatus({ tasks }) } as const;
    const silent = await scene("worker:0", { follow: true, filter: { pattern: /nothing like it/ } }, update);
    expect(silent.err).toBe("");
  });

  test("are the last lines where these are asked for", async () => {
    expect((await scene("worker:0", { filter: { tail: 1, stream: "stdout" } })).out).toBe("unfinished\n");
    expect((await scene({ kind: "master" }, { filter: { tail: 1 } })).out).toBe('{"a":2}\n');
  });

  test("are the ApplicationMaster's, or the executors', where these are asked for", async () => {
    const ofMaster = await scene({ kind: "master" });
    expect(ofMaster.out).toBe('{"a":1}\n{"a":2}\n');
    expect(ends(ofMaster, "am")).toEqual([16, 16, 16]);
    const ofExecutor = await scene("worker:0", { executor: true });
    expect(ofExecutor.out).toBe("begun\n");
    expect(ends(ofExecutor, "worker:0")).toEqual([6, 6, 6]);
  });

  test("are followed from their end also where their beginning is not kept any more", async () => {
    const ofMaster = await scene({ kind: "master" }, { follow: true }, undefined, 1_000);
    expect(ofMaster.out).toBe('{"a":1}\n{"a":2}\n');
    expect(ends(ofMaster, "am")).toEqual([1_016, 1_016, 1_016]);
    expect(ends(await scene("worker:0", { executor: true }, undefined, 1_000), "worker:0")).toEqual([
      1_006, 1_006, 1_006,
    ]);
  });

  test("are not there for a generation that has not been, nor where the AM does not say how the job is", async () => {
    const wrong = await scene("worker:0", { filter: { generation: 3 } });
    expect([wrong.printedTo, wrong.closed]).toEqual([expect.stringContaining("no generation 3"), 1]);
    const outcome = { ...allSucceeded, endedAtMs: 1 };
    const over = await scene("worker:0", {}, { type: "outcome", outcome });
    expect([over.printedTo, over.closed]).toEqual([expect.stringContaining("does not tell its state"), 1]);
  });

  test("are somewhere else where its AM cannot be reached", async () => {
    const request = { report: aReport(), selection: parseLogSelection("all"), filter: {}, follow: false };
    const { output } = recordedContext({});
    expect(await liveLogs(aPlace(), request, new LogPrinter(output))).toBeUndefined();
  });
});
