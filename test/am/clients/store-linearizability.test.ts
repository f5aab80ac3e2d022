import { describe, expect, test } from "@jest/globals";
import { JobStore } from "../../../am/clients/job-store.ts";
import type { StoreWrite, WrittenFile } from "../../../am/core/store/journaling.ts";
import { allRights } from "../../../am/core/store/rights.ts";
import { readStoreFile } from "../../../am/core/store/store-file.ts";
import { type StoreAnswer, type Transaction, transactions } from "../../../src/job/store/transaction.ts";
import type { Position, Watched } from "../../../src/job/store/watched.ts";
import { Random } from "../../simulation/random.ts";
import { type Call, isLinearizable, type Model } from "../../support/linearizable.ts";
import { silentLog } from "../../support/silent-log.ts";
import { SteppedClock } from "../../support/stepped-clock.ts";

type Asked =
  | { readonly type: "read" }
  | { readonly type: "write"; readonly value: string }
  /** Writes only where the key holds that. */
  | { readonly type: "swap"; readonly from: string; readonly value: string };
/** What was read, or whether a swap took place. */
type Told = string | boolean;

const register: Model<string, Asked, Told> = {
  initial: "",
  step(state, asked, told) {
    if (asked.type === "read") return told === undefined || told === state ? state : undefined;
    if (asked.type === "write") return asked.value;
    const holds = state === asked.from;
    if (told !== undefined && told !== holds) return undefined;
    return holds ? asked.value : state;
  },
};

describe("the checker", () => {
  const call = (calledAt: number, answeredAt: number | undefined, input: Asked, output?: Told): Call<Asked, Told> => ({
    calledAt,
    input,
    ...(answeredAt !== undefined && { answeredAt }),
    ...(output !== undefined && { output }),
  });
  const write = (value: string) => ({ type: "write", value }) as const;
  const read = { type: "read" } as const;

  test("takes what could have happened, in whatever order of what was under way together", () => {
    expect(isLinearizable(register, [call(1, 6, write("a")), call(2, 5, write("b")), call(7, 8, read, "a")])).toBe(
      true,
    );
    expect(
      isLinearizable(register, [call(1, undefined, write("a")), call(2, 3, read, ""), call(4, 5, read, "a")]),
    ).toBe(true);
  });

  test("refuses a write that was lost, a read of what was never written, and one that goes back", () => {
    expect(isLinearizable(register, [call(1, 2, write("a")), call(3, 4, read, "")])).toBe(false);
    expect(isLinearizable(register, [call(1, 2, read, "x")])).toBe(false);
    const back = [call(1, undefined, write("a")), call(2, 3, read, "a"), call(4, 5, read, "")];
    expect(isLinearizable(register, back)).toBe(false);
    const twice = (value: string) => ({ type: "swap", from: "", value }) as const;
    expect(isLinearizable(register, [call(1, 2, twice("a"), true), call(3, 4, twice("b"), true)])).toBe(false);
  });
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The file system of a journal: slow, and closed to attempts before the last that has read it. */
class Disk {
  readonly #random: Random;
  readonly #files: WrittenFile[] = [];
  #reader = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  async read(attempt: number): Promise<readonly WrittenFile[]> {
    this.#reader = attempt;
    await turn();
    return [...this.#files];
  }

  async write(attempt: number, { content }: StoreWrite): Promise<void> {
    for (let turns = this.#random.integer(0, 3); turns > 0; turns -= 1) await turn();
    if (attempt < this.#reader) throw new Error("a later attempt has taken over");
    if (this.#random.chance(0.1)) throw new Error("the file system is away");
    this.#files.push({ attempt, file: readStoreFile(JSON.parse(content)) });
    for (let turns = this.#random.integer(0, 3); turns > 0; turns -= 1) await turn();
  }
}

const KEYS = ["a", "b", "c"];
const CLIENTS = 4;
const CALLS = 12;

/** A job whose ApplicationMaster is killed now and then: whoever waits for an answer then never gets it. */
class World {
  readonly random: Random;
  readonly #disk: Disk;
  readonly calls = new Map<string, Call<Asked, Told>[]>(KEYS.map((key) => [key, []]));
  #attempt = 0;
  #now = 0;
  #master = this.#begin();

  constructor(seed: number) {
    this.random = new Random(seed);
    this.#disk = new Disk(this.random);
  }

  get master() {
    return this.#master;
  }

  /** The one that was asked may be gone before it answers. */
  kill(): void {
    const { over } = this.#master;
    this.#master = this.#begin();
    over();
  }

  #begin() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    const clock = new SteppedClock();
    const store = new JobStore({
      attempt,
      clock,
      log: silentLog,
      journal: { read: () => this.#disk.read(attempt), write: (write) => this.#disk.write(attempt, write) },
      lifeOf: () => undefined,
      knowsLives: () => true,
    });
    let over: () => void = () => undefined;
    const gone = new Promise<"gone">((resolve) => {
      over = () => resolve("gone");
    });
    return { attempt, store, clock, gone, over };
  }

  /** Asks for the key, and keeps what was told. */
  async ask(key: string, input: Asked): Promise<void> {
    const { store, gone } = this.#master;
    const calledAt = this.#tick();
    const answer = store.call({ transaction: transactionOf(key, input), rights: allRights, durable: true });
    const said = await Promise.race([answer, gone]);
    const told = said === "gone" ? {} : { answeredAt: this.#tick(), output: toldBy(said, input) };
    this.calls.get(key)?.push({ calledAt, input, ...told });
  }

  #tick(): number {
    this.#now += 1;
    return this.#now;
  }
}

function transactionOf(key: string, asked: Asked): Transaction {
  if (asked.type === "read") return transactions.get(key);
  if (asked.type === "write") return transactions.put(key, asked.value);
  const success = [{ type: "put", key, value: asked.value }] as const;
  const condition =
    asked.from === "" ? ({ of: "missing", key } as const) : ({ of: "value", key, is: "=", to: asked.from } as const);
  return { conditions: [condition], success, failure: [] };
}

function toldBy(answer: StoreAnswer, { type }: Asked): Told {
  if ("code" in answer) throw new Error(answer.message);
  const [result] = answer.results;
  if (type === "swap") return answer.succeeded;
  return result?.type === "get" ? (result.entry?.value ?? "") : "";
}

/** Calls one after the other. No value is written twice. */
async function client(world: World, name: string): Promise<void> {
  let last = "";
  for (let nth = 0; nth < CALLS; nth += 1) {
    const key = KEYS[world.random.integer(0, KEYS.length - 1)] ?? "";
    const value = `${name}.${nth}`;
    const kind = world.random.integer(0, 2);
    if (kind === 0) await world.ask(key, { type: "read" });
    else if (kind === 1) await world.ask(key, { type: "write", value });
    else await world.ask(key, { type: "swap", from: last, value });
    last = value;
  }
}

interface Known {
  readonly value: string;
  readonly version: number;
}

/** One that watches over every attempt: no change may be missing, come twice, or out of order. */
class Watcher {
  readonly #world: World;
  readonly known = new Map<string, Known>();
  #after: Position | undefined = { attempt: 1, revision: 0 };
  resets = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Until the ApplicationMaster is gone, there is a last word, or that. */
  async watch(until: Promise<unknown>): Promise<void> {
    const { store, gone } = this.#world.master;
    const over = Promise.race([gone, until]).then(() => "over" as const);
    const after = this.#after ?? (await Promise.race([this.#readAgain(), over]));
    if (after === "over") return;
    let lastWord: () => void = () => undefined;
    const said = new Promise<void>((resolve) => {
      lastWord = resolve;
    });
    let isOver = false;
    const begun = store.watch({ range: { from: "" }, after }, allRights, async (news) => {
      if (isOver) return;
      this.#hear(news);
      if (news.type !== "changes") lastWord();
    });
    const end = await Promise.race([begun, over]);
    await Promise.race([over, said]);
    isOver = true;
    if (end !== "over") end();
  }

  #hear(news: Watched): void {
    this.#after = news.type === "changes" ? { attempt: news.attempt, revision: news.revision } : undefined;
    if (news.type !== "changes") this.resets += 1;
    else
      for (const change of news.changes) {
        if (change.type === "delete") throw new Error(`${change.key} is never deleted`);
        const { value, version } = change.entry;
        const expected = (this.known.get(change.key)?.version ?? 0) + 1;
        if (version !== expected) throw new Error(`${change.key} is told of version ${version}, not ${expected}`);
        this.known.set(change.key, { value, version });
      }
  }

  async #readAgain(): Promise<Position> {
    const { store, attempt } = this.#world.master;
    const { revision, known } = await everything(store);
    this.known.clear();
    for (const [key, one] of known) this.known.set(key, one);
    this.#after = { attempt, revision };
    return this.#after;
  }
}

async function everything(store: JobStore): Promise<{ readonly revision: number; readonly known: Map<string, Known> }> {
  const transaction = transactions.of({ type: "list", range: { from: "" } });
  const answer = await store.call({ transaction, rights: allRights, durable: true });
  if ("code" in answer) throw new Error(answer.message);
  const [result] = answer.results;
  const entries = result?.type === "list" ? result.entries : [];
  return {
    revision: answer.revision,
    known: new Map(entries.map(({ key, value, version }) => [key, { value, version }])),
  };
}

async function run(seed: number) {
  const world = new World(seed);
  const watcher = new Watcher(world);
  let isDone = false;
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, nth) => client(world, String(nth)))).then(() => {
    isDone = true;
  });
  const watching = (async () => {
    while (!isDone) await watcher.watch(clients);
  })();
  while (!isDone) {
    // A write that failed is tried again after its pause.
    await world.master.clock.pass(500);
    await turn();
    if (world.random.chance(0.02)) world.kill();
  }
  await Promise.all([clients, watching]);
  return { world, watcher };
}

/** `STORE_RUNS=20000` runs a million calls. */
const RUNS = Number(process.env.STORE_RUNS ?? 60);

describe("the key-value store, whose ApplicationMaster is killed now and then", () => {
  test("loses no write that it said was safe, and answers as if all happened one by one", async () => {
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const { world } = await run(seed);
      for (const [key, calls] of world.calls)
        expect([seed, key, isLinearizable(register, calls)]).toEqual([seed, key, true]);
    }
  }, 600_000);

  test("tells who watches each change once and in order, and says so where it cannot", async () => {
    let resets = 0;
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const { world, watcher } = await run(seed);
      const { known } = await everything(world.master.store);
      const end = new Promise<void>((resolve) => setTimeout(resolve, 5));
      while (await Promise.race([watcher.watch(end).then(() => true), end.then(() => false)])) void 0;
      expect([seed, ...watcher.known].sort()).toEqual([seed, ...known].sort());
      resets += watcher.resets;
    }
    expect(resets).toBeGreaterThan(0);
  }, 600_000);
});
