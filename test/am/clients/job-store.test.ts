import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { JobStore, StoreWatches } from "../../../am/clients/job-store.ts";
import { emptyStore } from "../../../am/core/store/empty-store.ts";
import type { StoreWrite, WrittenFile } from "../../../am/core/store/journaling.ts";
import { allRights, rightsOfTask } from "../../../am/core/store/rights.ts";
import { readStoreFile } from "../../../am/core/store/store-file.ts";
import { transact } from "../../../am/core/store/transaction.ts";
import { type Life, transactions, withPrefix } from "../../../src/job/store/transaction.ts";
import type { Watched } from "../../../src/job/store/watched.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLog } from "../../support/silent-log.ts";
import { SteppedClock } from "../../support/stepped-clock.ts";

/** A journal in memory, and the job's tasks. */
class Scene {
  readonly clock = new SteppedClock();
  readonly files: WrittenFile[] = [];
  readonly lives = new Map<string, Life>();
  reads = 0;
  knowsLives = true;
  broken: string | undefined;
  readonly writes: StoreWrite[] = [];

  store(attempt = 1): JobStore {
    return new JobStore({
      attempt,
      clock: this.clock,
      log: silentLog,
      journal: {
        read: async () => {
          this.reads += 1;
          if (this.broken !== undefined) throw new Error(this.broken);
          return this.files;
        },
        write: async (write) => {
          this.writes.push(write);
          if (this.broken !== undefined) throw new Error(this.broken);
          this.files.push({ attempt, file: readStoreFile(JSON.parse(write.content)) });
        },
      },
      lifeOf: (task) => this.lives.get(task),
      knowsLives: () => this.knowsLives,
    });
  }
}

const call = (transaction: ReturnType<typeof transactions.get>, more: object = {}) => ({
  transaction,
  rights: allRights,
  durable: true,
  ...more,
});
const owned = (key: string) => call(transactions.put(key, "", true), { owner: "worker:0" });
const keys = call(transactions.of({ type: "list", range: { from: "" } }));
const listed = async (store: JobStore) => {
  const answer = await store.call(keys);
  const result = "code" in answer ? undefined : answer.results[0];
  return result?.type === "list" ? result.entries.map(({ key }) => key) : [];
};

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});

describe("who watches the store", () => {
  const everything = { range: { from: "" } };

  test("is told of each change once, in order, from the first on that was not told, also by the next attempt", async () => {
    const store = scene.store();
    const told: Watched[] = [];
    const tell = async (news: Watched) => void told.push(news);
    const end = await store.watch(everything, allRights, tell);
    for (const value of ["1", "2"]) await store.call(call(transactions.put("a", value)));
    await eventually("both are told", () => told.length === 3);
    // Whoever watches or calls later finds the same store.
    expect([await listed(store), scene.reads]).toEqual([["a"], 1]);
    expect(told).toMatchObject([
      { revision: 0, changes: [] },
      { revision: 1, changes: [{ key: "a", revision: 1 }] },
      { revision: 2, changes: [{ key: "a", revision: 2 }] },
    ]);
    end();
    await store.call(call(transactions.put("a", "3")));
    expect(told).toHaveLength(3);

    const next = scene.store(2);
    const later: Watched[] = [];
    const after = { attempt: 1, revision: 2 };
    await next.watch({ ...everything, after }, allRights, async (news) => void later.push(news));
    await eventually("what it missed is told", () => later.length === 1);
    expect(later).toMatchObject([{ attempt: 2, revision: 3, changes: [{ key: "a", revision: 3 }] }]);
  });

  test("reads slowly and is told everything together when there is room", async () => {
    const store = new Scene().store();
    const told: Watched[] = [];
    let read: () => void = () => undefined;
    await store.watch(everything, allRights, async (news) => {
      told.push(news);
      await new Promise<void>((resolve) => {
        read = resolve;
      });
    });
    for (const value of ["1", "2", "3"]) await store.call(call(transactions.put("a", value)));
    expect(told).toHaveLength(1);
    read();
    await eventually("the rest is told", () => told.length === 2);
    expect(told[1]).toMatchObject({ changes: [{ revision: 1 }, { revision: 2 }, { revision: 3 }] });
  });

  test("may watch what he may read", async () => {
    const store = new Scene().store();
    const tell = async () => undefined;
    await expect(store.watch(everything, rightsOfTask("worker:0"), tell)).rejects.toMatchObject({
      code: "STORE_FORBIDDEN",
    });
  });
});

describe("the key-value store of a job", () => {
  test("binds a task's keys to the life of it that asks, never to the one that came after", async () => {
    const store = scene.store();
    scene.lives.set("worker:0", { task: "worker:0", generation: 2 });
    const late = { ...owned("late"), generation: 1 };
    expect(await store.call(late)).toMatchObject({ code: "no-owner" });
    expect(await store.call({ ...owned("present"), generation: 2 })).toMatchObject({ succeeded: true });
    expect(await listed(store)).toEqual(["present"]);
  });

  test("that nobody uses reads and writes nothing", async () => {
    const store = scene.store(2);
    store.look();
    await scene.clock.pass(60_000);
    expect([scene.reads, scene.writes]).toEqual([0, []]);
  });

  test("has in a later attempt what was told to be safe; it is read once, by those who call first", async () => {
    await scene.store().call(call(transactions.put("a", "1")));
    const later = scene.store(2);
    expect(await Promise.all([listed(later), listed(later)])).toEqual([["a"], ["a"]]);
    expect(await listed(later)).toEqual(["a"]);
    expect(scene.reads).toBe(2);
  });

  test("writes what nobody waits for a second later", async () => {
    await scene.store().call(call(transactions.put("a", "1"), { durable: false }));
    expect(scene.writes).toHaveLength(0);
    await scene.clock.pass(1_000);
    expect(scene.writes).toHaveLength(1);
  });

  test("cannot be used while it cannot be read, and can as soon as it is", async () => {
    const store = scene.store(2);
    scene.broken = "the NameNode is away";
    await expect(store.call(keys)).rejects.toThrow("the NameNode is away");
    scene.broken = undefined;
    expect(await listed(store)).toEqual([]);
  });

  test("answers a write when it is safe at last", async () => {
    const store = scene.store();
    await listed(store);
    scene.broken = "the NameNode is away";
    const written = store.call(call(transactions.put("a", "1")));
    await setImmediate();
    scene.broken = undefined;
    await scene.clock.pass(250);
    expect(await written).toMatchObject({ revision: 1 });
    expect(scene.writes).toHaveLength(2);
  });

  test("keeps a key for as long as its owner's life, and takes none for a task that does not live", async () => {
    const store = scene.store();
    expect(await store.call(owned("a"))).toMatchObject({ code: "no-owner" });
    scene.lives.set("worker:0", { task: "worker:0", generation: 1 });
    await store.call(owned("a"));
    store.look();
    expect(await listed(store)).toEqual(["a"]);
    scene.lives.set("worker:0", { task: "worker:0", generation: 2 });
    await store.call(owned("b"));
    store.look();
    expect(await listed(store)).toEqual(["b"]);
    scene.lives.clear();
    store.look();
    expect(await listed(store)).toEqual([]);
  });

  test("learns of lives that ended while no attempt was there, but not before it is known which tasks live", async () => {
    scene.lives.set("worker:0", { task: "worker:0", generation: 1 });
    await scene.store().call(owned("a"));
    scene.lives.clear();
    scene.knowsLives = false;
    const later = scene.store(2);
    expect(await listed(later)).toEqual(["a"]);
    scene.knowsLives = true;
    later.look();
    expect(await listed(later)).toEqual([]);
  });

  test("has no key of such a life for who calls first where that is known by then", async () => {
    scene.lives.set("worker:0", { task: "worker:0", generation: 1 });
    await scene.store().call(owned("a"));
    scene.lives.clear();
    expect(await listed(scene.store(2))).toEqual([]);
  });
});

test("changes outside its range are told of to a watch once in ten thousand revisions, as how far the store is", async () => {
  const state = emptyStore(1);
  const watches = new StoreWatches();
  const told: Watched[] = [];
  watches.begin(state, { range: withPrefix("shared/") }, async (news) => void told.push(news));
  const put = async (key: string) => {
    transact(state, transactions.put(key, ""));
    watches.changed(state);
    await setImmediate();
  };
  await put("task/worker:0/step");
  await put("task/worker:0/step");
  state.revision += 9_996;
  await put("task/worker:0/step");
  await put("task/worker:0/step");
  await put("shared/rate");
  expect(told.map(({ revision, ...news }) => [revision, "changes" in news ? news.changes.length : news.type])).toEqual([
    [0, 0],
    [10_000, 0],
    [10_001, 1],
  ]);
});
