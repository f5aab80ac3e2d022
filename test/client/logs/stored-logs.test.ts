import { Readable } from "node:stream";
import { describe, expect, jest, test } from "@jest/globals";
import type { Applications } from "../../../client/applications/applications.ts";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import { type LogsRequest, parseLogSelection } from "../../../client/logs/log-selection.ts";
import { storedLogs } from "../../../client/logs/stored-logs.ts";
import type { ApplicationState } from "../../../src/hadoop/yarn/records.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, outOfMemory } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { recordedContext } from "../support.ts";

const none = { memoryMiB: 0, vcores: 0, others: {} };
const usage = { usedContainers: -1, used: none, needed: none, memorySeconds: 0, vcoreSeconds: 0, resourceSeconds: {} };

const waiting = { pending: "waiting for the NodeManagers", isAtHand: false, async *logs() {} };

/** What `logs` says of a job that never had a container. */
async function said(state: ApplicationState) {
  const context = recordedContext({});
  const request = { report: aReport({ state, usage }), selection: { kind: "lead" }, filter: {} } as const;
  const printer = new LogPrinter(context.output);
  const printed = storedLogs(aPlace({ logStore: () => waiting }), request, printer, context);
  return { printed, context };
}

test("a job that ended before it had a container is not waited for", async () => {
  const { printed, context } = await said("KILLED");
  await expect(printed).rejects.toMatchObject({
    code: "NO_LOGS",
    exitCode: 3,
    message: expect.stringMatching(/^There are no logs of application_\S+: it ended before its AM had a container\n/),
  });
  expect(context.err.text).toBe("");
});

test("of another one's job that used nothing the logs are looked for: what it used he alone is told", async () => {
  const context = recordedContext({});
  const report = aReport({ state: "KILLED", usage, user: "bob" });
  const request = { report, selection: { kind: "lead" }, filter: {} } as const;
  const store = { pending: undefined, isAtHand: false, async *logs() {} };
  const printed = storedLogs(aPlace({ logStore: () => store }), request, new LogPrinter(context.output), context);
  await expect(printed).rejects.toMatchObject({
    ...{ code: "NO_LOGS", exitCode: 3 },
    message: `There are no logs of ${report.id}`,
  });
});

test("logs that no node uploads are waited for for a minute from the question, which says how long", async () => {
  const context = recordedContext({});
  let looks = 0;
  const store = {
    ...waiting,
    async *logs() {
      looks += 1;
      context.clock.nowMs += 20_000;
      yield* [];
    },
  };
  const report = aReport({ state: "FINISHED" });
  const request = { report, selection: { kind: "lead" }, filter: {} } as const;
  jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
  const printed = storedLogs(aPlace({ logStore: () => store }), request, new LogPrinter(context.output), context);
  const failed = expect(printed).rejects.toMatchObject({
    code: "NO_LOGS",
    message: `There are no logs of ${report.id} yet: still waiting for the NodeManagers after 60 s\n  tony-ts logs ${report.id} waits again`,
  });
  await jest.advanceTimersByTimeAsync(2_999);
  expect(looks).toBe(3);
  await jest.advanceTimersByTimeAsync(1);
  await failed;
  jest.useRealTimers();
  expect(looks).toBe(4);
  expect(context.err.text).toContain("waiting for the NodeManagers, 20 s (up to 60 s)");
});

test("that a job waits for its first container, and so has printed nothing yet, is no error", async () => {
  const { printed, context } = await said("ACCEPTED");
  await printed;
  expect(context.err.text).toMatch(/application_\S+ has printed nothing yet: its AM has no container/);
  expect(context.out.text).toBe("");
});

const { currentAttemptId: first, ...unattempted } = aReport({ user: "bob" });

test.each([
  ["before it has an attempt", unattempted],
  ["whose AM has no container", { ...unattempted, currentAttemptId: first ?? "" }],
])("nobody waits for what another one's job prints that waits in its queue: one %s", async (_, report) => {
  const context = recordedContext({});
  const store = {
    ...waiting,
    logs() {
      throw new RangeError("HDFS lets only bob read that");
    },
  };
  const request = { report, selection: { kind: "lead" }, filter: {} } as const;
  await storedLogs(aPlace({ logStore: () => store }), request, new LogPrinter(context.output), context);
  expect(context.err.text).toMatch(/application_\S+ has printed nothing yet: its AM has no container/);
});

test.each([
  ["that has a later attempt", { currentAttemptId: "appattempt_1795305600000_0009_000002" }, false],
  ["that a new ResourceManager does not know yet", { diagnostics: "Attempt recovered after RM restart" }, false],
  ["that waits, and whose logs are at hand", {}, true],
])("what a job has printed is looked for of one %s", async (_, changes, isAtHand) => {
  const context = recordedContext({});
  const request = { report: aReport({ user: "bob", ...changes }), selection: { kind: "lead" }, filter: {} } as const;
  const empty = { pending: undefined, isAtHand, async *logs() {} };
  const printed = storedLogs(aPlace({ logStore: () => empty }), request, new LogPrinter(context.output), context);
  await expect(printed).rejects.toMatchObject({ code: "NO_LOGS" });
});

/** A place that has these files of containers: the name and the text of each. */
const placeWith = (
  files: Readonly<Record<string, readonly [name: string, text: string]>>,
  changes: Partial<Applications> = {},
) =>
  aPlace({
    logStore: () => ({
      ...waiting,
      async *logs(wanted) {
        for (const [containerId, [name, text]] of Object.entries(files).filter(([of]) => wanted(of)))
          yield { containerId, name, lengthBytes: text.length, content: Readable.from([Buffer.from(text)]) };
      },
    }),
    ...changes,
  });
const event = (event: string, task: string, container: string) => JSON.stringify({ event, task, container });

/** What is printed of a job that has just ended, and said beside it. */
async function printedOf(
  place: Applications,
  logs: string | undefined,
  more: Partial<LogsRequest> = {},
): Promise<{ readonly out: string; readonly err: string }> {
  const context = recordedContext({});
  const report = aReport({ state: "FINISHED", finalStatus: "SUCCEEDED", finishTimeMs: context.now() });
  const request = { report, selection: parseLogSelection(logs), filter: {}, ...more };
  await storedLogs(place, request, new LogPrinter(context.output), context);
  return { out: context.out.text, err: context.err.text };
}

test("nobody waits for a container whose log is not wanted, or in which no program was started", async () => {
  const started = [
    ["task-started", "worker:0", "c2"],
    ["task-started", "worker:1", "c3"],
    ["task-allocated", "worker:2", "c4"],
  ] as const;
  const am = started.map(([kind, task, container]) => event(kind, task, container)).join("\n");
  const place = placeWith({ container_1_0001_01_000001: ["am.log", am], c2: ["stdout", "hello\n"] });
  expect(await printedOf(place, undefined)).toEqual({ out: "hello\n", err: "" });
  expect(await printedOf(place, "worker:0,worker:2")).toEqual({
    out: "worker:0 | hello\n",
    err: "no program of worker:2 was started\n",
  });
});

test("the last lines alone are printed where these are asked for, of a task and of the AM, and the lines alone that match", async () => {
  const am = `${event("task-started", "worker:0", "c2")}\n{"a":1}\n{"a":2}\n`;
  const place = placeWith({ container_1_0001_01_000001: ["am.log", am], c2: ["stdout", "one\ntwo\nthree\n"] });
  const master = { selection: { kind: "master" } } as const;
  expect((await printedOf(place, undefined, { filter: { tail: 2 } })).out).toBe("two\nthree\n");
  expect((await printedOf(place, undefined, { ...master, filter: { tail: 1 } })).out).toBe('{"a":2}\n');
  expect((await printedOf(place, undefined, { ...master, filter: { pattern: /"a":1/ } })).out).toBe('{"a":1}\n');
  expect((await printedOf(place, undefined, { filter: { generation: 1, tail: 1 } })).err).not.toContain("generation");
});

test("tasks are printed in the order of their numbers, by the names that people call them by", async () => {
  const am = [10, 9].map((index) => event("task-started", `worker:${index}`, `c${index}`)).join("\n");
  const files = { c9: ["stdout", "nine\n"], c10: ["stdout", "ten\n"] } as const;
  const place = placeWith({ container_1_0001_01_000001: ["am.log", am], ...files });
  expect((await printedOf(place, "all")).out).toBe("worker:9 | nine\nworker:10 | ten\n");
  const ofTrial = (index: number) =>
    JSON.stringify({
      event: "task-started",
      task: `worker:${index}`,
      container: `c${index}`,
      trial: `trial:${index}/worker:0`,
    });
  const search = placeWith({ container_1_0001_01_000001: ["am.log", `${ofTrial(9)}\n${ofTrial(10)}`], ...files });
  expect((await printedOf(search, "all")).out).toBe("trial:9 | nine\ntrial:10 | ten\n");
});

test("a job whose log names no task never started any, and one has no generation that has not been", async () => {
  const idle = placeWith({ container_1_0001_01_000001: ["am.log", "{}"] });
  const { id } = aReport();
  for (const logs of [undefined, "worker:0"])
    await expect(printedOf(idle, logs)).rejects.toMatchObject({
      ...{ code: "NO_LOGS", exitCode: 3 },
      message: `No task of ${id} ever had a container: tony-ts logs ${id} am says more`,
    });
  const am = event("task-started", "worker:0", "c2");
  const place = placeWith({ container_1_0001_01_000001: ["am.log", am], c2: ["stdout", "hello\n"] });
  await expect(printedOf(place, undefined, { filter: { generation: 9 } })).rejects.toThrow(
    "The job has no generation 9",
  );
});

test("a trial that ended in an earlier search is that one's: its last state says so, which is read for trials alone", async () => {
  let asked = 0;
  const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
  const trial = { state: "completed", application: "application_1_0001" } as const;
  const tasks = [{ task: "worker:0", state: "succeeded", restarts: 0, trial } as const];
  const am = event("task-started", "worker:0", "c2");
  const place = placeWith(
    { container_1_0001_01_000001: ["am.log", am], c2: ["stdout", "hello\n"] },
    {
      finalStatus: async () => {
        asked += 1;
        return aJobStatus({ search, tasks });
      },
    },
  );
  await expect(printedOf(place, "worker:7,trial:0")).rejects.toThrow(
    "trial:0 ended in application_1_0001, which has its logs: tony-ts logs application_1_0001 trial:0",
  );
  expect(asked).toBe(1);
  await printedOf(place, "worker:0");
  await expect(printedOf(place, "trial:0", { report: aReport({ state: "RUNNING" }) })).rejects.toThrow(
    "The job has no task trial:0",
  );
  expect(asked).toBe(1);
});

test("executors' logs are not followed by a word on which task failed first", async () => {
  const am = event("task-started", "worker:0", "c2");
  const failed = { ...allSucceeded, result: "failed", cause: outOfMemory(), endedAtMs: 0 } as const;
  const place = placeWith(
    { container_1_0001_01_000001: ["am.log", am], c2: ["executor.log", "begun\n"] },
    { finalStatus: async () => aJobStatus({ state: "failed", outcome: failed }) },
  );
  const report = aReport({ state: "FINISHED", finalStatus: "FAILED" });
  expect(await printedOf(place, undefined, { report, executor: true })).toEqual({ out: "begun\n", err: "" });
});

test("each task of a container has its own output, and a task that of all its containers", async () => {
  const trials: Readonly<Record<string, string>> = { "prep:0": "trial:0/prep:0", "trainer:0": "trial:1/prep:0" };
  const line = (task: string, container: string) =>
    JSON.stringify({ level: "info", trial: trials[task], task, container });
  const files: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    container_1_0001_01_000001: {
      "am.log": [line("prep:0", "c2"), line("trainer:0", "c3"), line("trainer:0", "c2"), line("prep:0", "c2")].join(
        "\n",
      ),
    },
    c2: {
      "executor.log": "prepares\n",
      stdout: "prepared\n",
      "trainer-0.executor.log": "trains on\n",
      "trainer-0.stdout": "trained on\n",
    },
    c3: { "executor.log": "trains\n", stdout: "trained\n" },
  };
  const place = aPlace({
    logStore: () => ({
      pending: undefined,
      isAtHand: false,
      async *logs(wanted) {
        for (const [containerId, logs] of Object.entries(files).filter(([id]) => wanted(id))) {
          for (const [name, text] of Object.entries(logs)) {
            yield { containerId, name, lengthBytes: text.length, content: Readable.from([Buffer.from(text)]) };
          }
        }
      },
    }),
  });
  const printed = async (name: string, executor = false) => {
    const context = recordedContext({});
    const request = {
      report: aReport({ state: "RUNNING" }),
      selection: { kind: "named", names: [name] },
      filter: {},
      executor,
    } as const;
    await storedLogs(place, request, new LogPrinter(context.output), context);
    return context.out.text;
  };
  expect(await printed("prep:0")).toBe("prepared\n");
  expect(await printed("trainer:0")).toBe("trained\ntrained on\n");
  expect(await printed("trial:0")).toBe("prepared\n");
  expect(await printed("trial:1/prep:0")).toBe("trained\ntrained on\n");
  await expect(printed("trial:2")).rejects.toThrow("The job has no task trial:2");
  expect(await printed("prep:0", true)).toBe("prepares\n");
  expect(await printed("trainer:0", true)).toBe("trains\ntrains on\n");
});

test("a node that uploads later than the ApplicationMaster's is waited for, of a job that has just ended", async () => {
  const master = JSON.stringify({ event: "task-started", task: "worker:0", container: "c2" });
  let looks = 0;
  const place = aPlace({
    logStore: () => ({
      pending: "waiting for the NodeManagers",
      isAtHand: false,
      async *logs(wanted) {
        looks += 1;
        const there = {
          container_1_0001_01_000001: ["am.log", master],
          ...(looks > 2 && { c2: ["stdout", "late\n"] }),
        };
        for (const [containerId, [name = "", text = ""]] of Object.entries(there).filter(([id]) => wanted(id)))
          yield { containerId, name, lengthBytes: text.length, content: Readable.from([Buffer.from(text)]) };
      },
    }),
  });
  const context = recordedContext({});
  const report = aReport({ state: "FINISHED", finishTimeMs: context.now() });
  const request = { report, selection: { kind: "lead" }, filter: {} } as const;
  await storedLogs(place, request, new LogPrinter(context.output), context);
  expect(context.out.text).toBe("late\n");
  expect(context.err.text).toMatch(/^waiting for the NodeManagers, /);
});

test("of a cluster whose clock is ahead nothing is waited for longer, and no wait is left on the terminal", async () => {
  const started = (task: string, container: string) => JSON.stringify({ event: "task-started", task, container });
  const files = {
    container_1_0001_01_000001: ["am.log", `${started("worker:0", "c2")}\n${started("worker:1", "c3")}`],
    c2: ["stdout", "there\n"],
  };
  const context = recordedContext({ terminal: true });
  const place = aPlace({
    logStore: () => ({
      pending: "waiting for the NodeManagers",
      isAtHand: false,
      async *logs(wanted) {
        context.clock.nowMs += 20_000;
        for (const [containerId, [name = "", text = ""]] of Object.entries(files).filter(([id]) => wanted(id)))
          yield { containerId, name, lengthBytes: text.length, content: Readable.from([Buffer.from(text)]) };
      },
    }),
  });
  const report = aReport({ state: "FINISHED", finishTimeMs: context.now() + 3_600_000 });
  const request = { report, selection: { kind: "all" }, filter: {} } as const;
  jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate"] });
  const printed = storedLogs(place, request, new LogPrinter(context.output), context);
  await jest.advanceTimersByTimeAsync(10_000);
  jest.useRealTimers();
  await printed;
  expect(context.out.text).toMatch(/worker:0 \| there\n$/);
  expect(context.err.text).toContain("what worker:1 printed was not uploaded by its node");
}, 10_000);

test("of a job that runs and whose AM cannot be asked there is what is stored; nothing is waited for, nor said to be silent", async () => {
  const line = JSON.stringify({ event: "task-started", task: "worker:0", container: "c2" });
  const files = { container_1_0001_02_000001: ["am.log", line] };
  const place = aPlace({
    logStore: () => ({
      ...waiting,
      async *logs(wanted) {
        for (const [containerId, [name = "", text = ""]] of Object.entries(files).filter(([id]) => wanted(id)))
          yield { containerId, name, lengthBytes: text.length, content: Readable.from([Buffer.from(text)]) };
      },
    }),
  });
  const context = recordedContext({});
  const report = aReport({ state: "RUNNING", currentAttemptId: "appattempt_1_0001_000002" });
  const request = { report, selection: { kind: "lead" }, filter: {} } as const;
  await storedLogs(place, request, new LogPrinter(context.output), context);
  expect([context.out.text, context.err.text]).toEqual(["", ""]);
});

test("a job so quick that nothing of it is counted yet has logs all the same", async () => {
  const master = JSON.stringify({ event: "task-started", task: "worker:0", container: "c2" });
  const files = { container_1_0001_01_000001: ["am.log", master], c2: ["stdout", "quick\n"] };
  const place = aPlace({
    logStore: () => ({
      pending: undefined,
      isAtHand: false,
      async *logs(wanted) {
        for (const [containerId, [name = "", text = ""]] of Object.entries(files).filter(([id]) => wanted(id)))
          yield { containerId, name, lengthBytes: text.length, content: Readable.from([Buffer.from(text)]) };
      },
    }),
  });
  const context = recordedContext({});
  const report = aReport({ state: "FINISHED", usage, amHost: "n1", amRpcPort: 4000 });
  const request = { report, selection: { kind: "lead" }, filter: {} } as const;
  await storedLogs(place, request, new LogPrinter(context.output), context);
  expect(context.out.text).toBe("quick\n");
});

describe("logs that were closed while the job ran", () => {
  const closed = (at: number) => String(at).padStart(12, "0");
  const started = JSON.stringify({ event: "task-started", task: "worker:0", container: "c2" });
  // In the order in which nodes store them: what was stored before the end first, then the rest by its name.
  const files: readonly (readonly [container: string, name: string, text: string])[] = [
    ["container_1_0001_01_000001", `am.log.${closed(0)}`, "{}\n"],
    ["container_1_0001_01_000001", "am.log", "{}\n"],
    ["container_1_0001_01_000001", `am.log.${closed(3)}`, `${started}\n`],
    ["c2", `stdout.${closed(4)}`, "two\n"],
    ["c2", "output.index", "1000 1 0 0\n2000 1 12 0\n"],
    ["c2", "stdout", "four\n"],
    ["c2", `stdout.${closed(4)}`, "two\n"],
    ["c2", `stdout.${closed(8)}`, "three\n"],
  ];
  const place = aPlace({
    logStore: () => ({
      pending: undefined,
      isAtHand: false,
      async *logs(wanted) {
        for (const [containerId, name, text] of files.filter(([id]) => wanted(id))) {
          yield { containerId, name, lengthBytes: text.length, content: Readable.from([Buffer.from(text)]) };
        }
      },
    }),
  });
  const printed = async (names: readonly string[]) => {
    const context = recordedContext({});
    const selection = names.length === 0 ? ({ kind: "master" } as const) : ({ kind: "named", names } as const);
    const report = aReport({ state: "RUNNING" });
    await storedLogs(place, { report, selection, filter: {} }, new LogPrinter(context.output), context);
    return { out: context.out.text, err: context.err.text };
  };

  test("are printed as one, each part once, with a word on what is not kept", async () => {
    expect(await printed(["worker:0"])).toEqual({
      out: "two\nthree\nfour\n",
      err: "4 B of worker:0's output are not kept: tony.log.max-size and tony.log.max-files say how much is\n",
    });
  });

  test("are the ApplicationMaster's, too", async () => {
    expect(await printed([])).toMatchObject({ out: `{}\n${started}\n{}\n` });
  });
});

describe("the logs of a job with two attempts of its ApplicationMaster", () => {
  const line = (attempt: number) =>
    JSON.stringify({ event: "task-started", task: `worker:${attempt}`, container: "c2" });
  const [first, second] = ["container_1_0001_01_000001", "container_1_0001_02_000001"];
  const attempts = { [second]: `${line(2)}\n`, [first]: `${line(1)}\n` };

  /** What is printed of the ApplicationMaster's log; `there`: which of them are uploaded when it is looked for the n-th time. */
  async function masterLog(there: (look: number) => readonly string[], finishedMsAgo: number) {
    let looks = 0;
    const place = aPlace({
      logStore: () => ({
        pending: "waiting for the NodeManagers",
        isAtHand: false,
        async *logs() {
          looks += 1;
          for (const containerId of there(looks)) {
            const text = attempts[containerId] ?? "";
            yield {
              containerId,
              name: "am.log",
              lengthBytes: text.length,
              content: Readable.from([Buffer.from(text)]),
            };
          }
        },
      }),
    });
    const context = recordedContext({});
    const report = aReport({
      state: "FINISHED",
      finishTimeMs: context.now() - finishedMsAgo,
      currentAttemptId: "appattempt_1_0001_000002",
    });
    const request = { report, selection: { kind: "master" }, filter: {} } as const;
    await storedLogs(place, request, new LogPrinter(context.output), context);
    return context.out.text;
  }

  test("are those of both, the first one's first, whichever node uploads sooner", async () => {
    const printed = await masterLog((look) => (look < 3 ? [second] : [second, first]), 0);
    expect(printed).toBe(`${line(1)}\n${line(2)}\n`);
  });

  test("are those that there are, when the job ended long ago", async () => {
    expect(await masterLog(() => [first], 600_000)).toBe(`${line(1)}\n`);
  });
});

describe("the default log of a job that failed", () => {
  /** A job whose worker:1 failed first, of which worker:0 printed this. */
  async function shown(
    printedByLead: string | undefined,
    selection: "lead" | "all" = "lead",
    sinceMs?: number,
    event = "task-started",
  ) {
    const said = (event: string, task: string, container: string) => JSON.stringify({ event, task, container });
    const files: Readonly<Record<string, readonly [string, string]>> = {
      container_1_0001_01_000001: [
        "am.log",
        [said(event, "worker:0", "c2"), said("task-started", "worker:1", "c3")].join("\n"),
      ],
      ...(printedByLead !== undefined && { c2: ["stdout", printedByLead] }),
      c3: ["stderr", "boom\n"],
    };
    const cause = outOfMemory();
    const place = aPlace({
      finalStatus: async () =>
        aJobStatus({ state: "failed", outcome: { ...allSucceeded, result: "failed", cause, endedAtMs: 0 } }),
      logStore: () => ({
        pending: undefined,
        isAtHand: false,
        async *logs(wanted) {
          for (const [containerId, [name, text]] of Object.entries(files).filter(([id]) => wanted(id)))
            yield { containerId, name, lengthBytes: text.length, content: Readable.from([Buffer.from(text)]) };
        },
      }),
    });
    const context = recordedContext({});
    const report = aReport({ state: "FINISHED", finalStatus: "FAILED", finishTimeMs: 1 });
    const filter = sinceMs === undefined ? {} : { sinceMs };
    await storedLogs(
      place,
      { report, selection: { kind: selection }, filter },
      new LogPrinter(context.output),
      context,
    );
    return { out: context.out.text, err: context.err.text };
  }
  const first = "worker:1 failed first: tony-ts logs application_1795305600000_0009 worker:1\n";

  test("that has nothing in it says so, and whose has something", async () => {
    expect(await shown("")).toEqual({ out: "", err: `worker:0 printed nothing\n${first}` });
    expect(await shown("", "lead", 5)).toEqual({
      out: "",
      err: `no matching lines in worker:0\n${first}`,
    });
  });

  test("that has something says whose has more", async () => {
    expect(await shown("hello\n")).toEqual({ out: "hello\n", err: first });
  });

  test("tells what was lost with a node, and what never ran, from what printed nothing", async () => {
    expect((await shown(undefined)).err).toBe(`what worker:0 printed was not uploaded by its node\n${first}`);
    expect(await shown("", "all", undefined, "task-allocated")).toEqual({
      out: "worker:1 | boom\n",
      err: "no program of worker:0 was started\n",
    });
  });

  test("is all that is asked for where it is all", async () => {
    expect(await shown("", "all")).toEqual({ out: "worker:1 | boom\n", err: "worker:0 printed nothing\n" });
  });
});
