import { getEventListeners, getMaxListeners } from "node:events";
import { beforeEach, describe, expect, jest, test } from "@jest/globals";
import { TaskTails } from "../../../client/logs/task-tails.ts";
import type { AttemptConnection, LogPiece, LogRequest } from "../../../client/master/attempt-connection.ts";
import { keptBy } from "../../support/resources.ts";
import { ManualClock } from "../support.ts";

/** Tails whose lines are gathered; no time passes but what the clock is set to. */
function tailsInto(lines: string[], { from = 0, clock = new ManualClock(), executor = false } = {}): TaskTails {
  return new TaskTails({
    print: (name, { line }) => lines.push(`${name} | ${line}`),
    now: clock.now,
    from: () => from,
    executor,
  });
}

/** An AM whose logs stay open: each reader waits for the signal, as a real stream does. */
class OpenLogs implements AttemptConnection {
  readonly signals = new Set<AbortSignal>();

  async *readLog({ task, stream }: LogRequest, signal: AbortSignal): AsyncGenerator<LogPiece> {
    this.signals.add(signal);
    yield { offset: 0, data: Buffer.from(`${stream} of ${task}\n`), generation: 1, skippedBytes: 0 };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  }

  async *follow(): AsyncGenerator<never> {}
  async stop(): Promise<void> {}
  close(): void {}
}

test("any number of tasks is followed at once, without Node's warning of a leak", async () => {
  const lines: string[] = [];
  const tails = tailsInto(lines);
  const logs = new OpenLogs();
  tails.attach(logs, 1);
  tails.follow(Array.from({ length: 8 }, (_, index) => `worker:${index}`));
  await tails.finish(100);

  expect(lines).toHaveLength(16);
  for (const signal of logs.signals) {
    expect(getMaxListeners(signal)).toBeGreaterThan(getEventListeners(signal, "abort").length);
  }
});

test("of a link that is replaced nothing more is read", async () => {
  const tails = tailsInto([]);
  const [first, second] = [new OpenLogs(), new OpenLogs()];
  tails.attach(first, 1);
  tails.follow([task]);
  tails.attach(second, 1);
  expect([...first.signals].map(({ aborted }) => aborted)).toEqual([true]);
  expect([...second.signals].map(({ aborted }) => aborted)).toEqual([false]);
  await tails.finish(0);
});

test("a line of a later generation that comes in pieces is one line", async () => {
  const lines: string[] = [];
  const tails = tailsInto(lines);
  const later = { generation: 2, skippedBytes: 0 };
  tails.attach(
    linkThatReads(async function* ({ stream }) {
      if (stream === "stderr") return;
      yield { offset: 0, data: Buffer.from("one "), ...later };
      yield { offset: 4, data: Buffer.from("line\n"), ...later };
    }),
    1,
  );
  tails.follow([task]);
  await tails.finish(longMs);
  expect(lines).toEqual([`${task} | one line`]);
});

test("nothing is left to wait for when all logs have ended before the limit", async () => {
  expect(await keptBy("Timeout", () => tailsInto([]).finish(60_000))).toBe(0);
});

/** Longer than any test may take. */
const longMs = 600_000;

const task = "worker:0";

function linkThatReads(
  readLog: (request: LogRequest, signal: AbortSignal) => AsyncGenerator<LogPiece>,
): AttemptConnection {
  return { follow: async function* () {}, readLog, stop: async () => {}, close: () => {} };
}

const piece = (text: string): LogPiece => ({ offset: 0, data: Buffer.from(text), generation: 0, skippedBytes: 0 });

describe("the end of a job whose output is followed", () => {
  let printed: string[];
  let tails: TaskTails;
  beforeEach(() => {
    printed = [];
    tails = tailsInto(printed);
  });

  test("waits for the rest that the ApplicationMaster is sending", async () => {
    let send: () => void = () => {};
    const sent = new Promise<void>((resolve) => {
      send = resolve;
    });
    tails.attach(
      linkThatReads(async function* ({ stream }) {
        await sent;
        if (stream === "stdout") yield piece("last words\nand an unfinished line");
      }),
      1,
    );
    tails.follow([task]);
    const finished = tails.finish(longMs);
    send();
    await finished;
    expect(printed).toEqual(["worker:0 | last words", "worker:0 | and an unfinished line"]);
  });

  test("does not wait for an ApplicationMaster that is gone", async () => {
    let reads = 0;
    tails.attach(
      // biome-ignore lint/correctness/useYield: it breaks before its first piece
      linkThatReads(async function* () {
        reads += 1;
        throw new Error("connection refused");
      }),
      1,
    );
    tails.follow([task]);
    await tails.finish(longMs);
    expect(reads).toBe(2);
  });
});

test("a log whose reading was broken off was not read to its end", async () => {
  const printed: string[] = [];
  const tails = tailsInto(printed);
  tails.attach(new OpenLogs(), 1);
  tails.follow([task]);
  while (printed.length < 2) await new Promise((resolve) => setImmediate(resolve));
  tails.detach();
  await new Promise((resolve) => setImmediate(resolve));
  expect([tails.isWhole(task), tails.isUnread(task)]).toEqual([false, false]);
});

test("a line that a generation left unfinished is not run together with the next one's first", async () => {
  const printed: string[] = [];
  const tails = tailsInto(printed);
  const link = linkThatReads(async function* ({ stream }) {
    if (stream !== "stdout") return;
    yield { ...piece("unfini"), generation: 1 };
    yield { ...piece("begins\n"), offset: 6, generation: 2 };
  });
  tails.attach(link, 1);
  tails.follow([task]);
  await tails.finish(longMs);
  expect(printed).toEqual(["worker:0 | unfini", "worker:0 | begins"]);
});

describe("output that is followed from its end", () => {
  test("begins with a whole line", async () => {
    const printed: string[] = [];
    const asked: number[] = [];
    const tails = tailsInto(printed, { from: -20 });
    const link = linkThatReads(async function* ({ stream, offset }) {
      asked.push(offset);
      if (stream === "stdout") yield { ...piece("f of a line\nwhole\n"), offset: 1_000 };
      else {
        yield { ...piece("all "), offset: 0 };
        yield { ...piece("there is\n"), offset: 4 };
      }
    });
    tails.attach(link, 1);
    tails.follow([task]);
    await tails.finish(longMs);
    expect(asked).toEqual([-20, -20]);
    expect(printed).toEqual(["worker:0 | whole", "worker:0 | all there is"]);
  });
});

describe("a progress bar that is followed", () => {
  test("shows now and then while its line goes on, and its last state in the end", async () => {
    const printed: string[] = [];
    const clock = new ManualClock();
    const tails = tailsInto(printed, { clock });
    const link = linkThatReads(async function* ({ stream }) {
      if (stream === "stdout") return;
      for (let percent = 10; percent < 100; percent += 10) {
        clock.nowMs += 1_000;
        yield piece(`\r ${percent} %`);
      }
      yield piece("\r100 %\n");
    });
    tails.attach(link, 1);
    tails.follow([task]);
    await tails.finish(longMs);
    expect(printed).toEqual(["worker:0 |  40 %", "worker:0 | 100 %"]);
  });

  test("is none where each line has ended, however long that takes", async () => {
    const printed: string[] = [];
    const clock = new ManualClock();
    const tails = tailsInto(printed, { clock });
    const link = linkThatReads(async function* () {
      for (const text of ["one\n", "two\n"]) {
        clock.nowMs += 60_000;
        yield piece(text);
      }
    });
    tails.attach(link, 1);
    tails.follow([task], ["stdout"]);
    await tails.finish(longMs);
    expect(printed).toEqual(["worker:0 | one", "worker:0 | two"]);
  });
});

test("the log of a new attempt's ApplicationMaster is read from its beginning, the same one's and a task's go on", async () => {
  const asked: [string, number][] = [];
  const tails = tailsInto([]);
  const link = linkThatReads(async function* ({ task: name, offset }) {
    asked.push([name, offset]);
    yield { ...piece("0123456789"), offset };
  });
  tails.attach(link, 1);
  tails.follow(["am", task], ["stdout"]);
  await Promise.resolve();
  await tails.finish(longMs);
  for (const attempt of [1, 2]) tails.attach(link, attempt);
  expect(asked).toEqual([
    ["am", 0],
    [task, 0],
    ["am", 10],
    [task, 10],
    ["am", 0],
    [task, 10],
  ]);
});

describe("a stream that breaks", () => {
  test("goes on half a second later after the last byte that was read, on the same link and on the next one", async () => {
    const printed: string[] = [];
    const asked: number[] = [];
    const tails = tailsInto(printed, { from: -9 });
    const whole = Buffer.from("rest\nfirst\nsecond\nthird\n");
    const linkTo = (...ends: readonly number[]) => {
      const left = [...ends];
      return linkThatReads(async function* ({ offset }) {
        asked.push(offset);
        const at = offset < 0 ? 0 : offset - 1_000;
        const end = left.shift();
        yield { offset: 1_000 + at, data: whole.subarray(at, end), generation: 0, skippedBytes: 0 };
        if (end !== undefined) throw new Error("broken");
      });
    };
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
    tails.attach(linkTo(8, 14), 1);
    tails.follow([task], ["stdout"]);
    await jest.advanceTimersByTimeAsync(499);
    expect(asked).toEqual([-9]);
    await jest.advanceTimersByTimeAsync(1);
    expect(asked).toEqual([-9, 1_008]);
    tails.attach(linkTo(), 1);
    await tails.finish(longMs);
    jest.useRealTimers();
    expect(asked).toEqual([-9, 1_008, 1_014]);
    expect(printed).toEqual(["first", "second", "third"].map((line) => `worker:0 | ${line}`));
  });

  test("is not read any more once nobody follows it", async () => {
    let reads = 0;
    const tails = tailsInto([]);
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
    tails.attach(
      linkThatReads(async function* () {
        reads += 1;
        yield* [];
        throw new Error("broken");
      }),
      1,
    );
    tails.follow([task], ["stdout"]);
    await jest.advanceTimersByTimeAsync(0);
    tails.detach();
    await jest.advanceTimersByTimeAsync(5_000);
    jest.useRealTimers();
    expect(reads).toBe(1);
  });
});

describe("tasks that are followed", () => {
  test("are read once each, also those that were named before there was a link, and those that are named again", async () => {
    const asked: string[] = [];
    const tails = tailsInto([]);
    const link = linkThatReads(async function* ({ task: name, stream, follow }) {
      asked.push(`${name} ${stream} ${follow}`);
      yield* [];
    });
    tails.follow([task]);
    tails.attach(link, 1);
    tails.follow([task, "worker:1"]);
    await tails.finish(longMs);
    expect(asked.sort()).toEqual(
      ["worker:0", "worker:1"].flatMap((name) => [`${name} stderr true`, `${name} stdout true`]),
    );
  });

  test("are whole when each of their streams has ended by itself, and unread where none had a byte", async () => {
    const tails = tailsInto([]);
    expect([tails.isWhole(task), tails.isUnread(task)]).toEqual([false, true]);
    tails.attach(
      linkThatReads(async function* ({ task: name, stream }, signal) {
        if (name === task && stream === "stderr") yield piece("a");
        if (name !== task && stream === "stdout") await new Promise((go) => signal.addEventListener("abort", go));
      }),
      1,
    );
    tails.follow([task, "worker:1"]);
    await tails.finish(1);
    expect([task, "worker:1"].map((name) => [tails.isWhole(name), tails.isUnread(name)])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  test("show their executors' logs where these are asked for", async () => {
    const asked: string[] = [];
    const tails = tailsInto([], { executor: true });
    const link = linkThatReads(async function* ({ stream }) {
      asked.push(stream);
      yield* [];
    });
    tails.attach(link, 1);
    tails.follow([task]);
    await tails.finish(longMs);
    expect(asked).toEqual(["executor"]);
    expect(tails.isWhole(task)).toBe(true);
  });

  test("tell what was left out, and of which generation each line is", async () => {
    const lines: unknown[] = [];
    const tails = new TaskTails({ print: (_task, line) => lines.push(line), now: () => 0, from: () => 0 });
    const link = linkThatReads(async function* () {
      yield { ...piece("one\n"), generation: 0 };
      yield { ...piece("two\n"), offset: 4_000, generation: 2, skippedBytes: 3_996 };
      yield { ...piece("three\n"), offset: 4_004, generation: 1 };
    });
    tails.attach(link, 1);
    tails.follow([task], ["stdout"]);
    await tails.finish(longMs);
    const of = { stream: "stdout", generation: 2 };
    expect(lines).toEqual([
      { stream: "stdout", line: "one" },
      { ...of, line: "… 3.9 KiB left out: tony-ts logs has them" },
      { ...of, line: "two" },
      { ...of, line: "three" },
    ]);
  });

  test("begin with the first whole line, however many pieces the rest of the one before comes in", async () => {
    const printed: string[] = [];
    const tails = tailsInto(printed, { from: -20 });
    const link = linkThatReads(async function* () {
      for (const [offset, text] of [
        [50, ""],
        [50, "rest of"],
        [57, " a line"],
        [64, "\nwhole\n"],
        [71, "and on\n"],
      ] as const)
        yield { ...piece(text), offset };
    });
    tails.attach(link, 1);
    tails.follow([task], ["stdout"]);
    await tails.finish(longMs);
    expect(printed).toEqual(["worker:0 | whole", "worker:0 | and on"]);
  });

  test("have whole lines from the first byte that is kept, where they are read from their beginning", async () => {
    const printed: string[] = [];
    const tails = tailsInto(printed);
    tails.attach(
      linkThatReads(async function* () {
        yield { ...piece("kept\nlines\n"), offset: 4_000 };
      }),
      1,
    );
    tails.follow([task], ["stdout"]);
    await tails.finish(longMs);
    expect(printed).toEqual(["worker:0 | kept", "worker:0 | lines"]);
  });

  test("begin each where it is said of its stream", async () => {
    const [asked, offsets]: [string[], number[]] = [[], []];
    const from = (name: string, stream: string) => {
      asked.push(`${name} ${stream}`);
      return 100 + asked.length;
    };
    const tails = new TaskTails({ print: () => undefined, now: () => 0, from });
    const link = linkThatReads(async function* ({ offset }) {
      offsets.push(offset);
      yield* [];
    });
    tails.attach(link, 1);
    tails.follow([task, "worker:1"]);
    await tails.finish(longMs);
    expect(asked).toEqual(["worker:0 stdout", "worker:0 stderr", "worker:1 stdout", "worker:1 stderr"]);
    expect(offsets).toEqual([101, 102, 103, 104]);
  });

  test("are not read while there is no link", async () => {
    let reads = 0;
    const tails = tailsInto([]);
    const link = linkThatReads(async function* () {
      reads += 1;
      yield* [];
    });
    tails.attach(link, 1);
    tails.detach();
    tails.follow([task], ["stdout"]);
    expect(reads).toBe(0);
    tails.attach(link, 1);
    await tails.finish(longMs);
    expect(reads).toBe(1);
  });

  test("are waited for no longer than is said, and their unfinished lines are shown then", async () => {
    const printed: string[] = [];
    const tails = tailsInto(printed);
    const link = linkThatReads(async function* (_request, signal) {
      yield piece("unfinished");
      await new Promise((go) => signal.addEventListener("abort", go));
    });
    tails.attach(link, 1);
    tails.follow([task], ["stdout"]);
    await tails.finish(5);
    expect(printed).toEqual(["worker:0 | unfinished"]);
  });
});
