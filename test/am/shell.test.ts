import { describe, expect, jest, test } from "@jest/globals";
import type { Effect } from "../../am/core/state/effects.ts";
import type { Event } from "../../am/core/state/events.ts";
import type { Scheduler } from "../../am/scheduler/scheduler.ts";
import { Shell, type ShellOptions } from "../../am/shell.ts";
import { endedBecause } from "../../src/job/outcome.ts";
import type { JobOutcome } from "../../src/job/status.ts";
import { silentLog } from "../support/silent-log.ts";
import { SteppedClock, turn } from "../support/stepped-clock.ts";

const outcome: JobOutcome = {
  ...endedBecause("succeeded", { code: "tasks-ended", succeeded: 2, tasks: 2, onlyTracked: false }),
  endedAtMs: 0,
};

/** A core that answers events by a table, and a shell whose parts note what is done to them, in order. */
function setUp(
  reactions: Partial<Record<Event["type"], readonly Effect[] | Error>>,
  changes: Partial<ShellOptions> & Partial<Pick<Scheduler, "confirm" | "finish">> = {},
) {
  const clock = new SteppedClock();
  const events: string[] = [];
  const done: string[] = [];
  const note =
    (what: string) =>
    (...details: unknown[]): void => {
      done.push([what, ...details.map((detail) => JSON.stringify(detail))].join(" "));
    };
  const shell = new Shell({
    clock,
    core: {
      step(event) {
        events.push(event.type);
        const reaction = reactions[event.type] ?? [];
        if (reaction instanceof Error) throw reaction;
        return reaction;
      },
    },
    scheduler: {
      waits: [],
      answeredAtMs: undefined,
      clientTokenKey: undefined,
      start: async () => ({ attempt: 1, keptContainers: [] }),
      ask: note("ask"),
      release: note("release"),
      blacklist: note("blacklist"),
      launch: note("launch"),
      stop: note("stop"),
      show: note("show"),
      confirm: changes.confirm ?? (async () => true),
      finish:
        changes.finish ??
        (async ({ result }) => {
          note("finish")(result);
          return true;
        }),
      close: async () => {},
    },
    links: { send: note("send"), handOver: note("hand-over") },
    feed: { changed: note("status"), finish: ({ result }) => note("outcome")(result) },
    journal: { write: async (...write) => note("journal")(...write) },
    history: { add: note("history") },
    checkpoints: { remove: async (tasks) => note("remove-checkpoints")(tasks) },
    launcher: {
      command: ({ containerId }) => {
        return { containerId, environment: {}, commands: [], files: [], credentials: new Uint8Array(0) };
      },
    },
    log: silentLog,
    stoodStill: note("stood still"),
    rejoin: note("rejoin"),
    beforeUnregister: async () => note("books")(),
    exit: async (code, clean) => note("exit")(code, clean),
    ...changes,
  });
  return { clock, shell, events, done };
}

const start: Event = { type: "nodes-changed", nodes: [] };

describe("the shell around the core", () => {
  test("carries out the effects of a step in their order", () => {
    const resource = { memoryMiB: 1_024, vcores: 1, others: {} };
    const ask = { role: "worker", priority: 1, resource, count: 2, hosts: [], racks: [] };
    const to = { task: "worker:0", containerId: "c3" };
    const warned: unknown[] = [];
    const { shell, done } = setUp(
      {
        "nodes-changed": [
          { type: "ask", asks: [ask] },
          { type: "release", containerIds: ["c1"], reason: "" },
          { type: "blacklist", hosts: ["h"] },
          { type: "launch", launches: [{ containerId: "c3", task: "worker:0", generation: 1 }] },
          { type: "send", to, message: { type: "acknowledge-exit", generation: 4 } },
          { type: "stop-container", containerId: "c2", reason: "" },
          { type: "rejoin", executors: [{ ...to, address: "h:1" }] },
          { type: "record", event: { type: "recovered", atMs: 7, generation: 1, containers: 2 } },
          { type: "remove-checkpoints", tasks: ["worker:1"] },
          { type: "log", level: "warn", event: "odd", message: "It is odd.", fields: { task: "worker:0" } },
          { type: "publish-status" },
        ],
      },
      { log: { ...silentLog, warn: (...said) => void warned.push(said) } },
    );
    shell.post(start);
    shell.close();

    expect(done).toEqual([
      `ask [${JSON.stringify(ask)}]`,
      'release ["c1"]',
      'blacklist ["h"]',
      expect.stringMatching(/^launch \[\{"containerId":"c3",/),
      `send ${JSON.stringify(to)} {"type":"acknowledge-exit","generation":4}`,
      'stop "c2"',
      'rejoin [{"task":"worker:0","containerId":"c3","address":"h:1"}]',
      'history {"record":"event","type":"recovered","atMs":7,"generation":1,"containers":2}',
      'remove-checkpoints ["worker:1"]',
      "status",
    ]);
    expect(warned).toEqual([["odd", "It is odd.", { task: "worker:0" }]]);
  });

  test("hands a container over to another task, and says that this is done", () => {
    const launch = { containerId: "c1", task: "trainer:0", generation: 2 };
    const { shell, done, events } = setUp({ "nodes-changed": [{ type: "relaunch", launches: [launch] }] });
    shell.post(start);
    shell.close();

    expect(done).toEqual([`hand-over ${JSON.stringify(launch)}`]);
    expect(events).toEqual(["nodes-changed", "launch-succeeded"]);
  });

  test("wakes the core once, at the time that it asked for last", async () => {
    const startedAtMs = new SteppedClock().nowMs();
    const { clock, shell, events } = setUp({
      "nodes-changed": [
        { type: "wake-at", atMs: startedAtMs + 2_000 },
        { type: "wake-at", atMs: startedAtMs + 1_000 },
      ],
    });
    shell.post(start);
    await clock.pass(999);
    expect(events).toEqual(["nodes-changed"]);
    await clock.pass(2_000);
    shell.close();

    expect(events).toEqual(["nodes-changed", "wake-up"]);
  });

  test("tells the core what became of its journal", async () => {
    const journal: Effect = { type: "journal", sequence: 7, snapshot: "{}", part: "[]" };
    const good = setUp({ "nodes-changed": [journal] });
    good.shell.post(start);
    await turn();
    expect(good.events).toEqual(["nodes-changed", "journal-written"]);
    expect(good.done).toEqual(['journal 7 "{}" "[]"']);
    good.shell.close();

    const bad = setUp(
      { "nodes-changed": [journal] },
      { journal: { write: () => Promise.reject(new Error("NameNode away")) } },
    );
    bad.shell.post(start);
    await turn();
    expect(bad.events).toEqual(["nodes-changed", "journal-failed"]);
    bad.shell.close();
  });

  test("ends a job in order: clients, history, ResourceManager, and then the core hears of it", async () => {
    const { shell, events, done } = setUp({
      "nodes-changed": [{ type: "unregister", outcome }],
      unregistered: [{ type: "exit", exitCode: 0, cleanStaging: true }],
    });
    shell.post(start);
    await turn();

    expect(done).toEqual(['outcome "succeeded"', "books", 'finish "succeeded"', "exit 0 true"]);
    expect(events).toEqual(["nodes-changed", "unregistered"]);
  });

  test("fails the job by name when the core has a defect, and asks it nothing more", async () => {
    const { shell, events, done } = setUp({ "nodes-changed": new Error("undefined is not a container") });
    shell.post(start);
    shell.post(start);
    await turn();

    expect(done).toEqual(['outcome "failed"', "books", 'finish "failed"', "exit 1 true"]);
    expect(events).toEqual(["nodes-changed"]);
  });

  test("fails it where its end cannot be told, and exits all the same", async () => {
    const { shell, events, done } = setUp(
      { "nodes-changed": [{ type: "unregister", outcome }] },
      { beforeUnregister: () => Promise.reject(new Error("no history")) },
    );
    shell.post(start);
    await turn();

    expect(done).toEqual(['outcome "succeeded"', 'outcome "failed"', "exit 1 true"]);
    expect(events).toEqual(["nodes-changed"]);
  });

  test("fails it within half a minute, though the ResourceManager does not answer", async () => {
    jest.useFakeTimers();
    try {
      const { shell, done } = setUp({}, { finish: () => new Promise(() => undefined) });
      void shell.fail(new Error("defect"));
      await jest.advanceTimersByTimeAsync(29_900);
      expect(done).toEqual(['outcome "failed"', "books"]);
      await jest.advanceTimersByTimeAsync(100);
      expect(done.at(-1)).toBe("exit 1 true");
    } finally {
      jest.useRealTimers();
    }
  });

  test("fails it once, whatever else fails as it does", async () => {
    const { shell, done } = setUp({});
    await Promise.all([shell.fail(new Error("first")), shell.fail(new Error("second"))]);
    expect(done).toEqual(['outcome "failed"', "books", 'finish "failed"', "exit 1 true"]);
  });

  test("touches nothing when it stood still and was replaced meanwhile", async () => {
    const replaced = { confirm: async () => false };
    const { clock, shell, events, done } = setUp({}, replaced);
    clock.standStill(10_000);
    shell.post(start);
    await turn();

    expect(events).toEqual([]);
    expect(done).toEqual(["stood still 10000", "exit 1 false"]);
  });

  test("when it stood still, goes on with that once it is confirmed, and hears the end of this attempt before", async () => {
    let confirm = (_current: boolean) => {};
    const asked = new Promise<boolean>((resolve) => {
      confirm = resolve;
    });
    const { clock, shell, events, done } = setUp({}, { confirm: () => asked });
    clock.standStill(10_000);
    shell.post(start);
    shell.post({ type: "resource-manager-shutdown", reason: "it is over" });
    await turn();
    expect(events).toEqual(["resource-manager-shutdown"]);
    confirm(true);
    await turn();
    shell.close();

    expect(events).toEqual(["resource-manager-shutdown", "paused", "nodes-changed"]);
    expect(done).toEqual(["stood still 10000"]);
  });

  test("asks nobody whether it is still in charge after standing still for five seconds", async () => {
    const { clock, shell, events } = setUp({}, { confirm: () => new Promise(() => undefined) });
    clock.standStill(5_000);
    shell.post(start);
    shell.close();

    expect(events).toEqual(["paused", "nodes-changed"]);
  });

  test("shows by itself that it runs, however little happens", async () => {
    const { clock, shell, events, done } = setUp({});
    await clock.pass(60_000);
    shell.close();

    expect([events, done]).toEqual([[], []]);
  });
});
