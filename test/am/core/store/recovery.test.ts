import { describe, expect, test } from "@jest/globals";
import { emptyStore } from "../../../../am/core/store/empty-store.ts";
import { recoveredStore, type WrittenFile } from "../../../../am/core/store/journaling.ts";
import { allRights } from "../../../../am/core/store/rights.ts";
import { createStore, type Store, type StoreEffect, type StoreEvent } from "../../../../am/core/store/store.ts";
import { readStoreFile } from "../../../../am/core/store/store-file.ts";
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
    expect(recoveredStore(2, [])).toEqual({ ...emptyStore(2), epochs: [{ attempt: 1, lastRevision: 0 }] });
  });

  test("counts what earlier attempts wrote towards writing the whole store again", () => {
    const file = { attempt: 1, file: { type: "changes", changes: [] } } as const;
    expect(recoveredStore(2, [file, file, file]).journal.segments).toBe(3);
  });
});
