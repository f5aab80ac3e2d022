import { describe, expect, test } from "@jest/globals";
import { emptyStore } from "../../../../am/core/store/empty-store.ts";
import { recoveredStore, type WrittenFile } from "../../../../am/core/store/journaling.ts";
import { allRights } from "../../../../am/core/store/rights.ts";
import { createStore, type Store, type StoreEffect, type StoreEvent } from "../../../../am/core/store/store.ts";
import { readStoreFile } from "../../../../am/core/store/store-file.ts";
import { ShapeError } from "../../../../src/job/shape.ts";
import { transactions } from "../../../../src/job/store/transaction.ts";
import { Random } from "../../../simulation/random.ts";

/** Runs ApplicationMasters one after the other over one journal, in virtual time, with writes that fail, or only seem to. */
class World {
  readonly files: (WrittenFile & { readonly sequence: number })[] = [];
  readonly #random: Random;
  attempt = 0;
  nowMs = 0;
  store: Store = createStore(emptyStore(1));
  /** The effects that are under way, and when their results come. */
  #coming: { readonly atMs: number; readonly event: StoreEvent; readonly file?: WrittenFile & { sequence: number } }[] =
    [];
  readonly safe = new Map<string, string>();
  readonly #asked = new Map<number, { readonly key: string; readonly value: string }>();
  lost = 0;
  wholes = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.kill();
  }

  /** A later attempt goes on from what lies in the journal. */
  kill(): void {
    this.#coming = [];
    this.attempt += 1;
    const before = this.store.state.revision;
    // What the store says of itself is lost with it; the copy shows that nothing but JSON is in it.
    this.store = createStore(JSON.parse(JSON.stringify(recoveredStore(this.attempt, this.files))));
    this.lost += before - this.store.state.revision;
    for (const [key, value] of this.safe) {
      expect(Number(this.valueOf(key))).toBeGreaterThanOrEqual(Number(value));
    }
  }

  valueOf(key: string): string | undefined {
    return this.store.state.entries.find((entry) => entry.key === key)?.value;
  }

  put(id: number): void {
    const key = `k${Math.floor(this.#random.next() * 20)}`;
    this.#asked.set(id, { key, value: String(id) });
    const transaction = transactions.put(key, String(id));
    this.#step({ type: "request", id, transaction, rights: allRights, durable: this.#random.next() < 0.5 });
    if (this.#random.next() < 0.2)
      this.#step({
        type: "request",
        id: -1,
        transaction: transactions.put("big", "x".repeat(9e4)),
        rights: allRights,
        durable: false,
      });
  }

  pass(ms: number): void {
    const endMs = this.nowMs + ms;
    for (;;) {
      this.#coming.sort((left, right) => left.atMs - right.atMs);
      const next = this.#coming[0];
      if (next === undefined || next.atMs > endMs) break;
      this.#coming.shift();
      this.nowMs = next.atMs;
      if (next.file !== undefined) this.files.push(next.file);
      this.#step(next.event);
    }
    this.nowMs = endMs;
  }

  #step(event: StoreEvent): void {
    for (const effect of this.store.step(event, this.nowMs)) this.#carryOut(effect);
  }

  #carryOut(effect: StoreEffect): void {
    if (effect.type === "wake-at") this.#coming.push({ atMs: effect.atMs, event: { type: "wake-up" } });
    if (effect.type === "journal") this.#write(effect);
    if (effect.type !== "answer" || "code" in effect.answer) return;
    const asked = this.#asked.get(effect.id);
    const isSafe = this.store.state.journal.written >= effect.answer.revision;
    if (asked !== undefined && isSafe) this.safe.set(asked.key, asked.value);
  }

  #write({ sequence, content, isWhole }: Extract<StoreEffect, { type: "journal" }>): void {
    if (isWhole) this.wholes += 1;
    const file = { attempt: this.attempt, sequence, file: readStoreFile(JSON.parse(content)) };
    const fate = this.#random.next();
    const isThere = fate < 0.9;
    const isTold = fate < 0.8;
    const event: StoreEvent = { type: isTold ? "journal-written" : "journal-failed", sequence };
    this.#coming.push({ atMs: this.nowMs + 5 + this.#random.next() * 50, event, ...(isThere ? { file } : {}) });
  }
}

describe("a later attempt of the ApplicationMaster", () => {
  test("has every write that was told to be safe, whenever the earlier one died", () => {
    let [lost, wholes] = [0, 0];
    for (let seed = 0; seed < 12; seed += 1) {
      const world = new World(seed);
      for (let id = 0; id < 400; id += 1) {
        world.put(id);
        if (id % 3 === 0) world.pass(20);
        if (id % 37 === 36) world.kill();
      }
      lost += world.lost;
      wholes += world.wholes;
    }
    // Both were seen: writes that nobody waited for and that died with their attempt, and journals that began anew.
    expect(lost).toBeGreaterThan(0);
    expect(wholes).toBeGreaterThan(0);
  });

  test("has everything that a transaction wrote, and what another one deleted, each at its revision", () => {
    const entry = (key: string, revision: number) => ({
      ...{ key, value: "1", created: revision, modified: revision, version: 1 },
    });
    const put = (key: string, revision: number) =>
      ({ type: "put", revision, key, entry: entry(key, revision) }) as const;
    const first = [put("a", 1), put("b", 1), put("c", 1)];
    const second = [
      { type: "delete", revision: 2, key: "a" },
      { type: "delete", revision: 2, key: "c" },
      put("d", 2),
    ] as const;
    const { revision, entries, changes } = recoveredStore(2, [
      { attempt: 1, file: { type: "changes", changes: first } },
      // Its first write was thought to have failed: the next one has the same once more.
      { attempt: 1, file: { type: "changes", changes: [...first, ...second] } },
    ]);
    expect({ revision, keys: entries.map(({ key }) => key) }).toEqual({ revision: 2, keys: ["b", "d"] });
    expect(changes).toEqual([...first, ...second]);
  });

  test("begins with nothing where nothing was written", () => {
    const journal = { attempt: 2, sequence: 0, written: 0, writingBytes: 0, segments: 0, segmentsBytes: 0 };
    expect(recoveredStore(2, [])).toEqual({
      ...{ revision: 0, entries: [], bytes: 0, owned: {}, changes: [], changesBytes: 0, compacted: 0 },
      epochs: [{ attempt: 1, lastRevision: 0 }],
      journal: { ...journal, urgent: false, failures: 0, held: [] },
    });
  });

  test("knows where each earlier attempt ended, once", () => {
    const file = (attempt: number, revision: number): WrittenFile => ({
      attempt,
      file: { type: "changes", changes: [{ type: "delete", revision, key: "a" }] },
    });
    const { epochs, journal } = recoveredStore(5, [file(1, 1), file(1, 2), file(3, 3), file(3, 4)]);
    expect(epochs).toEqual([
      { attempt: 2, lastRevision: 2 },
      { attempt: 4, lastRevision: 4 },
    ]);
    expect(journal.written).toBe(4);
  });

  test("goes on from a whole file, whatever came before it", () => {
    const owner = { task: "worker:0", generation: 2 };
    const entry = (key: string, modified: number) => ({ key, value: "xyz", created: 1, modified, version: 1 });
    const put = (key: string, revision: number) =>
      ({ type: "put", revision, key, entry: entry(key, revision) }) as const;
    const owned = { ...entry("c", 4), owner };
    const epochs = [{ attempt: 1, lastRevision: 3 }] as const;
    const before = { attempt: 1, file: { type: "changes", changes: [put("a", 1), put("b", 2)] } } as const;
    const whole = { attempt: 2, file: { type: "whole", revision: 5, entries: [owned], epochs } } as const;
    const after = { attempt: 2, file: { type: "changes", changes: [put("d", 6)] } } as const;
    const { journal, ...state } = recoveredStore(3, [before, whole, after]);
    expect(state).toEqual({
      revision: 6,
      entries: [owned, entry("d", 6)],
      bytes: 208,
      owned: { "worker:0#2": 1 },
      changes: [put("d", 6)],
      changesBytes: 104,
      compacted: 5,
      epochs: [...epochs, { attempt: 2, lastRevision: 6 }],
    });
    expect(journal).toMatchObject({ attempt: 3, sequence: 0, written: 6, segments: 3 });
    expect(epochs).toHaveLength(1);
  });

  test("keeps no more changes than any other", () => {
    const value = "x".repeat(131_072);
    const changes = Array.from({ length: 80 }, (_, nth) => {
      const entry = { key: "a", value, created: 1, modified: nth + 1, version: nth + 1 };
      return { type: "put", revision: nth + 1, key: "a", entry } as const;
    });
    const { compacted, changes: kept } = recoveredStore(2, [{ attempt: 1, file: { type: "changes", changes } }]);
    expect({ compacted, kept: kept.length }).toEqual({ compacted: 17, kept: 63 });
  });

  test("leaves the other keys alone where one that is not there was deleted", () => {
    const entry = { key: "b", value: "", created: 1, modified: 1, version: 1 };
    const changes = [
      { type: "put", revision: 1, key: "b", entry },
      { type: "delete", revision: 2, key: "a" },
    ] as const;
    const { entries, revision } = recoveredStore(2, [{ attempt: 1, file: { type: "changes", changes } }]);
    expect({ entries, revision }).toEqual({ entries: [entry], revision: 2 });
  });

  test("counts what earlier attempts wrote towards writing the whole store again", () => {
    const file = { attempt: 1, file: { type: "changes", changes: [] } } as const;
    expect(recoveredStore(2, [file, file, file]).journal.segments).toBe(3);
  });
});

describe("a file of the journal", () => {
  const entry = { key: "a", value: "1", created: 1, modified: 1, version: 1 };
  const put = { type: "put", revision: 1, key: "a", entry: { ...entry, owner: { task: "worker:0", generation: 2 } } };
  const removal = { type: "delete", revision: 2, key: "a" };
  const whole = { type: "whole", revision: 1, entries: [entry], epochs: [{ attempt: 1, lastRevision: 1 }] };

  test.each([[whole], [{ type: "changes", changes: [put, removal] }]])("is read as it was written: %j", (file) => {
    expect(readStoreFile(file)).toEqual(file);
  });

  test.each([
    [null],
    [7],
    ["whole"],
    [{ ...whole, entries: [{ ...entry, key: 1 }] }],
    [{ type: "changes", changes: [null] }],
    [{ type: "changes", changes: [{ ...put, entry: undefined }] }],
    [{ type: "changes", changes: [{ ...removal, type: "other" }] }],
  ])("is none where anything else is in it: %j", (file) => {
    expect(() => readStoreFile(file)).toThrow(ShapeError);
  });
});
