import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { JobStore } from "../../../am/clients/job-store.ts";
import { allRights, rightsOfTask } from "../../../am/core/store/rights.ts";
import { type Meeting, meet, meetingOf } from "../../../executor/api/barrier.ts";
import type { TaskStore } from "../../../executor/api/kv.ts";
import { transactions } from "../../../src/job/store/transaction.ts";
import type { Watched, WatchWanted } from "../../../src/job/store/watched.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLog } from "../../support/silent-log.ts";
import { SteppedClock } from "../../support/stepped-clock.ts";
import { started } from "../../support/task-api.ts";

const never = new AbortController().signal;

/** A job's store, as each of its tasks has it. */
class Job {
  readonly lives = new Map<string, number>();
  readonly store = new JobStore({
    attempt: 1,
    clock: new SteppedClock(),
    log: silentLog,
    journal: { read: async () => [], write: async () => undefined },
    lifeOf: (task) => {
      const generation = this.lives.get(task);
      return generation === undefined ? undefined : { task, generation };
    },
    knowsLives: () => true,
  });

  of(task: string, generation = 1): TaskStore {
    this.lives.set(task, generation);
    const rights = rightsOfTask(task);
    return {
      transact: (call) => this.store.call({ ...call, rights, owner: task, generation }),
      watch: (wanted, signal) => this.#watch(wanted, signal),
    };
  }

  async *#watch(wanted: WatchWanted, signal: AbortSignal): AsyncGenerator<Watched> {
    const waiting: Watched[] = [];
    let wake: () => void = () => undefined;
    const end = await this.store.watch(wanted, allRights, async (news) => {
      waiting.push(news);
      wake();
    });
    signal.addEventListener("abort", () => wake());
    try {
      while (!signal.aborted) {
        const news = waiting.shift();
        if (news !== undefined) yield news;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      end();
    }
  }

  async keys(): Promise<readonly string[]> {
    const list = { type: "list", range: { from: "" } } as const;
    const answer = await this.store.call({ transaction: transactions.of(list), rights: allRights, durable: false });
    const [result] = "code" in answer ? [] : answer.results;
    return result?.type === "list" ? result.entries.map(({ key }) => key) : [];
  }
}

const tasks = ["worker:0", "worker:1", "worker:2"];
const meeting = (task: string, more: Partial<Meeting> = {}): Meeting => ({
  name: "epoch-1",
  nth: 1,
  generation: 1,
  tasks,
  task,
  ...more,
});

let job: Job;
beforeEach(() => {
  job = new Job();
});

describe("a barrier", () => {
  test("lets all through when the last has come, and none before", async () => {
    let through = 0;
    const come = (task: string) => meet(job.of(task), meeting(task), never).then(() => (through += 1));
    const first = ["worker:0", "worker:1"].map(come);
    await sleep(50);
    expect(through).toBe(0);
    await Promise.all([...first, come("worker:2")]);
    expect(through).toBe(3);
    expect(await job.keys()).toEqual(["barrier/1/epoch-1/worker/met"]);
  });

  test("is passed by who looks late, when the others have ended already", async () => {
    await Promise.all(tasks.map((task) => meet(job.of(task), meeting(task), never)));
    job.lives.clear();
    job.store.look();
    await expect(meet(job.of("worker:1"), meeting("worker:1"), never)).resolves.toBeUndefined();
  });

  test("does not count who has ended before the others came", async () => {
    const early = new AbortController();
    void meet(job.of("worker:2"), meeting("worker:2"), early.signal).catch(() => undefined);
    await sleep(20);
    early.abort();
    job.lives.delete("worker:2");
    job.store.look();
    const others = ["worker:0", "worker:1"].map((task) => meet(job.of(task), meeting(task, { timeoutMs: 100 }), never));
    for (const other of others)
      await expect(other).rejects.toMatchObject({
        code: "BARRIER_TIMEOUT",
        message: "1 of 3 tasks have not come to epoch-1: worker:2",
      });
  });

  test("is passed also by who comes when another has ended, by the word of one that saw them all", async () => {
    const early = new AbortController();
    void meet(job.of("worker:2"), meeting("worker:2"), early.signal).catch(() => undefined);
    const come = (count: number) => eventually("they have come", async () => (await job.keys()).length === count);
    await come(1);
    const witness = meet(job.of("worker:0"), meeting("worker:0"), never);
    await come(2);
    early.abort();
    job.lives.delete("worker:2");
    job.store.look();
    await Promise.all([witness, meet(job.of("worker:1"), meeting("worker:1", { timeoutMs: 5_000 }), never)]);
    expect(await job.keys()).toEqual(["barrier/1/epoch-1/worker/met"]);
  });

  test("is another one in another generation, and by another name", async () => {
    await Promise.all(tasks.map((task) => meet(job.of(task), meeting(task), never)));
    for (const other of [{ generation: 2 }, { name: "epoch-2" }])
      await expect(
        meet(job.of("worker:0"), meeting("worker:0", { ...other, timeoutMs: 50 }), never),
      ).rejects.toMatchObject({
        code: "BARRIER_TIMEOUT",
      });
  });

  test("is the next one each time that it is used, and keeps one key however often that is", async () => {
    const seen: string[] = [];
    const inLoop = async (task: string, pause: number) => {
      for (const nth of [1, 2, 3]) {
        await sleep(pause);
        seen.push(`${nth} comes`);
        await meet(job.of(task), meeting(task, { nth }), never);
        seen.push(`${nth} goes`);
      }
    };
    await Promise.all(tasks.map((task, index) => inLoop(task, index * 20)));
    const of = (nth: number) => [...Array(3).fill(`${nth} comes`), ...Array(3).fill(`${nth} goes`)];
    const order = (nth: number) => seen.filter((said) => said.startsWith(`${nth}`));
    for (const nth of [1, 2, 3]) expect(order(nth)).toEqual(of(nth));
    expect(await job.keys()).toEqual(["barrier/1/epoch-1/worker/met"]);
  });

  test("that others have left behind is passed by who starts again and comes later, and the next one is not", async () => {
    for (const nth of [1, 2]) await Promise.all(tasks.map((task) => meet(job.of(task), meeting(task, { nth }), never)));
    const again = (nth: number) => meet(job.of("worker:1", 2), meeting("worker:1", { nth, timeoutMs: 50 }), never);
    await again(1);
    await again(2);
    await expect(again(3)).rejects.toMatchObject({
      code: "BARRIER_TIMEOUT",
      message: "2 of 3 tasks have not come to meeting 3 of epoch-1: worker:0, worker:2",
    });
  });

  test("is told once by who sees it late, and later ones stay told", async () => {
    const own = job.of("worker:0");
    const late = new AbortController();
    const held: (() => void)[] = [];
    const slow: TaskStore = {
      watch: own.watch,
      transact: async (call) => {
        const tells = call.transaction.failure.some(({ type }) => type === "delete");
        if (tells && !late.signal.aborted) await new Promise<void>((resolve) => held.push(resolve));
        return await own.transact(call);
      },
    };
    const slowly = meet(slow, meeting("worker:0"), never);
    await Promise.all(tasks.slice(1).map((task) => meet(job.of(task), meeting(task), never)));
    await eventually("it is to tell", async () => held.length === 1);
    await Promise.all(tasks.map((task) => meet(job.of(task), meeting(task, { nth: 2 }), never)));
    for (const go of held) go();
    await slowly;
    const second = meet(job.of("worker:2"), meeting("worker:2", { nth: 2, timeoutMs: 50 }), never);
    await expect(second).resolves.toBeUndefined();
  });

  test("is that of the same roles, in whatever order they are named", async () => {
    const both = ["worker:0", "ps:0"];
    const met = [both, both.toReversed()].map((tasks, index) =>
      meet(job.of(tasks[0] ?? ""), meeting(both[index] ?? "", { tasks, timeoutMs: 5_000 }), never),
    );
    await expect(Promise.all(met)).resolves.toHaveLength(2);
  });

  test("that is not passed in time names five of those who are missing", async () => {
    const many = Array.from({ length: 8 }, (_, index) => `worker:${index}`);
    await expect(
      meet(job.of("worker:7"), meeting("worker:7", { tasks: many, timeoutMs: 50 }), never),
    ).rejects.toMatchObject({
      status: 408,
      message: "7 of 8 tasks have not come to epoch-1: worker:0, worker:1, worker:2, worker:3, worker:4",
    });
  });

  test("of one role is not passed by another one that uses the same name", async () => {
    await Promise.all(tasks.map((task) => meet(job.of(task), meeting(task), never)));
    const servers = meeting("ps:0", { tasks: ["ps:0", "ps:1"], timeoutMs: 50 });
    await expect(meet(job.of("ps:0"), servers, never)).rejects.toMatchObject({ code: "BARRIER_TIMEOUT" });
  });

  test("begins anew where what was told is lost", async () => {
    const own = job.of("worker:0");
    let lost = 0;
    const lossy: TaskStore = {
      transact: own.transact,
      async *watch(wanted, signal) {
        if (lost < 2) {
          lost += 1;
          yield { type: "changes", attempt: 1, revision: 0, changes: [] };
          yield { type: "reset", attempt: 2, revision: 0 };
        } else yield* own.watch(wanted, signal);
      },
    };
    const first = meet(lossy, meeting("worker:0"), never);
    await Promise.all(tasks.slice(1).map((task) => meet(job.of(task), meeting(task), never)));
    await first;
    expect(lost).toBe(2);
  });

  test("ends when nobody waits any more", async () => {
    const gone = new AbortController();
    const waiting = meet(job.of("worker:0"), meeting("worker:0"), gone.signal);
    gone.abort();
    await expect(waiting).rejects.toMatchObject({ code: "BARRIER_TIMEOUT" });
  });
});

describe("who meets", () => {
  const query = (text = "") => new URLSearchParams(text);

  test("are the tasks of its role, or of those that it names, of its gang's generation", () => {
    expect(meetingOf(started, "a", query())).toEqual({
      name: "a",
      nth: 1,
      generation: 2,
      tasks: ["worker:0", "worker:1"],
      task: "worker:1",
    });
    const cluster = {
      generation: 3,
      gangGeneration: 2,
      tasks: [...(started.cluster?.tasks ?? []), { task: "ps:0", host: "n3", port: 1 }],
    } as const;
    expect(meetingOf({ ...started, cluster }, "a", query("roles=worker,ps&timeout=1.5&nth=3"))).toMatchObject({
      nth: 3,
      generation: 2,
      tasks: ["worker:0", "worker:1", "ps:0"],
      timeoutMs: 1_500,
    });
    expect(meetingOf(started, "a", query("timeout=0"))).toMatchObject({ timeoutMs: 1 });
  });

  test("are none of another role where nobody names it", () => {
    const tasks = [...(started.cluster?.tasks ?? []), { task: "ps:0", host: "n3", port: 1 }];
    const beside = { ...started, cluster: { generation: 2, tasks } };
    expect(meetingOf(beside, "a", query()).tasks).toEqual(["worker:0", "worker:1"]);
    expect(meetingOf(beside, "a", query("roles=ps")).tasks).toEqual(["ps:0"]);
  });

  test.each([["roles=chief"], ["timeout=soon"], ["nth=0"], ["nth=2.5"], ["nth=1234567890"]])(
    "is refused where it cannot be: %s",
    (text) => {
      expect(() => meetingOf(started, "a", query(text))).toThrow(
        expect.objectContaining({ status: 400, code: "BAD_CALL" }),
      );
    },
  );

  test("is refused by a name that is none, or to a task that is not among them", async () => {
    const store = new Job().of("worker:0");
    for (const wrong of [meeting("worker:0", { name: "a/b" }), meeting("ps:0")])
      await expect(meet(store, wrong, never)).rejects.toMatchObject({ status: 400, code: "BAD_CALL" });
  });
});
