import { describe, expect, test } from "@jest/globals";
import { type FollowAgainOptions, followAgain } from "../../../client/following/follow-again.ts";
import { QuietView } from "../../../client/following/quiet-view.ts";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { recordedContext } from "../support.ts";

const report = aReport({ state: "RUNNING", startTimeMs: noonishMs });
const { id } = report;
const outcome = { ...allSucceeded, endedAtMs: noonishMs + 70_000 };
const succeeded = aReport({ state: "FINISHED", finalStatus: "SUCCEEDED" });
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const listeners = () => SIGNALS.map((signal) => process.listenerCount(signal));

/** Follows a job that has ended once it is asked for, seen half a minute after its submission. */
async function followed(changes: Partial<FollowAgainOptions> = {}, atMs = noonishMs + 30_000) {
  const context = recordedContext({});
  context.clock.nowMs = atMs;
  const before = listeners();
  let during: readonly number[] = [];
  const applications = aPlace({
    report: async () => {
      during = listeners();
      return succeeded;
    },
    finalStatus: async () => aJobStatus({ state: "succeeded", outcome }),
    folder: (application) => `/jobs/${application}`,
  });
  const view = changes.view === undefined ? {} : { view: changes.view };
  const options = { applications, logs: { kind: "none" }, json: false, owns: false, ...changes, ...view } as const;
  const { exitCode } = process;
  const code = await followAgain(report, options, context);
  process.exitCode = exitCode;
  return { code, out: context.out.text, err: context.err.text, before, during, after: listeners() };
}

describe("a job that is followed again", () => {
  test("is named with its queue and since when it is there, and told to its end", async () => {
    const { code, out } = await followed();
    expect(code).toBe(0);
    expect(out.split("\n")[0]).toBe(`${id}  bert · queue ml · since 2026-11-21 14:00`);
    expect(out).toMatch(/^ {2}30\.0 s {2}SUCCEEDED +2 of 2 tasks exited 0/m);
  });

  test("has no times before its beginning where the cluster's clock is ahead", async () => {
    expect((await followed({}, noonishMs - 5_000)).out).toMatch(/^ {3}0\.0 s {2}SUCCEEDED/m);
  });

  test("says beside it what Ctrl-C does before anybody presses it", async () => {
    expect((await followed()).err).toBe(`Ctrl-C leaves the job running. To end the job: tony-ts kill ${id}\n`);
    expect((await followed({ owns: true })).err).toBe("Ctrl-C ends the job.\n");
    const isTTY = [process.stdin, process.stderr].map((stream) => Object.getOwnPropertyDescriptor(stream, "isTTY"));
    for (const stream of [process.stdin, process.stderr])
      Object.defineProperty(stream, "isTTY", { value: true, configurable: true });
    try {
      expect((await followed()).err).toBe("Ctrl-C leaves the job running, or ends it if you confirm.\n");
      expect((await followed({ owns: true })).err).toBe("Ctrl-C ends the job.\n");
    } finally {
      for (const [index, stream] of [process.stdin, process.stderr].entries())
        Object.defineProperty(stream, "isTTY", isTTY[index] ?? { value: undefined, configurable: true });
    }
  });

  test("is told as events for programs, of which the first says that it was submitted before", async () => {
    const { out } = await followed({ json: true });
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events[0]).toEqual({
      jsonVersion: 1,
      event: "job",
      applicationId: id,
      name: "bert",
      queue: "ml",
      submitted: false,
    });
    expect(events.map(({ event }) => event)).toEqual(["job", "status", "end"]);
  });

  test("is shown in the way that a command has for it, without a word about Ctrl-C", async () => {
    const { output, out } = recordedContext({});
    const printer = new LogPrinter(output);
    const end = (line: string) => output.print(line);
    const view = new QuietView(output, { selection: { kind: "none" }, printer, end });
    const { err } = await followed({ view });
    expect(err).toBe("");
    expect(out.text).toMatch(new RegExp(`^${id} SUCCEEDED`));
  });

  test("takes signals as long as it is followed", async () => {
    const { before, during, after } = await followed();
    expect(during).toEqual(before.map((count) => count + 1));
    expect(after).toEqual(before);
  });

  test("lets go of signals when it cannot be followed on", async () => {
    const before = listeners();
    const applications = aPlace({ report: async () => Promise.reject(new Error("no such thing")) });
    const options = { applications, logs: { kind: "none" }, json: false, owns: false } as const;
    await expect(followAgain(report, options, recordedContext({}))).rejects.toThrow(/Contact with .* is lost/);
    expect(listeners()).toEqual(before);
  });
});
