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

async function printed(logs: string, pattern?: RegExp, more: Partial<LiveLogsOptions> = {}) {
  const context = recordedContext({});
  const place = aPlace({ contact: async () => contact });
  const filter = pattern === undefined ? {} : { pattern };
  const request = { report: aReport(), selection: parseLogSelection(logs), filter, follow: false, ...more };
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
    await expect(printed("trial:0", undefined, { executor: true })).rejects.toThrow(
      "worker:0 has no executor at present",
    );
  });

  test("that are followed afterwards may begin later", async () => {
    for (const executor of [false, true])
      expect(await printed("trial:0,trial:3", undefined, { follow: true, executor })).toEqual({ out: "", err: "" });
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
    {
      goneBytes = 0,
      index = "",
      json = false,
    }: { readonly goneBytes?: number; readonly index?: string; readonly json?: boolean } = {},
  ) {
    let closed = 0;
    const job: AttemptConnection = {
      ...link,
      async *follow() {
        if (update !== undefined) yield update;
      },
      async *readLog({ task, stream }) {
        let offset = stream === "index" ? 0 : goneBytes;
        for (const text of stream === "index" ? [index] : (pieces[`${task} ${stream}`] ?? [])) {
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
    const printedTo = await liveLogs(place, request, new LogPrinter(context.output, { json }), () => job).catch(String);
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
    const ofMaster = await scene({ kind: "master" }, { follow: true }, undefined, { goneBytes: 1_000 });
    expect(ofMaster.out).toBe('{"a":1}\n{"a":2}\n');
    expect(ends(ofMaster, "am")).toEqual([1_016, 1_016, 1_016]);
    const ofExecutor = await scene("worker:0", { executor: true }, undefined, { goneBytes: 1_000 });
    expect(ends(ofExecutor, "worker:0")).toEqual([1_006, 1_006, 1_006]);
    expect(ends(ofExecutor, "worker:1")).toEqual([0, 0, 0]);
  });

  test("say what is missing of them: of generations whose containers are gone, and what is not kept", async () => {
    const gone =
      "generation 1 of worker:0 ran in containers that are gone: their logs can be read when the job has ended\n";
    expect((await scene("worker:0")).err).toBe(gone);
    expect((await scene("worker:0", {}, undefined, { index: "1000 2 18 7\n" })).err).toContain(gone);
    expect((await scene("worker:0", {}, undefined, { index: "1000 1 18 7\n" })).err).toBe("");
    expect((await scene("worker:0", { filter: { stream: "stdout" } }, undefined, { goneBytes: 1_000 })).err).toContain(
      "2 KiB of worker:0's output are not kept: tony.log.max-size and tony.log.max-files say how much is\n",
    );
  });

  test("of two tasks have their names, and for programs the stream that they are from", async () => {
    const tasks = ["worker:0", "worker:1"].map((task) => ({ task, state: "running", restarts: 0 }) as const);
    const update = { type: "status", status: aJobStatus({ tasks }) } as const;
    const stdout = { filter: { stream: "stdout" } } as const;
    expect((await scene("all", stdout, update)).out).toBe("worker:0 | one\nworker:0 | two\nworker:0 | unfinished\n");
    const streams = async (...of: Parameters<typeof scene>) =>
      (await scene(of[0], of[1], update, { json: true })).out.match(/"stream":"\w+"/g);
    expect(await streams({ kind: "master" })).toEqual(['"stream":"stdout"', '"stream":"stdout"']);
    expect(await streams("worker:0", { executor: true })).toEqual(['"stream":"executor"']);
  });

  test("of a trial that ended in an earlier search are that one's", async () => {
    const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
    const trial = { state: "completed", application: "application_1_0001" } as const;
    const tasks = [{ task: "worker:0", state: "succeeded", restarts: 0, trial } as const];
    const { printedTo } = await scene("trial:0", {}, { type: "status", status: aJobStatus({ search, tasks }) });
    expect(printedTo).toContain("trial:0 ended in application_1_0001, which has its logs");
  });

  test("are not there for a generation that has not been, nor where the AM does not say how the job is", async () => {
    expect(typeof (await scene("worker:0", { filter: { generation: 2 } })).printedTo).toBe("function");
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
