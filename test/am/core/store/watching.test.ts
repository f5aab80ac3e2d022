import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { emptyStore } from "../../../../am/core/store/empty-store.ts";
import { recoveredStore } from "../../../../am/core/store/journaling.ts";
import type { StoreState } from "../../../../am/core/store/records.ts";
import { endLife, transact } from "../../../../am/core/store/transaction.ts";
import { watch } from "../../../../am/core/store/watching.ts";
import { onlyKey, transactions, withPrefix } from "../../../../src/job/store/transaction.ts";
import type { Change } from "../../../../src/job/store/watched.ts";

const put = (state: StoreState, key: string, value = "") => transact(state, transactions.put(key, value));
const keysOf = (changes: readonly Change[]) => changes.map(({ type, key, revision }) => `${type} ${key} ${revision}`);

test("a watch that goes on from any revision hears of each later change in its range once, in order", () => {
  const state = emptyStore(1);
  for (const key of ["a/1", "b", "a/2", "a/1"]) put(state, key);
  transact(state, transactions.of({ type: "delete", range: withPrefix("a/") }));
  const all = ["put a/1 1", "put a/2 3", "put a/1 4", "delete a/1 5", "delete a/2 5"];
  fc.assert(
    fc.property(fc.nat(5), (revision) => {
      const told = watch(state, { range: withPrefix("a/"), after: { attempt: 1, revision } });
      expect(told.type === "changes" && keysOf(told.changes)).toEqual(
        all.filter((line) => Number(line.split(" ")[2]) > revision),
      );
      expect(told).toMatchObject({ attempt: 1, revision: 5 });
    }),
  );
});

test("a watch is told when the changes that it asks for were forgotten", () => {
  const state = emptyStore(1);
  const forgotten = new Set<number>();
  for (let nth = 0; nth < 80; nth += 1) {
    put(state, "a", "x".repeat(128 << 10));
    expect(state.changesBytes).toBeLessThanOrEqual(1.1 * (8 << 20));
    forgotten.add(state.compacted);
  }
  // Not one with each put: that moves all others.
  expect([...forgotten]).toEqual([0, 8, 16]);
  expect(watch(state, { range: onlyKey("a"), after: { attempt: 1, revision: 0 } })).toEqual({
    type: "compacted",
    attempt: 1,
    revision: 80,
  });
  expect(watch(state, { range: onlyKey("a"), after: { attempt: 1, revision: 17 } })).toMatchObject({ type: "changes" });
});

test("after the ApplicationMaster's death a watch goes on where it was, and is told if it heard of what is lost", () => {
  const lived = emptyStore(1);
  for (const key of ["a", "b", "c"]) put(lived, key);
  const safe = lived.changes.slice(0, 2);
  const later = recoveredStore(3, [{ attempt: 1, file: { type: "changes", changes: safe } }]);
  put(later, "d");
  put(later, "e");
  const everything = { from: "" };
  const told = watch(later, { range: everything, after: { attempt: 1, revision: 1 } });
  expect(told.type === "changes" && keysOf(told.changes)).toEqual(["put b 2", "put d 3", "put e 4"]);
  expect(watch(later, { range: everything, after: { attempt: 1, revision: 3 } })).toMatchObject({
    type: "reset",
    attempt: 3,
    revision: 4,
  });
  expect(watch(later, { range: everything, after: { attempt: 2, revision: 3 } })).toMatchObject({
    type: "reset",
    attempt: 3,
    revision: 4,
  });
  expect(watch(later, { range: everything, after: { attempt: 3, revision: 3 } })).toMatchObject({
    changes: [{ key: "e" }],
  });
  expect(watch(later, { range: everything, after: { attempt: 4, revision: 0 } })).toMatchObject({
    type: "reset",
    attempt: 3,
    revision: 4,
  });
  expect(watch(later, { range: everything, after: { attempt: 3, revision: 9 } })).toMatchObject({
    type: "reset",
    attempt: 3,
    revision: 4,
  });
});

test("what an attempt told holds up to the revision at which it ended", () => {
  const epochs = [
    { attempt: 1, lastRevision: 5 },
    { attempt: 3, lastRevision: 8 },
  ];
  const state = { ...emptyStore(4), revision: 20, epochs };
  const told = (attempt: number, revision: number) =>
    watch(state, { range: { from: "" }, after: { attempt, revision } });
  const places = [
    [1, 5],
    [1, 6],
    [2, 8],
    [2, 9],
    [3, 8],
    [3, 9],
    [4, 20],
    [4, 21],
  ] as const;
  const valid = places.filter(([attempt, revision]) => told(attempt, revision).type === "changes");
  expect(valid).toEqual([
    [1, 5],
    [2, 8],
    [3, 8],
    [4, 20],
  ]);
});

test("a part ends with the revision that takes it beyond 256 KiB", () => {
  const state = emptyStore(1);
  // Each change has exactly 128 KiB.
  for (let nth = 0; nth < 4; nth += 1) put(state, "a", "x".repeat(131_072 - 101));
  const told = watch(state, { range: { from: "" }, after: { attempt: 1, revision: 0 } });
  expect(told.type === "changes" && keysOf(told.changes)).toEqual(["put a 1", "put a 2", "put a 3"]);
  expect(told).toMatchObject({ type: "changes", attempt: 1, revision: 3 });
});

test("exactly 8 MiB of changes are kept, and whole revisions are forgotten", () => {
  const state = emptyStore(1);
  const both = ["a", "b"].map((key) => ({ type: "put", key, value: "x".repeat(65_536 - 101) }) as const);
  for (let nth = 0; nth < 71; nth += 1) transact(state, transactions.of(...both));
  // Two changes of 64 KiB in each revision: 64 revisions have 8 MiB, 71 more than a tenth beyond that.
  expect(state).toMatchObject({ compacted: 7, changesBytes: 8_388_608 });
  expect(state.changes.map(({ revision }) => revision).slice(0, 3)).toEqual([8, 8, 9]);
});

test("the changes that a life's end brings count towards those that are kept", () => {
  const state = emptyStore(1);
  const life = { task: "worker:0", generation: 1 };
  for (let nth = 0; nth < 70; nth += 1) put(state, "a", "x".repeat(131_072));
  transact(state, transactions.put("b", "x".repeat(45_200), true), life);
  expect(state).toMatchObject({ compacted: 0, changesBytes: 9_227_411 });
  endLife(state, life);
  expect(state.changesBytes).toBeLessThanOrEqual(8_388_608);
  expect(state.changes.at(-1)).toEqual({ type: "delete", revision: 72, key: "b" });
});

test("many changes are sent in parts, each of whole revisions", () => {
  const state = emptyStore(1);
  for (let nth = 0; nth < 7; nth += 1)
    transact(
      state,
      transactions.of(...["a", "b"].map((key) => ({ type: "put", key, value: "x".repeat(90 << 10) }) as const)),
    );
  const parts: number[][] = [];
  for (let after = { attempt: 1, revision: 0 }; after.revision < 7; ) {
    const told = watch(state, { range: { from: "" }, after });
    parts.push(told.type === "changes" ? told.changes.map(({ revision }) => revision) : []);
    after = { attempt: told.attempt, revision: told.revision };
  }
  expect(parts).toEqual([
    [1, 1, 2, 2],
    [3, 3, 4, 4],
    [5, 5, 6, 6],
    [7, 7],
  ]);
});

test("a watch that names no revision hears only of later changes", () => {
  const state = emptyStore(1);
  put(state, "a");
  expect(watch(state, { range: { from: "" } })).toEqual({ type: "changes", attempt: 1, revision: 1, changes: [] });
});
