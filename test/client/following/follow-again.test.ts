import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Applications } from "../../../client/applications/applications.ts";
import { EventView } from "../../../client/following/event-view.ts";
import { type FollowAgainOptions, followAgain } from "../../../client/following/follow-again.ts";
import { jsonView } from "../../../client/following/json-view.ts";
import { QuietView } from "../../../client/following/quiet-view.ts";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import type { AttemptConnection } from "../../../client/master/attempt-connection.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { masterSaying } from "../speaking-master.ts";
import { recordedContext } from "../support.ts";

const report = aReport({ state: "RUNNING", startTimeMs: noonishMs });
const { id } = report;
const outcome = { ...allSucceeded, endedAtMs: noonishMs + 70_000 };
const succeeded = aReport({ state: "FINISHED", finalStatus: "SUCCEEDED" });
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Says which of this process's streams are a terminal, until the test ends. */
function atTerminal(streams: { readonly stdin: boolean; readonly stderr: boolean }): void {
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(name === "stdin" ? process.stdin : process.stderr, "isTTY", { value, configurable: true });
}
const isTTY = [process.stdin, process.stderr].map((stream) => Object.getOwnPropertyDescriptor(stream, "isTTY"));
afterEach(() => {
  for (const [index, stream] of [process.stdin, process.stderr].entries())
    Object.defineProperty(stream, "isTTY", isTTY[index] ?? { value: undefined, configurable: true });
  jest.restoreAllMocks();
});

const listeners = () => SIGNALS.map((signal) => process.listenerCount(signal));

interface Scene {
  readonly atMs?: number;
  readonly terminal?: boolean;
  readonly place?: Partial<Applications>;
}

/** Follows a job that has ended once it is asked for, seen half a minute after its submission. */
async function followed(
  changes: Partial<FollowAgainOptions> = {},
  { atMs = noonishMs + 30_000, terminal = false, place = {} }: Scene = {},
) {
  const context = recordedContext({ terminal });
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
    ...place,
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
    expect((await followed({}, { atMs: noonishMs - 5_000 })).out).toMatch(/^ {3}0\.0 s {2}SUCCEEDED/m);
  });

  test("says beside it what Ctrl-C does before anybody presses it", async () => {
    expect((await followed()).err).toBe(`Ctrl-C leaves the job running. To end the job: tony-ts kill ${id}\n`);
    expect((await followed({ owns: true })).err).toBe("Ctrl-C ends the job.\n");
    atTerminal({ stdin: true, stderr: true });
    expect((await followed()).err).toBe("Ctrl-C leaves the job running, or ends it if you confirm.\n");
    expect((await followed({ owns: true })).err).toBe("Ctrl-C ends the job.\n");
    for (const half of [
      { stdin: true, stderr: false },
      { stdin: false, stderr: true },
    ]) {
      atTerminal(half);
      expect((await followed()).err).toContain("Ctrl-C leaves the job running. To end the job:");
    }
  });

  test("on a terminal says the same while it waits", async () => {
    const reports = [aReport(), succeeded];
    const scene = {
      terminal: true,
      atMs: noonishMs + 2_000,
      place: { report: async () => reports.shift() ?? succeeded },
    };
    expect((await followed({}, scene)).out).toContain("Ctrl-C leaves the job running; to end it");
    reports.unshift(aReport());
    expect((await followed({ owns: true }, scene)).out).toContain("Ctrl-C ends the job ·");
  });

  test("that is a search has its best trials at the end, and its folder on this machine", async () => {
    const search = { metric: "loss", direction: "minimize", parameters: ["lr"], command: "train.py" } as const;
    const trial = { params: { lr: "1" }, trial: { state: "completed" }, metrics: { loss: 0.5 } } as const;
    const tasks = [{ task: "worker:0", state: "succeeded", restarts: 0, ...trial } as const];
    const finalStatus = async () => aJobStatus({ state: "succeeded", outcome, search, tasks });
    expect((await followed({}, { place: { finalStatus } })).out).toContain(
      "its files: /jobs/application_1795305600000_0009/result.json, trials.jsonl\n",
    );
  });

  test("keeps its tokens for as long as it is there already, or at most since now", async () => {
    const kept: unknown[] = [];
    const keepTokens = (...of: readonly unknown[]) => {
      kept.push(of);
      return () => undefined;
    };
    await followed({}, { place: { keepTokens } });
    await followed({}, { atMs: noonishMs - 5_000, place: { keepTokens } });
    expect(kept).toEqual([
      [id, noonishMs],
      [id, noonishMs - 5_000],
    ]);
  });

  test("shows of its earlier output the last 4 KiB of each stream", async () => {
    const reads: (readonly [stream: string, offset: number])[] = [];
    const link: AttemptConnection = {
      ...masterSaying(aJobStatus),
      async *follow() {
        yield { type: "status", status: aJobStatus({ tasks: aJobStatus().tasks.slice(0, 1) }) };
        yield { type: "outcome", outcome };
      },
      async *readLog({ stream, offset }) {
        reads.push([stream, offset]);
        yield* [];
      },
    };
    const access = { applicationId: "", caller: { name: "", secret: new Uint8Array() } };
    const reports = [report];
    const place = {
      report: async () => reports.shift() ?? succeeded,
      contact: async () => ({ attempt: 1, host: "n1", port: 1, access }),
    };
    await followed({ logs: { kind: "all" }, connect: () => link }, { place });
    expect(reads).toEqual([
      ["stdout", -4096],
      ["stderr", -4096],
    ]);
  });

  describe("at a signal", () => {
    class Exited extends Error {}
    beforeEach(() => {
      jest.spyOn(process, "exit").mockImplementation(() => {
        throw new Exited();
      });
    });

    /** What the job is when it is asked for: it runs, and this happens; then it has ended. */
    const when = (happens: () => void) => {
      let asked = false;
      return async () => {
        if (asked) return succeeded;
        asked = true;
        happens();
        return report;
      };
    };
    const SIGTERM = () => void process.emit("SIGTERM", "SIGTERM");
    const SIGHUP = () => void process.emit("SIGHUP", "SIGHUP");

    test.each([
      ["SIGTERM", SIGTERM],
      ["SIGHUP", SIGHUP],
    ])("is left, which is said as how this ends, where it is another one's: %s", async (_, happens) => {
      const events: unknown[] = [];
      const problems: string[] = [];
      const view = new EventView({ event: (event) => events.push(event), problem: (text) => problems.push(text) });
      await expect(followed({ view }, { place: { report: when(happens) } })).rejects.toThrow(/Contact with/);
      expect(process.exit).toHaveBeenCalledWith(5);
      expect(events).toEqual([{ event: "end", outcome: null, exitCode: 5 }]);
      expect(problems).toEqual([`${id} still runs; see tony-ts status ${id}`]);
    });

    test("is ended where the person at the terminal who pressed Ctrl-C confirms that", async () => {
      const own = Object.getOwnPropertyDescriptor(process, "stdin");
      const stdin = Object.assign(new PassThrough(), { isTTY: true });
      Object.defineProperty(process, "stdin", { value: stdin, configurable: true });
      atTerminal({ stdin: true, stderr: true });
      const killed: string[] = [];
      const kill = async (of: string) => {
        killed.push(of);
      };
      const asked = when(() => {
        process.emit("SIGINT", "SIGINT");
        stdin.write("y\n");
      });
      const reports = [asked, async () => report, async () => report];
      const place = { report: async () => await (reports.shift() ?? asked)(), kill };
      const { err } = await followed({}, { place, atMs: noonishMs }).finally(() => {
        Object.defineProperty(process, "stdin", own ?? { value: undefined, configurable: true });
      });
      expect(err).toContain(`${id} was not submitted here. Type y and Enter to end it`);
      expect(killed).toEqual([id]);
    });

    test("is left with a word beside its events", async () => {
      const context = recordedContext({});
      const view = jsonView(context.output);
      await expect(followed({ view }, { place: { report: when(SIGTERM) } })).rejects.toThrow(/Contact with/);
      expect(JSON.parse(context.out.text)).toMatchObject({ event: "end", outcome: null, exitCode: 5 });
      expect(context.err.text).toBe(`${id} still runs; see tony-ts status ${id}\n`);
    });

    test("is ended where it is one's own", async () => {
      const killed: string[] = [];
      const kill = async (of: string) => {
        killed.push(of);
      };
      const { code, err, out } = await followed({ owns: true }, { place: { report: when(SIGTERM), kill } });
      expect([code, killed]).toEqual([0, [id]]);
      expect(err).toBe("Ctrl-C ends the job.\n");
      expect(out).toMatch(/Ended: all containers are returned\n$/);
    });

    test("is left at once at the second one, which says that it is being ended", async () => {
      const atMs = performance.now();
      const clock = jest.spyOn(performance, "now").mockReturnValue(atMs);
      let answer = when(SIGTERM);
      const kill = async () => {
        clock.mockReturnValue(atMs + 500);
        answer = when(SIGTERM);
      };
      const problems: string[] = [];
      const view = new EventView({ event: () => undefined, problem: (text) => problems.push(text) });
      const over = followed({ owns: true, view }, { place: { report: () => answer(), kill } });
      await expect(over).rejects.toThrow(/Contact with/);
      expect(problems).toEqual([`Left at once; ${id} is being ended: tony-ts wait ${id} waits for that`]);
    });

    test("that comes when it has ended is too late: the exit code is known before its end is shown", async () => {
      const codes: unknown[] = [];
      const view = new EventView({
        event: ({ event }) => codes.push(event, process.exitCode, listeners()),
        problem: () => undefined,
      });
      const before = listeners();
      const { exitCode } = process;
      const failed = aReport({ state: "FAILED", finalStatus: "FAILED" });
      await followed({ view }, { place: { report: async () => failed, finalStatus: async () => undefined } });
      expect(codes).toEqual(["end", 1, before]);
      expect(process.exitCode).toBe(exitCode);
    });
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
