import { beforeEach, describe, expect, test } from "@jest/globals";
import { LogTails } from "../../../am/executors/log-tails.ts";
import type { LogChunk } from "../../../src/api/messages.ts";
import { INITIAL_TAIL_CREDIT_BYTES } from "../../../src/api/messages.ts";
import { recordedLink } from "../../support/recorded-link.ts";
import { turn } from "../../support/stepped-clock.ts";

function logTails(lastContainers: Readonly<Record<string, string>> = {}): LogTails {
  return new LogTails({ lastContainerOf: (task) => lastContainers[task], spokenName: (task) => task });
}

const aLink = (containerId: string, task = "worker:0") => recordedLink(task, containerId);

function aReader() {
  const text: string[] = [];
  const state = { ended: false, failure: "" };
  return {
    text,
    state,
    reader: {
      async send({ data, end }: LogChunk) {
        text.push(Buffer.from(data).toString());
        state.ended ||= end;
      },
      fail(reason: string) {
        state.failure = reason;
      },
    },
  };
}

function aChunk(tailId: number, text: string, changes: Partial<LogChunk> = {}): LogChunk {
  const data = Buffer.from(text);
  return { tailId, stream: "stdout", offset: 0, data, end: false, generation: 1, skippedBytes: 0, ...changes };
}

const request = { hello: { protocol: 1, build: "" }, task: "worker:0", stream: "stdout", offset: 0 } as const;

let tails: LogTails;
beforeEach(() => {
  tails = logTails();
});

describe("the log of a task", () => {
  test("is asked of its executor, passed on, and asked for further as it is taken", async () => {
    const { link, sent } = aLink("c1");
    tails.connected(link);
    const { reader, text } = aReader();
    tails.open({ ...request, follow: true }, reader);
    await tails.chunk(link, aChunk(1, "hello"));

    expect(text).toEqual(["hello"]);
    expect(sent).toEqual([
      expect.objectContaining({ type: "tail-log", tailId: 1, offset: 0, follow: true, cancel: false }),
      { type: "tail-credit", tailId: 1, bytes: 5 },
    ]);
  });

  test("goes on where it was when the executor comes back, and from the start in another container", async () => {
    const first = aLink("c1");
    tails.connected(first.link);
    tails.open({ ...request, follow: true }, aReader().reader);
    await tails.chunk(first.link, aChunk(1, "12345"));
    tails.disconnected(first.link);

    const again = aLink("c1");
    tails.connected(again.link);
    expect(again.sent).toEqual([expect.objectContaining({ type: "tail-log", offset: 5 })]);
    tails.disconnected(again.link);

    const elsewhere = aLink("c2");
    tails.connected(elsewhere.link);
    expect(elsewhere.sent).toEqual([expect.objectContaining({ type: "tail-log", offset: 0 })]);
  });

  test("goes on for each of its readers when the executor comes back, and is asked for once", async () => {
    const tails = logTails();
    const first = aLink("c1");
    tails.connected(first.link);
    for (const stream of ["stdout", "stderr"] as const)
      tails.open({ ...request, stream, follow: true }, aReader().reader);
    tails.disconnected(first.link);
    const again = aLink("c1");
    tails.connected(again.link);
    tails.connected(again.link);
    expect(again.sent).toMatchObject([{ stream: "stdout" }, { stream: "stderr" }]);
  });

  test("is asked of the executor that came last, whatever is heard of the end of the one before", () => {
    const tails = logTails();
    const [first, second] = [aLink("c1"), aLink("c1")];
    tails.connected(first.link);
    tails.connected(second.link);
    tails.disconnected(first.link);
    tails.open({ ...request, follow: true }, aReader().reader);
    expect([first.sent, second.sent]).toMatchObject([[], [{ type: "tail-log" }]]);
  });

  test("may be longer than what its executor may send before anything of it is taken", async () => {
    const tails = logTails();
    const { link } = aLink("c1");
    tails.connected(link);
    const { reader, text, state } = aReader();
    tails.open({ ...request, follow: true }, reader);
    const most = "x".repeat(INITIAL_TAIL_CREDIT_BYTES);
    for (const part of [0, 1, 2]) await tails.chunk(link, aChunk(1, most, { offset: part * most.length }));
    expect(state.failure).toBe("");
    expect(text).toHaveLength(3);
  });

  test("ends for one who does not follow with the executor's last word, and fails when the executor is lost", async () => {
    const { link } = aLink("c1");
    tails.connected(link);
    const whole = aReader();
    tails.open({ ...request, follow: false }, whole.reader);
    await tails.chunk(link, aChunk(1, "all", { end: true }));
    expect(whole.state.ended).toBe(true);

    const broken = aReader();
    tails.open({ ...request, follow: false }, broken.reader);
    tails.disconnected(link);
    expect(broken.state.failure).toContain("worker:0");
  });

  test("cannot be read without an executor, unless the reader waits for one", () => {
    const now = aReader();
    tails.open({ ...request, follow: false }, now.reader);
    expect(now.state.failure).toContain("no executor");

    const patient = aReader();
    tails.open({ ...request, offset: -100, follow: true }, patient.reader);
    const { link, sent } = aLink("c1");
    tails.connected(link);
    expect(sent).toEqual([expect.objectContaining({ type: "tail-log", offset: -100 })]);
  });

  test("is told to the last line when the job ends, and not longer", async () => {
    const { link } = aLink("c1");
    tails.connected(link);
    const { reader, text, state } = aReader();
    tails.open({ ...request, follow: true }, reader);
    const ended = tails.endAll();
    await tails.chunk(link, aChunk(1, "last line"));
    expect(state.ended).toBe(false);
    await tails.chunk(link, aChunk(1, "", { end: true }));
    await ended;

    expect(text.join("")).toBe("last line");
    expect(state).toEqual({ ended: true, failure: "" });
  });

  test("is not whole where its executor ends before it hears of the reader", async () => {
    const { link } = aLink("c1");
    tails.connected(link);
    const { reader, state } = aReader();
    tails.open({ ...request, follow: true }, reader);
    const ended = tails.endAll();
    tails.disconnected(link);
    await ended;
    const late = aReader();
    tails.open({ ...request, follow: true }, late.reader);

    expect(state).toEqual({ ended: false, failure: expect.stringContaining("was lost") });
    expect(late.state).toEqual({ ended: false, failure: expect.stringContaining("no executor") });
  });

  test("is not whole because it was so in the container before", async () => {
    const [first, second] = [aLink("c1"), aLink("c2")];
    tails.connected(first.link);
    const { reader, state } = aReader();
    tails.open({ ...request, follow: true }, reader);
    await tails.chunk(first.link, aChunk(1, "all of it", { end: true }));
    tails.disconnected(first.link);
    tails.connected(second.link);
    const ended = tails.endAll();
    tails.disconnected(second.link);
    await ended;
    expect(state.failure).toContain("was lost");
  });

  test("is cut for a reader whose executor does not end", async () => {
    const { link } = aLink("c1");
    tails.connected(link);
    const { reader, state } = aReader();
    tails.open({ ...request, follow: true }, reader);
    void tails.endAll();
    tails.abort();
    await turn();

    expect(state).toEqual({ ended: false, failure: expect.stringContaining("before all of its log was read") });
  });

  test("is called off at the executor when its reader goes", () => {
    const { link, sent } = aLink("c1");
    tails.connected(link);
    tails.open({ ...request, follow: true }, aReader().reader)();

    expect(sent.at(-1)).toMatchObject({ type: "tail-log", tailId: 1, cancel: true });
  });

  test("whose container is another task's now is asked of the executor there", async () => {
    const tails = logTails({ "prepare:0": "c1" });
    const { link, sent } = aLink("c1");
    tails.connected(link);
    const { reader, text, state } = aReader();
    tails.open({ ...request, task: "prepare:0", follow: false }, reader);
    await tails.chunk(link, aChunk(1, "prepared", { end: true, generation: 0 }));

    expect(sent).toEqual([expect.objectContaining({ type: "tail-log", task: "prepare:0", offset: 0, follow: false })]);
    expect(text).toEqual(["prepared"]);
    expect(state).toEqual({ ended: true, failure: "" });
  });

  test("goes on where it was when its container has become another task's", async () => {
    const lastContainers: Record<string, string> = {};
    const tails = logTails(lastContainers);
    const own = aLink("c1", "prepare:0");
    tails.connected(own.link);
    const { reader } = aReader();
    tails.open({ ...request, task: "prepare:0", follow: true }, reader);
    await tails.chunk(own.link, aChunk(1, "hello"));
    lastContainers["prepare:0"] = "c1";
    tails.disconnected(own.link);
    const next = aLink("c1");
    tails.connected(next.link);
    expect(next.sent).toEqual([expect.objectContaining({ type: "tail-log", task: "prepare:0", offset: 5 })]);
  });

  test("cannot be read when its container is nobody's any more", () => {
    const tails = logTails({ "prepare:0": "c1" });
    tails.connected(aLink("c2").link);
    const { reader, state } = aReader();
    tails.open({ ...request, task: "prepare:0", follow: false }, reader);
    expect(state.failure).toContain("prepare:0 has no executor at present");
  });
});

test("an executor that sends more of a log than it was asked for is not listened to, and its reader is told", async () => {
  const { link } = aLink("c1");
  tails.connected(link);
  const { reader, state } = aReader();
  let passed = 0;
  const slow = { ...reader, send: () => new Promise<void>(() => (passed += 1)) };
  tails.open({ ...request, follow: true }, slow);
  for (let chunk = 0; chunk < 5; chunk += 1) void tails.chunk(link, aChunk(1, "x".repeat(32_768)));
  expect(state.failure).toBe("the executor of worker:0 sends more of its log than it was asked for");
  void tails.chunk(link, aChunk(1, "more"));
  expect(passed).toBe(4);
});

test("what its reader has not taken of an executor that was lost is not counted against the next one", async () => {
  const { reader, state } = aReader();
  tails.open({ ...request, follow: true }, { ...reader, send: () => new Promise<void>(() => {}) });
  for (const { link } of [aLink("c1"), aLink("c1")]) {
    tails.connected(link);
    for (let chunk = 0; chunk < 4; chunk += 1) void tails.chunk(link, aChunk(1, "x".repeat(32_768)));
    tails.disconnected(link);
  }
  expect(state.failure).toBe("");
});
