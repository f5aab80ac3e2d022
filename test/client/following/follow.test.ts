import { getEventListeners } from "node:events";
import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import type { Applications, MasterContact } from "../../../client/applications/applications.ts";
import { killRefusal } from "../../../client/applications/kill-refusal.ts";
import { EventView } from "../../../client/following/event-view.ts";
import { follow } from "../../../client/following/follow.ts";
import type { FollowOptions } from "../../../client/following/follow-options.ts";
import { FollowView } from "../../../client/following/follow-view.ts";
import type { AttemptConnection, FollowUpdate, LogPiece } from "../../../client/master/attempt-connection.ts";
import type { FollowEvent } from "../../../client/printed-json.ts";
import { ApiError } from "../../../src/api/errors.ts";
import { HadoopError } from "../../../src/hadoop/errors.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import type { JobOutcome, JobStatus } from "../../../src/job/status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs, role } from "../job-status.ts";
import { onThisMachine } from "../place.ts";
import { endingBy, masterSaying } from "../speaking-master.ts";
import { type RecordedContext, recordedContext } from "../support.ts";

const running = aReport({ state: "RUNNING", amHost: "127.0.0.12", amRpcPort: 4000 });
const succeeded = aReport({ state: "FINISHED", finalStatus: "SUCCEEDED" });
const outcome: JobOutcome = { ...allSucceeded, endedAtMs: 0 };

/** Gives one report after the other, the last one for ever; remembers what it was asked to do. */
class ScriptedApplications implements Applications {
  readonly user = "ada";
  readonly killed: string[] = [];
  readonly cleaned: string[] = [];
  readonly #reports: (ApplicationReport | Error)[];
  afterKill: ApplicationReport | undefined;
  keepTokens?: NonNullable<Applications["keepTokens"]>;
  kept: JobStatus | undefined;

  constructor(...reports: (ApplicationReport | Error)[]) {
    this.#reports = reports;
  }

  askBriefly(): void {}

  async fileSystems(): Promise<typeof onThisMachine> {
    return onThisMachine;
  }

  async report(): Promise<ApplicationReport> {
    if (this.killed.length > 0 && this.afterKill !== undefined) return this.afterKill;
    const next = this.#reports.length > 1 ? this.#reports.shift() : this.#reports[0];
    if (next === undefined || next instanceof Error) throw next;
    return next;
  }

  async contact({ amHost, amRpcPort, currentAttemptId }: ApplicationReport): Promise<MasterContact | undefined> {
    if (amHost === undefined || amRpcPort === undefined) return undefined;
    const access = { applicationId: "", caller: { name: "", secret: new Uint8Array() } };
    return { attempt: Number(currentAttemptId?.slice(-1)), host: amHost, port: amRpcPort, access };
  }

  async kill(_id: string, reason: string): Promise<void> {
    this.killed.push(reason);
  }

  async checkpointDir(): Promise<string | undefined> {
    return undefined;
  }

  async clean(id: string): Promise<string> {
    this.cleaned.push(id);
    return "its staging folder is removed";
  }

  reports = async () => [];
  explained = async (status: JobStatus) => status;
  explainedSoon = (status: JobStatus) => status;
  waitingReason = async () => ({ code: "manager-says", words: "queue ml has no room" }) as const;
  noContactReason = () => "HDFS does not answer";
  finalStatus = async () => this.kept;
  noStatusReason = () => undefined;
  sweep = async () => undefined;
  logStore: Applications["logStore"] = () => ({ pending: undefined, isAtHand: false, async *logs() {} });
  close(): void {}
}

/** An AM that says what it was given, then holds the stream open, or breaks it. */
class ScriptedMaster implements AttemptConnection {
  readonly stopped: string[] = [];
  isClosed = false;
  onStop: () => void = () => undefined;
  #stop: () => void = () => undefined;
  readonly #updates: readonly FollowUpdate[];
  readonly #ending: "hold" | "break" | "end";
  readonly #output: Readonly<Record<string, string>>;

  constructor(updates: readonly FollowUpdate[], ending: "hold" | "break" | "end", output: Record<string, string> = {}) {
    this.#updates = updates;
    this.#ending = ending;
    this.#output = output;
  }

  async *follow(signal: AbortSignal): AsyncGenerator<FollowUpdate> {
    yield* this.#updates;
    if (this.#ending === "break") throw new HadoopError("connection lost", { code: "API_UNREACHABLE" });
    if (this.#ending === "hold" && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#stop = resolve;
        signal.addEventListener("abort", () => resolve());
      });
    }
  }

  async *readLog({ task, stream }: { task: string; stream: string }): AsyncGenerator<LogPiece> {
    const text = this.#output[`${task} ${stream}`];
    if (text !== undefined) yield { offset: 0, data: Buffer.from(text), generation: 1, skippedBytes: 0 };
  }

  /** The job ends: its stream does too. */
  async stop(reason: string): Promise<void> {
    this.stopped.push(reason);
    this.onStop();
    this.#stop();
  }

  close(): void {
    this.isClosed = true;
  }
}

function followed(
  context: RecordedContext,
  applications: Applications,
  masters: AttemptConnection[],
  stop = new AbortController().signal,
  { now = Date.now, ...rest }: Partial<FollowOptions> = {},
) {
  const connected: MasterContact[] = [];
  const connect = (contact: MasterContact) => {
    connected.push(contact);
    const master = masters.shift();
    if (master === undefined) throw new Error("nobody to connect to");
    return master;
  };
  const { output } = context;
  const logs = { kind: "all" } as const;
  const view = new FollowView(output, now, now());
  const options = { id: running.id, applications, connect, view, now, sinceMs: now(), logs, stop, ...rest };
  return { ended: follow(options), connected };
}

describe("following a job", () => {
  test("goes from the ResourceManager's report over the AM's stream to the end, and exits as the job did", async () => {
    const context = recordedContext({});
    const applications = new ScriptedApplications(aReport(), running, succeeded);
    const updates = [{ type: "status", status: aJobStatus() } as const, { type: "outcome", outcome } as const];
    const master = new ScriptedMaster(updates, "end", {
      "worker:0 stdout": "epoch 1\nepoch 2\n",
      "ps:0 stderr": "bye",
    });
    const { ended } = followed(context, applications, [master]);
    expect(await ended).toBe(0);
    const shown = context.out.text.replace(/^ +\d+\.\d s/gm, "");
    expect(shown.split("\n").sort()).toEqual(
      [
        "  AM running on 127.0.0.12     http://127.0.0.1:8088/proxy/application_1795305600000_0009/",
        "  worker 2/2 running           cluster spec sent",
        "  ps 1/1 running               cluster spec sent",
        "worker:0 | epoch 1",
        "worker:0 | epoch 2",
        "ps:0 | bye",
        "  SUCCEEDED                    2 of 2 tasks exited 0 · 0 restarts · 0 GiB·h",
        "",
      ].sort(),
    );
    expect(applications.cleaned).toEqual([running.id]);
  });

  test("says below the end of a job that succeeded what stands out for the next one", () => {
    const context = recordedContext({});
    const view = new FollowView(context.output, Date.now, Date.now(), { adviceOn: () => "advice: less" });
    view.show(aJobStatus());
    view.ended({ outcome, report: succeeded, exitCode: 0 });
    expect(context.out.text).toMatch(/SUCCEEDED .*\n {10}advice: less\n$/);
  });

  test("shows what is on its way when the job has ended before how it did", async () => {
    const context = recordedContext({});
    const applications = new ScriptedApplications(running);
    const master = new ScriptedMaster([{ type: "outcome", outcome }], "end");
    let send = (): void => undefined;
    const sent = new Promise<void>((resolve) => {
      send = resolve;
    });
    master.readLog = async function* ({ stream }) {
      await sent;
      if (stream === "stdout")
        yield { offset: 0, data: Buffer.from("the last line\n"), generation: 1, skippedBytes: 0 };
    };
    const reports = [running, running, succeeded];
    applications.report = async () => {
      if (reports.length === 1) setImmediate(send);
      return reports.shift() ?? succeeded;
    };
    expect(await followed(context, applications, [master], undefined, { tasks: ["worker:0"] }).ended).toBe(0);
    expect(context.out.text).toMatch(/^worker:0 \| the last line\n.* SUCCEEDED\n$/);
    expect(master.isClosed).toBe(true);
  });

  test("is refused as soon as it is heard that the job has no such task", async () => {
    const master = new ScriptedMaster([{ type: "status", status: aJobStatus() }], "hold");
    const logs = { kind: "named", names: ["evaluator:0"] } as const;
    const applications = new ScriptedApplications(running);
    await expect(
      followed(recordedContext({}), applications, [master], undefined, { logs }).ended,
    ).rejects.toMatchObject({
      code: "USAGE",
      message: "The job has no task evaluator:0; it has ps:0, worker:0, worker:1",
    });
    expect(master.isClosed).toBe(true);
  });

  test("keeps the job's tokens and asks briefly as long as it is followed, and no longer", async () => {
    for (const last of [succeeded, new HadoopError("unknown", { code: "APPLICATION_NOT_FOUND" })]) {
      const did: unknown[] = [];
      const applications = new ScriptedApplications(aReport(), last);
      const report = applications.report.bind(applications);
      applications.report = async () => {
        did.push("asked");
        return await report();
      };
      applications.askBriefly = () => did.push("briefly");
      applications.keepTokens = (id, sinceMs) => {
        did.push(["kept", id, sinceMs]);
        return () => did.push("let go");
      };
      const sinceMs = Date.now();
      const { ended } = followed(recordedContext({}), applications, [], undefined, { sinceMs });
      await ended.catch(() => undefined);
      expect(did).toEqual(["briefly", ["kept", running.id, sinceMs], "asked", "asked", "let go"]);
    }
  });

  /** The events of a job that is followed. */
  async function eventsOf(
    applications: ScriptedApplications,
    masters: AttemptConnection[],
    options: Partial<FollowOptions> = {},
  ) {
    const events: FollowEvent[] = [];
    const view = new EventView({ event: (event) => events.push(event), problem: () => undefined });
    const logs = { kind: "none" } as const;
    await followed(recordedContext({}), applications, masters, options.stop, { view, logs, ...options }).ended;
    return events;
  }

  test("shows the last state that was kept of a job that nobody heard", async () => {
    const applications = new ScriptedApplications(aReport(), succeeded);
    applications.kept = aJobStatus({ state: "succeeded", outcome });
    const events = await eventsOf(applications, []);
    const words = "queue ml has no room";
    expect(events).toEqual([
      { event: "waiting", state: "ACCEPTED", reason: words, delay: { code: "manager-says", words } },
      { event: "status", status: applications.kept },
      { event: "end", outcome, exitCode: 0 },
    ]);
  });

  test("has a job that nobody knows more of end when it is found to have ended", async () => {
    const events = await eventsOf(new ScriptedApplications(succeeded), [], { now: () => noonishMs });
    expect(events).toMatchObject([{ event: "end", outcome: { result: "succeeded", endedAtMs: noonishMs } }]);
  });

  test("says of a job whose AM is gone that the next one is waited for", async () => {
    const master = new ScriptedMaster([{ type: "status", status: aJobStatus() }], "break");
    const applications = new ScriptedApplications(aReport(), running, aReport(), succeeded);
    const events = await eventsOf(applications, [master]);
    expect(events.flatMap((one) => (one.event === "waiting" ? [one.reason] : []))).toEqual([
      "queue ml has no room",
      "the AM is gone and YARN starts another, the tasks run on: queue ml has no room",
    ]);
  });

  test.each<[string, () => Promise<string>, string]>([
    ["was removed", async () => "its staging folder is removed", "; its staging folder is removed"],
    ["was not there", async () => "", ""],
    [
      "could not be removed",
      () => Promise.reject(new Error("HDFS is away")),
      "; its staging folder is removed by your next command",
    ],
  ])("says of a job that was ended from here what became of what it left: it %s", async (_, clean, said) => {
    const applications = new ScriptedApplications(aReport({ state: "KILLED", finalStatus: "KILLED" }));
    applications.clean = clean;
    const events = await eventsOf(applications, [], { stop: AbortSignal.abort("Ctrl-C") });
    expect(events.at(-2)).toEqual({ event: "remark", text: `Ended: all containers are returned${said}` });
    expect(events.at(-1)).toMatchObject({ event: "end", exitCode: 4 });
  });

  test("leaves nothing at a signal that lives on, as one for all jobs of a program does", async () => {
    const { signal } = new AbortController();
    const master = new ScriptedMaster([{ type: "outcome", outcome }], "end");
    const { ended } = followed(recordedContext({}), new ScriptedApplications(running, succeeded), [master], signal);
    await ended;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("does not exit 0 before the ResourceManager says SUCCEEDED", async () => {
    const failed = aReport({ state: "FAILED", finalStatus: "FAILED", diagnostics: "lost at the last moment" });
    const master = new ScriptedMaster([{ type: "outcome", outcome }], "end");
    const context = recordedContext({});
    const told: unknown[] = [];
    const { ended } = followed(context, new ScriptedApplications(running, running, failed), [master], undefined, {
      ended: (exitCode) => told.push(exitCode, context.out.text.includes("FAILED")),
    });
    expect(await ended).toBe(1);
    expect(told).toEqual([1, false]);
    expect(context.out.text).toMatch(/FAILED[\s\S]*Reason +lost at the last moment/);
  });

  test("an AM that is gone is followed to its next attempt", async () => {
    const second = { ...running, currentAttemptId: "appattempt_1795305600000_0009_000002", amRpcPort: 4001 };
    const between = aReport({ currentAttemptId: "appattempt_1795305600000_0009_000002" });
    const none = { ...role("worker", 2), allocated: 0, registered: 0 };
    const blank = aJobStatus({ attempt: 2, state: "starting", roles: [none], tasks: [] });
    const masters = [
      new ScriptedMaster([{ type: "status", status: aJobStatus() }], "break"),
      new ScriptedMaster(
        [
          { type: "status", status: blank },
          { type: "status", status: aJobStatus({ attempt: 2 }) },
          { type: "outcome", outcome },
        ],
        "end",
      ),
    ];
    const context = recordedContext({});
    const applications = new ScriptedApplications(running, between, second, succeeded);
    const { ended, connected } = followed(context, applications, masters);
    expect(await ended).toBe(0);
    expect(connected.map(({ attempt, port }) => [attempt, port])).toEqual([
      [1, 4000],
      [2, 4001],
    ]);
    expect(context.out.text).toMatch(/AM restarted on 127\.0\.0\.12 +attempt 2; the tasks run on/);
    expect(context.out.text.match(/worker 2\/2 (allocated|running)/g)).toEqual(["worker 2/2 running"]);
  });

  test("an AM that dies in the finish is seen half: the rest is read from what the next attempt kept", async () => {
    const half = aJobStatus({ outcome: { ...outcome, summary: "not written down" } });
    const context = recordedContext({});
    const applications = new ScriptedApplications(running, running, aReport(), succeeded);
    applications.kept = { ...half, tasks: half.tasks.map((task) => ({ ...task, state: "succeeded" })), outcome };
    const { ended } = followed(context, applications, [
      new ScriptedMaster([{ type: "status", status: half }], "break"),
    ]);
    expect(await ended).toBe(0);
    expect(context.out.text).toMatch(/SUCCEEDED +2 of 2 tasks exited 0/);
  });

  test("a job that ended before its output could be read is followed by a word about where that is", async () => {
    const context = recordedContext({});
    const applications = new ScriptedApplications(aReport(), succeeded);
    const status = aJobStatus();
    const tasks = status.tasks.map((task) => ({ ...task, startedAtMs: noonishMs }));
    applications.kept = { ...status, tasks, state: "succeeded", outcome };
    const { ended } = followed(context, applications, []);
    expect(await ended).toBe(0);
    expect(context.out.text).toMatch(
      / Output of worker:0 and 2 other tasks may be missing here; all of it: tony-ts logs application_1795305600000_0009 --logs all\n/,
    );
    const one = recordedContext({});
    applications.kept = { ...applications.kept, tasks: tasks.slice(1, 2) };
    await followed(one, applications, []).ended;
    expect(one.out.text).toMatch(/ Output of worker:1 may be missing here; all of it: tony-ts logs \S+ worker:1\n/);
  });

  test("what a program printed that ended before it could be followed is shown where its log is at hand", async () => {
    const context = recordedContext({});
    const applications = new ScriptedApplications(aReport(), succeeded);
    const status = aJobStatus();
    const tasks = status.tasks.map((task) => ({ ...task, startedAtMs: noonishMs }));
    applications.kept = { ...status, tasks, state: "succeeded", outcome };
    const started = { event: "task-started", task: "worker:0", container: "c2" };
    const files = { container_1_0001_01_000001: ["am.log", `${JSON.stringify(started)}\n`], c2: ["stdout", "quick\n"] };
    applications.logStore = () => ({
      pending: undefined,
      isAtHand: true,
      async *logs(wanted) {
        for (const [containerId, [name = "", text = ""]] of Object.entries(files).filter(([id]) => wanted(id)))
          yield { containerId, name, lengthBytes: text.length, content: Readable.from([Buffer.from(text)]) };
      },
    });
    const { ended } = followed(context, applications, []);
    expect(await ended).toBe(0);
    expect(context.out.text).toContain("worker:0 | quick\n");
    expect(context.out.text).not.toContain("may be missing");
  });

  test("a ResourceManager that does not answer for a moment is asked again", async () => {
    const away = new HadoopError("refused", { code: "RPC_CONNECT_FAILED", retryable: true });
    const { ended } = followed(recordedContext({}), new ScriptedApplications(away, away, succeeded), []);
    expect(await ended).toBe(0);
  });

  test("an application that the ResourceManager has forgotten has an unknown outcome", async () => {
    const forgotten = new HadoopError("unknown", { code: "APPLICATION_NOT_FOUND" });
    const { ended } = followed(recordedContext({}), new ScriptedApplications(forgotten), []);
    await expect(ended).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining("the ResourceManager no longer knows it"),
    });
  });
});

describe("the pauses of following", () => {
  /** Time that passes at once where nothing happens before; remembers how long it was slept through. */
  function skippedTime() {
    const sleptMs: number[] = [];
    const sleep = async (delayMs: number, signal?: AbortSignal) => {
      for (let turn = 0; turn < 10 && signal?.aborted !== true; turn += 1) await new Promise(setImmediate);
      if (signal?.aborted !== true) sleptMs.push(delayMs);
    };
    return { sleptMs, sleep };
  }

  test("are ended by what is heard: only an AM that does not run yet is waited for by asking", async () => {
    const { sleptMs, sleep } = skippedTime();
    const master = new ScriptedMaster(
      [
        { type: "status", status: aJobStatus() },
        { type: "outcome", outcome },
      ],
      "end",
    );
    const applications = new ScriptedApplications(aReport(), running, succeeded);
    const { ended } = followed(recordedContext({}), applications, [master], undefined, { sleep });
    expect(await ended).toBe(0);
    expect(sleptMs).toEqual([100]);
  });

  /** Time that passes as it is slept through. @returns when each report was asked for, in seconds after the submission */
  async function asksOfAWait(
    lastsMs: number,
    { slept, ...options }: Partial<FollowOptions> & { readonly slept?: (delayMs: number) => void } = {},
  ) {
    let nowMs = noonishMs;
    const context = recordedContext({ terminal: true });
    const applications = new ScriptedApplications(aReport());
    const askedAtS: number[] = [];
    const report = applications.report.bind(applications);
    applications.report = async () => {
      askedAtS.push((nowMs - noonishMs) / 1000);
      return nowMs - noonishMs >= lastsMs ? succeeded : await report();
    };
    const sleep = async (delayMs: number) => {
      slept?.(delayMs);
      nowMs += delayMs;
    };
    const { ended } = followed(context, applications, [], undefined, { now: () => nowMs, sleep, ...options });
    await ended;
    return { askedAtS, shown: context.out.text, applications };
  }

  test("grow while the job waits: after half a minute it is asked for six times a minute", async () => {
    const { askedAtS } = await asksOfAWait(300_000);
    expect(askedAtS.filter((at) => at < 2)).toHaveLength(20);
    expect(askedAtS.filter((at) => at < 30).length).toBeLessThan(90);
    for (let from = 30; from < 240; from += 1) {
      expect(askedAtS.filter((at) => at >= from && at < from + 60).length).toBeLessThanOrEqual(6);
    }
  });

  test("are slept through where nothing that is shown counts the time, and a limit is looked at every second", async () => {
    const longest = async (options: Partial<FollowOptions>) => {
      const sleptMs: number[] = [];
      const events: FollowEvent[] = [];
      const view = new EventView({ event: (event) => events.push(event), problem: () => undefined });
      const slept = (delayMs: number) => sleptMs.push(delayMs);
      await asksOfAWait(60_000, { view, slept, ...options });
      expect(events.map(({ event }) => event)).toEqual(["waiting", "end"]);
      return Math.max(...sleptMs);
    };
    expect(await longest({})).toBe(10_000);
    expect(await longest({ startupLimitMs: 600_000 })).toBe(1_000);
  });

  test("are told of once as the silence of its AM, unless that has said its last word", async () => {
    const said = async (...updates: readonly FollowUpdate[]) => {
      let nowMs = noonishMs;
      const sleep = async (delayMs: number) => {
        for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
        nowMs += delayMs;
      };
      const applications = new ScriptedApplications(running);
      applications.report = async () => (nowMs < noonishMs + 30_000 ? running : succeeded);
      const context = recordedContext({});
      const master = new ScriptedMaster([{ type: "status", status: aJobStatus() }, ...updates], "hold");
      expect(await followed(context, applications, [master], undefined, { now: () => nowMs, sleep }).ended).toBe(0);
      return (context.out.text + context.err.text).match(/The AM has not answered.*/g);
    };
    expect(await said()).toEqual([
      "The AM has not answered for 5 s; the ResourceManager says RUNNING, attempt 1; still trying",
    ]);
    expect(await said({ type: "outcome", outcome })).toBeNull();
  });

  test("are not told of a wait that is over, and once of an AM that cannot be asked", async () => {
    let nowMs = noonishMs;
    const applications = new ScriptedApplications(aReport());
    const runsAtMs = noonishMs + 60_000;
    applications.report = async () =>
      nowMs < runsAtMs ? aReport() : nowMs < runsAtMs + 60_000 ? noAddress : succeeded;
    const { amHost: _, ...noAddress } = running;
    const toldAtMs: number[] = [];
    applications.waitingReason = async () => {
      toldAtMs.push(nowMs);
      return { code: "manager-says", words: "queue ml has no room" };
    };
    const sleep = async (delayMs: number) => {
      nowMs += delayMs;
    };
    const context = recordedContext({});
    await followed(context, applications, [], undefined, { now: () => nowMs, sleep }).ended;
    expect(context.out.text.match(/Its AM cannot be asked/g)).toHaveLength(1);
    expect(Math.max(...toldAtMs)).toBeGreaterThan(noonishMs + 50_000);
    expect(toldAtMs.filter((atMs) => atMs > runsAtMs + 10_000)).toEqual([]);
    expect(toldAtMs).toEqual([...new Set(toldAtMs)]);
  });

  test("are short again as long as the AM has a container", async () => {
    const none = { memoryMiB: 0, vcores: 0, others: {} };
    const usage = { used: none, needed: none, memorySeconds: 0, vcoreSeconds: 0, resourceSeconds: {} };
    const waits = aReport({ usage: { ...usage, usedContainers: 0 } });
    const starts = aReport({ usage: { ...usage, usedContainers: 1 } });
    const sleptMs: number[] = [];
    let nowMs = noonishMs;
    const sleep = async (delayMs: number) => {
      sleptMs.push(delayMs);
      nowMs += delayMs;
    };
    const options = { now: () => nowMs, sinceMs: noonishMs - 60_000, sleep };
    const applications = new ScriptedApplications(waits, starts, starts, aReport(), succeeded);
    await followed(recordedContext({}), applications, [], undefined, options).ended;
    const patient = Array.from({ length: 10 }, () => 1_000);
    expect(sleptMs).toEqual([...patient, 100, 100, ...patient]);
  });

  test("grow again where that AM does not come", async () => {
    const none = { memoryMiB: 0, vcores: 0, others: {} };
    const usage = { usedContainers: 1, used: none, needed: none, memorySeconds: 0, vcoreSeconds: 0 };
    const starts = aReport({ usage: { ...usage, resourceSeconds: {} } });
    const sleptMs: number[] = [];
    let nowMs = noonishMs;
    const sleep = async (delayMs: number) => {
      sleptMs.push(delayMs);
      nowMs += delayMs;
    };
    const applications = new ScriptedApplications(...Array(60).fill(starts), succeeded);
    await followed(recordedContext({}), applications, [], undefined, { now: () => nowMs, sleep }).ended;
    expect(sleptMs[0]).toBe(100);
    expect(sleptMs.at(-1)).toBeGreaterThan(500);
  });

  test("leave nobody in doubt: a terminal is told each second how long it has waited", async () => {
    const { shown } = await asksOfAWait(60_000);
    for (const waited of ["41 s", "42 s", "43 s"]) expect(shown).toContain(`ACCEPTED ${waited}`);
  });

  test("let no limit pass: a job that may not wait so long is ended when it has", async () => {
    const { applications, askedAtS, shown } = await asksOfAWait(70_000, { startupLimitMs: 62_000 });
    expect(
      shown.match(/The AM is not running after 1 min 2 s: ending the job \(tony.am.startup-timeout\)/g),
    ).toHaveLength(1);
    expect(applications.killed[0]).toBe("not running after 1 min 2 s (tony.am.startup-timeout)");
    expect(askedAtS.find((at) => at > 62)).toBeLessThan(65);
  });

  test("stay short for a ResourceManager that does not answer, which is asked for nothing", async () => {
    const away = new HadoopError("refused", { code: "RPC_CONNECT_FAILED", retryable: true });
    let nowMs = noonishMs;
    const sleptMs: number[] = [];
    const sleep = async (delayMs: number) => {
      sleptMs.push(delayMs);
      nowMs += delayMs;
    };
    for (const sinceMs of [noonishMs - 60_000, noonishMs]) {
      const applications = new ScriptedApplications(away, away, succeeded);
      const options = { now: () => nowMs, sinceMs, sleep };
      await followed(recordedContext({}), applications, [], undefined, options).ended;
      nowMs = noonishMs;
    }
    expect(sleptMs).toEqual([500, 500, 100, 100]);
  });

  /** How long is slept of a job that has waited for a minute, where nothing is heard of it. */
  async function sleptThrough(
    applications: ScriptedApplications,
    masters: AttemptConnection[],
    options: Partial<FollowOptions> = {},
  ) {
    let nowMs = noonishMs;
    const sleptMs: number[] = [];
    const sleep = async (delayMs: number, signal?: AbortSignal) => {
      for (let turn = 0; turn < 10 && signal?.aborted !== true; turn += 1) await new Promise(setImmediate);
      if (signal?.aborted === true) return;
      sleptMs.push(delayMs);
      nowMs += delayMs;
    };
    const logs = { kind: "none" } as const;
    const shared = { now: () => nowMs, sinceMs: noonishMs - 60_000, sleep, logs, ...options };
    await followed(recordedContext({}), applications, masters, options.stop, shared).ended;
    return sleptMs;
  }

  test("are half a second while its AM is heard, and the ResourceManager is asked for nothing", async () => {
    const master = new ScriptedMaster([{ type: "status", status: aJobStatus() }], "hold");
    const sleptMs = await sleptThrough(new ScriptedApplications(running, succeeded), [master]);
    expect(sleptMs).toEqual(Array.from({ length: 10 }, () => 500));
  });

  test("are short once the job has its outcome, whose report is all that is missing", async () => {
    const master = new ScriptedMaster([{ type: "outcome", outcome }], "hold");
    expect(await sleptThrough(new ScriptedApplications(running, running, running, succeeded), [master])).toEqual([
      50, 50,
    ]);
  });

  test("are short while the job is to be ended, from here or because it starts too late", async () => {
    const waits = () => new ScriptedApplications(aReport(), aReport(), aReport(), succeeded);
    const stop = AbortSignal.abort("Ctrl-C");
    expect(await sleptThrough(waits(), [], { stop })).toEqual([250, 250, 250]);
    expect(await sleptThrough(waits(), [], { startupLimitMs: 30_000 })).toEqual([250, 250]);
  });

  test("begin small again when an AM that was heard is gone", async () => {
    const master = new ScriptedMaster([{ type: "status", status: aJobStatus() }], "break");
    const applications = new ScriptedApplications(running, aReport(), aReport(), succeeded);
    const sleptMs = await sleptThrough(applications, [master]);
    expect(Math.max(...sleptMs)).toBeLessThanOrEqual(500);
  });

  test("come between two tries to connect to an AM that does not answer", async () => {
    const { sleptMs, sleep } = skippedTime();
    const masters = [1, 2, 3].map(() => new ScriptedMaster([], "break"));
    const applications = new ScriptedApplications(running, running, running, succeeded);
    const { ended, connected } = followed(recordedContext({}), applications, masters, undefined, { sleep });
    expect(await ended).toBe(0);
    expect(connected).toHaveLength(3);
    expect(sleptMs).toHaveLength(3);
  });
});

describe("ending a job that is followed", () => {
  const killed = aReport({ state: "KILLED", finalStatus: "KILLED", diagnostics: "killed by Ctrl-C at the client" });

  test("asks the AM first, and leaves the ResourceManager alone when that is enough", async () => {
    const stop = new AbortController();
    const applications = new ScriptedApplications(running);
    const master = new ScriptedMaster([{ type: "status", status: aJobStatus() }], "hold");
    master.onStop = () => {
      applications.report = async () => killed;
    };
    const context = recordedContext({});
    const { ended } = followed(context, applications, [master], stop.signal);
    await context.out.waitFor("ps 1/1 running");
    stop.abort("Ctrl-C");
    expect(await ended).toBe(4);
    expect(master.stopped).toEqual([expect.stringMatching(/^killed by \S+ from \S+ \(Ctrl-C\)$/)]);
    expect(applications.killed).toEqual([]);
  });

  test("waits for an AM that gives the programs longer, and says until when", async () => {
    const stop = new AbortController();
    const applications = new ScriptedApplications(running);
    let nowMs = noonishMs;
    let spoken = () => {};
    let asked = false;
    const speaking = masterSaying(() => {
      spoken();
      return asked ? endingBy(noonishMs + 60_000, nowMs) : aJobStatus({ nowMs });
    });
    const stopping = async () => {
      asked = true;
    };
    const context = recordedContext({});
    const masters = [{ ...speaking, stop: stopping }];
    const { ended } = followed(context, applications, masters, stop.signal, { now: () => nowMs });
    await context.out.waitFor("ps 1/1 running");
    stop.abort("Ctrl-C");
    await context.out.waitFor(
      "The job has until 14:01:00 to end: its programs have tony.task.stop-grace to stop, uploads tony.carrier.timeout; it ends as soon as they are done",
    );
    for (let seconds = 0; seconds < 20; seconds += 4) {
      nowMs += 4_000;
      await new Promise<void>((resolve) => {
        spoken = resolve;
      });
    }
    applications.report = async () => killed;
    expect(await ended).toBe(4);
    expect(applications.killed).toEqual([]);
  });

  test("does not wait for an AM that takes longer than whoever stopped us waits", async () => {
    const stop = new AbortController();
    const applications = new ScriptedApplications(running);
    applications.afterKill = killed;
    let nowMs = noonishMs;
    let spoken = () => {};
    let asked = false;
    const speaking = masterSaying(() => {
      spoken();
      return asked ? endingBy(noonishMs + 3_600_000, nowMs) : aJobStatus({ nowMs });
    });
    const stopping = async () => {
      asked = true;
    };
    const context = recordedContext({});
    const masters = [{ ...speaking, stop: stopping }];
    const { ended } = followed(context, applications, masters, stop.signal, { now: () => nowMs, endWithinMs: 20_000 });
    await context.out.waitFor("ps 1/1 running");
    stop.abort("SIGTERM");
    for (; nowMs < noonishMs + 20_000; nowMs += 4_000) {
      expect(applications.killed).toEqual([]);
      const said = new Promise<void>((resolve) => {
        spoken = resolve;
      });
      await said;
    }
    expect(await ended).toBe(4);
    expect(applications.killed).toEqual([expect.stringMatching(/^killed by \S+ from \S+ \(SIGTERM\)$/)]);
  });

  test("says once that it is not ours to end, where neither the AM nor the ResourceManager lets us", async () => {
    const stop = new AbortController();
    const applications = new ScriptedApplications(running);
    const refusal = killRefusal(running, "bob", new Error("MODIFY_APP"));
    applications.kill = async () => {
      throw refusal;
    };
    const master = new ScriptedMaster([{ type: "status", status: aJobStatus() }], "hold");
    master.onStop = () => {
      throw new ApiError("bob may not end this job", { code: "API_FORBIDDEN" });
    };
    const context = recordedContext({});
    const { ended } = followed(context, applications, [master], stop.signal);
    await context.out.waitFor("ps 1/1 running");
    stop.abort("Ctrl-C");
    await expect(ended).rejects.toBe(refusal);
    expect(context.out.text).not.toMatch(/cannot be asked|trying again/);
  });

  test("fails with the refusal of who may not end a job that starts too late", async () => {
    const applications = new ScriptedApplications(aReport());
    const refusal = killRefusal(running, "bob", new Error("MODIFY_APP"));
    applications.kill = () => Promise.reject(refusal);
    const limits = { startupLimitMs: 0, sinceMs: Date.now() - 1_000 };
    await expect(followed(recordedContext({}), applications, [], undefined, limits).ended).rejects.toBe(refusal);
  });

  test("is given up with an unknown outcome where the job does not end", async () => {
    let nowMs = noonishMs;
    const sleep = async (delayMs: number) => {
      nowMs += delayMs;
    };
    const context = recordedContext({});
    const applications = new ScriptedApplications(aReport());
    const stop = AbortSignal.abort("Ctrl-C");
    const { ended } = followed(context, applications, [], stop, { now: () => nowMs, sleep });
    expect(await ended).toBe(5);
    expect(context.err.text).toBe(
      `${running.id} has not ended within 15 s and may still run: tony-ts kill ${running.id}\n`,
    );
  });

  test("asks the ResourceManager where there is no AM yet, and says what is left", async () => {
    const stop = new AbortController();
    const applications = new ScriptedApplications(aReport());
    applications.afterKill = killed;
    const context = recordedContext({});
    const { ended } = followed(context, applications, [], stop.signal);
    stop.abort("SIGTERM");
    expect(await ended).toBe(4);
    expect(applications.killed).toEqual([expect.stringMatching(/^killed by \S+ from \S+ \(SIGTERM\)$/)]);
    expect(context.out.text).toMatch(/Ended: all containers are returned; its staging folder is removed/);
  });
});
