import { describe, expect, test } from "@jest/globals";
import { emptyStore } from "../../../../am/core/store/empty-store.ts";
import { lifeName, lifeOfName } from "../../../../am/core/store/records.ts";
import { allRights, rightsOfTask } from "../../../../am/core/store/rights.ts";
import { createStore, type Store, type StoreEffect } from "../../../../am/core/store/store.ts";
import { transactions } from "../../../../src/job/store/transaction.ts";

const put = (id: number, durable: boolean, key = "a") =>
  ({ type: "request", id, transaction: transactions.put(key, ""), rights: allRights, durable }) as const;
const typesOf = (effects: readonly StoreEffect[]) => effects.map(({ type }) => type);
const journaled = (store: Store) => ({ type: "journal-written", sequence: store.state.journal.sequence }) as const;

describe("the journal", () => {
  test("is not written where nothing changes", () => {
    const store = createStore();
    const read = { ...put(1, true), transaction: transactions.get("a") };
    expect(typesOf(store.step(read, 0))).toEqual(["answer"]);
    expect(typesOf(store.step({ type: "wake-up" }, 1e6))).toEqual([]);
  });

  test("is written a second later with all changes for which nobody waits, at once", () => {
    const store = createStore();
    expect(store.step(put(1, false), 100)).toMatchObject([{ type: "answer" }, { type: "changed" }, { atMs: 1_100 }]);
    expect(store.step(put(2, false), 900)).toMatchObject([{ type: "answer" }, { type: "changed" }, { atMs: 1_100 }]);
    const [write] = store.step({ type: "wake-up" }, 1_100);
    expect(write).toMatchObject({ type: "journal", sequence: 1, isWhole: false });
    expect(store.step(journaled(store), 1_200)).toEqual([]);
    expect(store.state.journal.written).toBe(2);
  });

  test("is written at once where somebody waits, and whoever comes meanwhile shares the next write", () => {
    const store = createStore();
    expect(typesOf(store.step(put(1, true), 0))).toEqual(["changed", "journal"]);
    expect(typesOf(store.step(put(2, true), 1))).toEqual(["changed"]);
    expect(typesOf(store.step(put(3, true), 2))).toEqual(["changed"]);
    const first = store.step(journaled(store), 10);
    expect(first).toMatchObject([
      { type: "answer", id: 1 },
      { type: "journal", sequence: 2 },
    ]);
    const second = store.step(journaled(store), 20);
    expect(second).toMatchObject([
      { type: "answer", id: 2, answer: { revision: 2 } },
      { type: "answer", id: 3, answer: { revision: 3 } },
    ]);
  });

  test("is waited for by a durable read of what is not yet safe", () => {
    const store = createStore();
    store.step(put(1, true), 0);
    expect(store.step({ ...put(2, true), transaction: transactions.get("a") }, 1)).toEqual([]);
    expect(store.step(journaled(store), 2)).toMatchObject([{ id: 1 }, { id: 2 }]);
  });

  test("is tried again, later each time, and nobody is answered before", () => {
    const store = createStore();
    store.step(put(1, true), 0);
    const failed = { type: "journal-failed", sequence: 1 } as const;
    expect(store.step(failed, 10)).toEqual([{ type: "wake-at", atMs: 260 }]);
    expect(store.step(put(2, true), 100)).toMatchObject([{ type: "changed" }, { type: "wake-at", atMs: 260 }]);
    expect(store.step({ type: "wake-up" }, 260)).toMatchObject([{ type: "journal", sequence: 2 }]);
    expect(store.step({ ...failed, sequence: 2 }, 300)).toEqual([{ type: "wake-at", atMs: 800 }]);
    store.step({ type: "wake-up" }, 800);
    expect(store.step(journaled(store), 900)).toMatchObject([{ id: 1 }, { id: 2 }]);
  });

  test("is written at once again after a try that succeeded in the end", () => {
    const store = createStore();
    store.step(put(1, true), 0);
    store.step({ type: "journal-failed", sequence: 1 }, 10);
    store.step({ type: "wake-up" }, 260);
    store.step(journaled(store), 300);
    store.step(put(2, false), 400);
    expect(typesOf(store.step(put(3, true), 500))).toEqual(["changed", "journal"]);
  });

  test("ignores the answer to a write that is not the last one", () => {
    const store = createStore();
    store.step(put(1, true), 0);
    expect(store.step({ type: "journal-written", sequence: 0 }, 1)).toEqual([]);
    expect(store.step({ type: "journal-failed", sequence: 0 }, 1)).toEqual([]);
    expect(store.state.journal.writing).toBe(1);
  });

  test("is still safe where the answer to its write comes twice", () => {
    const store = createStore();
    store.step(put(1, true), 0);
    store.step(journaled(store), 1);
    expect(store.step(journaled(store), 2)).toEqual([]);
    expect(store.state.journal.written).toBe(1);
  });

  test("is not waited for by who is refused", () => {
    const store = createStore();
    store.step(put(1, true), 0);
    expect(store.step({ ...put(2, true, "other"), rights: rightsOfTask("worker:0") }, 1)).toMatchObject([
      { type: "answer", id: 2, answer: { code: "forbidden" } },
    ]);
    expect(store.step(put(3, true, ""), 2)).toMatchObject([{ type: "answer", id: 3, answer: { code: "invalid" } }]);
  });

  test("is written by the first attempt where no other is named", () => {
    expect(createStore().state.journal.attempt).toBe(1);
  });

  test.each([
    ["199 files are there", { segments: 199 }, false],
    ["200 files are there", { segments: 200 }, true],
    ["the files of a small store have 256 KiB", { segmentsBytes: 262_144 }, false],
    ["the files of a small store have more than 256 KiB", { segmentsBytes: 262_145 }, true],
    ["the files are twice as large as the store", { storeBytes: 200_000, segmentsBytes: 400_000 }, false],
    ["the files are more than twice as large as the store", { storeBytes: 200_000, segmentsBytes: 400_001 }, true],
    ["all changes since the last write are known", { compacted: 5 }, false],
    ["a change since the last write was forgotten", { compacted: 6 }, true],
  ])("where %s begins anew with the whole store: %j", (_when, given, isWhole) => {
    const { storeBytes: bytes = 0, compacted = 0, ...files } = { storeBytes: 0, compacted: 0, ...given };
    const state = { ...emptyStore(1), revision: 7, bytes, compacted };
    Object.assign(state.journal, { written: 5, ...files });
    expect(createStore(state).step({ type: "wake-up" }, 0)).toMatchObject([{ type: "journal", isWhole }]);
  });

  test("that begins anew holds all keys and attempts, and counts its files from then on", () => {
    const store = createStore({ ...emptyStore(2), epochs: [{ attempt: 1, lastRevision: 0 }] });
    const wholes: Record<number, unknown> = {};
    for (let nth = 1; nth <= 401; nth += 1) {
      const [write] = store.step(put(nth, true), 0).filter((effect) => effect.type === "journal");
      if (write?.isWhole) wholes[nth] = JSON.parse(write.content);
      store.step(journaled(store), 0);
    }
    const whole = (revision: number) => {
      const entry = { key: "a", value: "", created: 1, modified: revision, version: revision };
      return { type: "whole", revision, entries: [entry], epochs: [{ attempt: 1, lastRevision: 0 }] };
    };
    // The whole file is the first one that a later attempt reads.
    expect(wholes).toEqual({ 201: whole(201), 401: whole(401) });
  });

  test("counts the bytes of its files from the whole one on", () => {
    const store = createStore();
    const wholes: number[] = [];
    for (let nth = 1; nth <= 7; nth += 1) {
      const request = { ...put(nth, true), transaction: transactions.put("a", "x".repeat(100_000)) };
      const [write] = store.step(request, 0).filter((effect) => effect.type === "journal");
      if (write?.isWhole) wholes.push(nth);
      store.step(journaled(store), 0);
    }
    expect(wholes).toEqual([4, 7]);
  });
});

test("a task is refused what it may not use, and nothing is journaled for it", () => {
  const store = createStore();
  const effects = store.step({ ...put(1, true, "task/worker:1/a"), rights: rightsOfTask("worker:0") }, 0);
  expect(effects).toMatchObject([{ type: "answer", id: 1, answer: { code: "forbidden" } }]);
});

test("what a life owned is deleted with it, at one revision; the end of a life that owns nothing changes nothing", () => {
  const store = createStore(emptyStore(1));
  const life = { task: "worker:0", generation: 2 };
  for (const key of ["a", "b"]) {
    store.step({ ...put(1, false), transaction: transactions.put(key, "", true), life }, 0);
  }
  store.step({ ...put(1, false), transaction: transactions.put("c", "", true), life: { ...life, generation: 3 } }, 0);
  expect(store.step({ type: "life-ended", life: { ...life, generation: 1 } }, 0)).toMatchObject([{ type: "wake-at" }]);
  expect(store.step({ type: "life-ended", life }, 0)[0]).toEqual({ type: "changed" });
  expect(store.state).toMatchObject({ revision: 4, entries: [{ key: "c" }], owned: { "worker:0#3": 1 } });
});

test("a life is named by its task and its generation, and its name says both", () => {
  const life = { task: "worker:0", generation: 12 };
  expect(lifeName(life)).toBe("worker:0#12");
  expect(lifeOfName("worker:0#12")).toEqual(life);
});

test("a key that its owner or another task writes without owning it belongs to nobody", () => {
  const store = createStore();
  const life = { task: "worker:0", generation: 2 };
  store.step({ ...put(1, false), transaction: transactions.put("a", "", true), life }, 0);
  store.step(put(2, false), 0);
  store.step({ type: "life-ended", life }, 0);
  expect(store.state.entries).toHaveLength(1);
  expect(store.state.owned).toEqual({});
});
