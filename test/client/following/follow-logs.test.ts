import { describe, expect, test } from "@jest/globals";
import { followLogs } from "../../../client/following/follow-logs.ts";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import type { LogsRequest } from "../../../client/logs/log-selection.ts";
import type { AttemptConnection, LogRequest } from "../../../client/master/attempt-connection.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { recordedContext } from "../support.ts";

const outcome = { ...allSucceeded, endedAtMs: 7 };
const access = { applicationId: "", caller: { name: "", secret: new Uint8Array() } };
const whole = "one\ntwo\nthree\n";

interface Scene {
  readonly json?: boolean;
  readonly isReached?: boolean;
  readonly printed?: string;
}

/** Follows the logs of a job that ends as soon as it is heard. @returns also from where each log was read */
async function followed(
  changes: Partial<LogsRequest>,
  { json = false, isReached = true, printed = whole }: Scene = {},
) {
  const reads: Pick<LogRequest, "task" | "stream" | "offset">[] = [];
  let asked = 0;
  const link: AttemptConnection = {
    async *follow() {
      yield { type: "status", status: aJobStatus({ tasks: aJobStatus().tasks.slice(0, 1) }) };
      if (asked > 0) yield { type: "outcome", outcome };
    },
    async *readLog({ task, stream, offset = 0 }) {
      reads.push({ task, stream, offset });
      if (stream !== "stdout" && stream !== "executor") return;
      const data = Buffer.from(printed).subarray(offset);
      if (data.byteLength > 0) yield { offset, data, generation: 1, skippedBytes: 0 };
    },
    stop: async () => undefined,
    close: () => undefined,
  };
  const context = recordedContext({});
  const contact = { attempt: 1, host: "n1", port: 1, access };
  const [running, ended] = [aReport({ state: "RUNNING" }), aReport({ state: "FINISHED", finalStatus: "SUCCEEDED" })];
  const place = aPlace({
    report: async () => {
      asked += 1;
      return asked === 1 && isReached ? running : ended;
    },
    contact: async () => (isReached ? contact : undefined),
  });
  const request = { report: running, selection: { kind: "all" }, filter: {}, ...changes } as const;
  await followLogs(place, request, { printer: new LogPrinter(context.output, { json }), json }, context, () => link);
  return { out: context.out.text, err: context.err.text, reads };
}
const end = `${aReport().id} SUCCEEDED: 2 of 2 tasks exited 0 · 0 restarts · 0 GiB·h\n`;

describe("the logs of a job that are followed", () => {
  test("are printed from their beginning to the end, and then how the job ended, beside them", async () => {
    const { out, err, reads } = await followed({});
    expect([out, err]).toEqual([whole, end]);
    expect(reads.every(({ offset }) => offset === 0)).toBe(true);
  });

  test("begin with the last lines that are asked for, and go on behind them", async () => {
    const { out, err, reads } = await followed({ filter: { tail: 1 } });
    expect([out, err]).toEqual(["three\n", end]);
    expect(reads).toContainEqual({ task: "worker:0", stream: "stdout", offset: whole.length });
  });

  test("have a line whose end is not printed yet once", async () => {
    expect((await followed({ filter: { tail: 1 } }, { printed: "one\ntwo\nthr" })).out).toBe("two\nthr\n");
  });

  test("begin with the lines since a moment: none of those of which nobody knows when they were written", async () => {
    const { reads } = await followed({ filter: { sinceMs: 1 } });
    expect(reads).toContainEqual({ task: "worker:0", stream: "stdout", offset: whole.length });
  });

  test("have the lines alone that match", async () => {
    expect((await followed({ filter: { pattern: /t[wh]/ } })).out).toBe("two\nthree\n");
  });

  test("are the executors' own where these are asked for", async () => {
    const { out, reads } = await followed({ executor: true });
    expect(out).toBe(whole);
    expect(new Set(reads.map(({ stream }) => stream))).toEqual(new Set(["executor"]));
  });

  test("end as an event among events", async () => {
    const { out, err } = await followed({ filter: { tail: 1 } }, { json: true });
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { jsonVersion: 1, event: "output", task: "worker:0", stream: "stdout", line: "three" },
      { jsonVersion: 1, event: "end", outcome, exitCode: 0 },
    ]);
    expect(err).toBe("");
  });

  test("of a job whose ApplicationMaster cannot be reached are its end", async () => {
    const { out, err, reads } = await followed({ filter: { tail: 1 } }, { isReached: false });
    expect([out, reads]).toEqual(["", []]);
    expect(err).toMatch(/^application_1795305600000_0009 SUCCEEDED/);
  });
});
