import { describe, expect, test } from "@jest/globals";
import type { Event } from "../../../am/core/state/events.ts";
import { ExecutorLinks } from "../../../am/executors/executor-links.ts";
import { LogTails } from "../../../am/executors/log-tails.ts";
import type { LogChunk } from "../../../src/api/messages.ts";
import type { ExecutorRegistration } from "../../../src/job/execution.ts";
import { recordedLink } from "../../support/recorded-link.ts";

const containerId = "container_1_0001_01_000002";

function aLink(task: string, container = containerId) {
  const { link, sent } = recordedLink(task, container);
  const registration: ExecutorRegistration = {
    task,
    containerId: container,
    generation: 1,
    host: "h",
    port: 1,
    tensorboardPort: 0,
    rejoinAddress: "h:2",
    child: { state: "none" },
  };
  return { link, registration, sent };
}

/** The container of `prep:0`, which `trainer:0` gets, and the executors of both. */
function setUp() {
  const events: Event[] = [];
  const heard: string[] = [];
  const forgotten: string[] = [];
  const measured: string[] = [];
  const tails = new LogTails({ lastContainerOf: () => undefined, spokenName: (task) => task });
  const state: { tenant: string | undefined; tokens?: Uint8Array } = { tenant: "prep:0" };
  const links = new ExecutorLinks({
    post: (event) => events.push(event),
    heard: (_containerId, task) => heard.push(task),
    forget: (id) => forgotten.push(id),
    metrics: (_containerId, task) => measured.push(task),
    progress: (task, { step }) => heard.push(`${task} at ${step}`),
    tails,
    tenantOf: (container) =>
      state.tenant === undefined || container !== containerId ? undefined : { ...launch, task: state.tenant },
    tokens: () => state.tokens,
    variables: ({ task }) => ({ TONY_TASK: task }),
  });
  const prep = aLink("prep:0");
  const trainer = aLink("trainer:0");
  links.connected(prep.link, prep.registration);
  const handOver = () => {
    state.tenant = "trainer:0";
    events.length = 0;
    heard.length = 0;
    links.handOver(launch);
  };
  return { links, tails, state, events, heard, measured, forgotten, prep, trainer, handOver };
}

const metrics = { cpuCores: 1, memoryBytes: 1, maxMemoryBytes: 1, averageMemoryBytes: 1, processes: 1, cpuMs: 1 };
const launch = { task: "trainer:0", containerId, generation: 2 };
const makeRoom = { type: "make-room", variables: { TONY_TASK: "trainer:0" } };

describe("the executor of a container that another task gets", () => {
  test("is told to make room, and again on each new stream until the next one has come", () => {
    const { links, prep, trainer, handOver } = setUp();
    handOver();
    expect(prep.sent).toEqual([makeRoom]);
    const again = aLink("prep:0");
    links.disconnected(prep.link, "broken");
    links.connected(again.link, again.registration);
    expect(again.sent).toEqual([makeRoom]);
    links.connected(trainer.link, trainer.registration);
    expect(trainer.sent).toEqual([]);
  });

  test("is heard with how far its program is, as long as the container is its own", () => {
    const { links, heard, prep, handOver } = setUp();
    links.report(prep.link, 1, { type: "child-progress", atMs: 1, step: 3 });
    expect(heard).toContain("prep:0 at 3");
    handOver();
    links.report(prep.link, 1, { type: "child-progress", atMs: 1, step: 4 });
    expect(heard).not.toContain("prep:0 at 4");
  });

  test.each<Parameters<ExecutorLinks["report"]>[2]>([
    { type: "heartbeat", sentAtMs: 1 },
    { type: "child-started", pid: 1, atMs: 1 },
    { type: "child-progress", atMs: 1, step: 3 },
    { type: "goodbye", reason: "done" },
  ])("is known to live by each message: $type", (report) => {
    const { links, heard, prep } = setUp();
    heard.length = 0;
    links.report(prep.link, 1, report);
    expect(heard).toContain("prep:0");
  });

  test("is heard with nothing that is kept by a task's name where that has no container", () => {
    const { links, state, heard, measured } = setUp();
    state.tenant = undefined;
    const stranger = aLink("made-up:7");
    links.connected(stranger.link, stranger.registration);
    links.report(stranger.link, 1, { type: "child-progress", atMs: 1, step: 3 });
    links.report(stranger.link, 1, { type: "heartbeat", sentAtMs: 1, metrics });
    expect(heard).not.toContain("made-up:7 at 3");
    expect(measured).toEqual([]);
  });

  test("is told by a later attempt when it comes back; ordered again, the next one is left alone", () => {
    const { links, state, prep, trainer, handOver } = setUp();
    links.disconnected(prep.link, "broken");
    state.tenant = "trainer:0";
    const back = aLink("prep:0");
    links.connected(back.link, back.registration);
    expect(back.sent).toEqual([makeRoom]);
    links.connected(trainer.link, trainer.registration);
    handOver();
    expect(trainer.sent).toEqual([]);
  });

  test("that has opened another stream is not lost by the end of the earlier one, which is told first", () => {
    const { links, events, forgotten, prep } = setUp();
    links.disconnected(prep.link, "replaced");
    expect(events.map(({ type }) => type)).toEqual(["executor-registered"]);
    expect([forgotten, links.linkTo("prep:0")]).toEqual([[], prep.link]);
  });

  test("says nothing any more that anybody hears, and its end is nobody's loss", () => {
    const { links, events, heard, forgotten, prep, handOver } = setUp();
    handOver();
    expect(forgotten).toEqual([containerId]);
    links.report(prep.link, 1, { type: "heartbeat", sentAtMs: 1 });
    links.report(prep.link, 1, { type: "child-started", pid: 1, atMs: 1 });
    links.registered(prep.link, prep.registration);
    links.connected(prep.link, prep.registration);
    links.disconnected(prep.link, "goodbye");
    expect({ events, heard }).toEqual({ events: [], heard: [] });
  });

  test("is not taken for the next one's loss either, when its stream breaks after that one has come", () => {
    const { links, events, prep, trainer, handOver } = setUp();
    handOver();
    links.connected(trainer.link, trainer.registration);
    links.disconnected(prep.link, "broken");
    expect(events).toMatchObject([{ type: "executor-registered", task: "trainer:0" }]);
    links.report(trainer.link, 1, { type: "child-started", pid: 2, atMs: 2 });
    expect(events.at(-1)).toMatchObject({ type: "child-started", task: "trainer:0", pid: 2 });
  });

  test("gets nothing that is meant for the next one, and the next one nothing that was meant for it", () => {
    const { links, prep, trainer, handOver } = setUp();
    const stop = { type: "stop-child", generation: 1, graceMs: 1, reason: { code: "job-ended" } } as const;
    handOver();
    links.send({ task: "trainer:0", containerId }, stop);
    links.connected(trainer.link, trainer.registration);
    links.send({ task: "prep:0", containerId }, stop);
    expect([prep.sent, trainer.sent]).toEqual([[makeRoom], []]);
    links.send({ task: "trainer:0", containerId }, stop);
    expect(trainer.sent).toHaveLength(1);
  });

  test("still sends the rest of its log to who reads it", () => {
    const { links, tails, prep, handOver } = setUp();
    const text: string[] = [];
    const request = {
      hello: { protocol: 1, build: "" },
      task: "prep:0",
      stream: "stdout",
      offset: 0,
      follow: true,
    } as const;
    tails.open(request, {
      send: async ({ data }) => {
        text.push(Buffer.from(data).toString());
      },
      fail: (reason) => text.push(reason),
    });
    handOver();
    const chunk = { tailId: 1, stream: "stdout", offset: 0, end: false, generation: 1, skippedBytes: 0 } as const;
    links.report(prep.link, 1, { type: "log-chunk", chunk: { ...chunk, data: Buffer.from("the last line\n") } });
    expect(text).toEqual(["the last line\n"]);
  });
});

describe("an executor whose stream broke", () => {
  const stop = { type: "stop-child", generation: 1, graceMs: 1, reason: { code: "job-ended" } } as const;

  test("stands for its task no more, and is sent nothing, until it is connected again", () => {
    const { links, events, forgotten, prep } = setUp();
    links.disconnected(prep.link, "broken");
    expect(events.at(-1)).toMatchObject({ type: "executor-lost", task: "prep:0", cause: "stream-broken" });
    expect([links.linkTo("prep:0"), links.taskIn(containerId), forgotten]).toEqual([
      undefined,
      undefined,
      [containerId],
    ]);
    links.send({ task: "prep:0", containerId }, stop);
    expect(prep.sent).toEqual([]);
    const again = aLink("prep:0");
    links.connected(again.link, again.registration);
    links.send({ task: "prep:0", containerId }, stop);
    expect([prep.sent, again.sent]).toEqual([[], [stop]]);
  });

  test("is heard as it comes, and when it registers again on its stream", () => {
    const { links, events, heard, prep } = setUp();
    expect(heard).toEqual(["prep:0"]);
    links.registered(prep.link, { ...prep.registration, generation: 2 });
    expect(heard).toEqual(["prep:0", "prep:0"]);
    expect(events).toMatchObject([
      { type: "executor-registered", generation: 1 },
      { type: "executor-registered", generation: 2 },
    ]);
  });

  test("is not lost by the late end of a stream that was replaced", () => {
    const { links, events, prep } = setUp();
    const again = aLink("prep:0");
    links.connected(again.link, again.registration);
    events.length = 0;
    for (const end of ["replaced", "broken", "goodbye"] as const) links.disconnected(prep.link, end);
    expect(events).toEqual([]);
    expect(links.linkTo("prep:0")).toBe(again.link);
  });
});

describe("an executor whose container is no part of the job, any more or yet", () => {
  const replaced = { type: "exit", graceMs: 0, reason: { code: "replaced", why: "it is no part" } } as const;

  test("stands for no task: it gets no session of its task's, and may ask for none", () => {
    const { links, state } = setUp();
    expect([links.linkTo("prep:0")?.containerId, links.taskIn(containerId)]).toEqual([containerId, "prep:0"]);
    state.tenant = undefined;
    expect([links.linkTo("prep:0"), links.taskIn(containerId)]).toEqual([undefined, undefined]);
  });

  test("is turned away for good once the core has dismissed it: its stream is closed, and nothing that it says counts", () => {
    const { links, state, events, forgotten, prep } = setUp();
    state.tenant = undefined;
    events.length = 0;
    links.send({ task: "prep:0", containerId }, replaced);
    expect(prep.sent).toEqual([replaced, "closed"]);
    expect(forgotten).toEqual([containerId]);
    links.report(prep.link, 1, { type: "child-started", pid: 1, atMs: 1 });
    expect(events).toEqual([]);
  });

  test("is asked for no log, and takes no reader from the task's own executor", async () => {
    const { links, tails, prep } = setUp();
    const stranger = aLink("prep:0", "container_1_0001_01_000009");
    links.connected(stranger.link, stranger.registration);
    const texts: string[] = [];
    const reader = {
      send: async (chunk: LogChunk) => void texts.push(String(chunk.data)),
      fail: (why: string) => void texts.push(why),
    };
    tails.open({ task: "prep:0", stream: "stdout", offset: 0, follow: true }, reader);
    expect([prep.sent, stranger.sent].map((sent) => sent.length)).toEqual([1, 0]);
    const chunk = { tailId: 1, generation: 1, offset: 0, data: Buffer.from("its line\n"), end: false };
    const whole = { ...chunk, stream: "stdout", skippedBytes: 0 } as const;
    links.report(prep.link, 1, { type: "log-chunk", chunk: whole });
    expect(texts).toEqual(["its line\n"]);
  });

  test("is asked for its log by an attempt that knows only later that it is a part", () => {
    const { links, tails, state } = setUp();
    state.tenant = undefined;
    const again = aLink("prep:0");
    links.connected(again.link, again.registration);
    tails.open({ task: "prep:0", stream: "stdout", offset: 0, follow: true }, { send: async () => {}, fail: () => {} });
    state.tenant = "prep:0";
    links.report(again.link, 1, { type: "heartbeat", sentAtMs: 1 });
    expect(again.sent).toHaveLength(1);
  });

  test("that has been dismissed keeps nobody waiting for its log", () => {
    const { links, tails, state } = setUp();
    const failures: string[] = [];
    const reader = { send: async () => {}, fail: (why: string) => void failures.push(why) };
    tails.open({ task: "prep:0", stream: "stdout", offset: 0, follow: false }, reader);
    state.tenant = undefined;
    links.send({ task: "prep:0", containerId }, replaced);
    expect(failures).toHaveLength(1);
  });

  test("gets no newer tokens, before an attempt that reads the journal knows that it is a part", () => {
    const { links, state, prep } = setUp();
    state.tenant = undefined;
    state.tokens = Buffer.from("newer");
    links.tokensReplaced();
    const again = aLink("prep:0");
    links.connected(again.link, again.registration);
    links.report(again.link, 1, { type: "heartbeat", sentAtMs: 1 });
    expect([prep.sent, again.sent]).toEqual([[], []]);
    state.tenant = "prep:0";
    links.report(again.link, 1, { type: "heartbeat", sentAtMs: 2 });
    links.report(again.link, 1, { type: "heartbeat", sentAtMs: 3 });
    expect(again.sent).toEqual([{ type: "replace-tokens", file: state.tokens }]);
  });
});

describe("delegation tokens that are newer than those of the launch", () => {
  const newer = { type: "replace-tokens", file: Buffer.from("newer") } as const;

  test("go to every executor that is connected when they come", () => {
    const { links, state, prep } = setUp();
    state.tokens = newer.file;
    links.tokensReplaced();
    expect(prep.sent).toEqual([newer]);
  });

  test("go to it again each time there are newer ones", () => {
    const { links, state, prep } = setUp();
    const newest = { type: "replace-tokens", file: Buffer.from("newest") } as const;
    for (const { file } of [newer, newest]) {
      state.tokens = file;
      links.tokensReplaced();
    }
    expect(prep.sent).toEqual([newer, newest]);
  });

  test("go to each executor that connects later; before there are any, none do", () => {
    const { links, state, prep } = setUp();
    expect(prep.sent).toEqual([]);
    state.tokens = newer.file;
    const again = aLink("prep:0");
    links.connected(again.link, again.registration);
    expect(again.sent).toEqual([newer]);
  });
});

test("executors get the cluster spec as bytes, which are made once for all of them", () => {
  const { links, state, prep } = setUp();
  const other = aLink("prep:1", "container_1_0001_01_000003");
  state.tenant = undefined;
  links.connected(other.link, other.registration);
  const clusterSpec = { generation: 1, tasks: [{ task: "prep:0", host: "h", port: 1 }] };
  const start = { generation: 1, clusterSpec, restartReason: "", restarts: 0, checkpoint: "" };
  for (const [task, container] of [
    ["prep:0", containerId],
    ["prep:1", "container_1_0001_01_000003"],
  ] as const)
    links.send({ task, containerId: container }, { type: "start-child", ...start });
  const specs = [prep, other].map(({ sent }) =>
    sent.flatMap((one) => (one !== "closed" && one.type === "start-child" ? [one.clusterSpec] : [])),
  );
  const [[first], [second]] = [specs[0] ?? [], specs[1] ?? []];
  expect(first).toBeInstanceOf(Uint8Array);
  expect(second).toBe(first);
});

test("an executor that is told to end with its job is heard to its end, unlike one whose task lives elsewhere", () => {
  const { links, state, forgotten } = setUp();
  state.tenant = undefined;
  links.send({ task: "prep:0", containerId }, { type: "exit", graceMs: 1, reason: { code: "job-ended" } });
  expect(forgotten).toEqual([]);
  links.send({ task: "prep:0", containerId }, { type: "exit", graceMs: 0, reason: { code: "replaced", why: "gone" } });
  expect(forgotten).toEqual([containerId]);
});
