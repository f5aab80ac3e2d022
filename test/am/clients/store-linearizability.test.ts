import { describe, expect, test } from "@jest/globals";
import { JobStore } from "../../../am/clients/job-store.ts";
import type { StoreWrite, WrittenFile } from "../../../am/core/store/journaling.ts";
import { allRights } from "../../../am/core/store/rights.ts";
import { readStoreFile } from "../../../am/core/store/store-file.ts";
import { type StoreAnswer, type Transaction, transactions } from "../../../src/job/store/transaction.ts";
import type { Position, Watched } from "../../../src/job/store/watched.ts";
import { Random } from "../../simulation/random.ts";
import { deferred } from "../../support/deferred.ts";
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
    this.#reader = Math.max(this.#reader, attempt);
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

/** A promise, and what resolves it. */
function ending() {
  let over: () => void = () => undefined;
  const gone = new Promise<"gone">((resolve) => {
    over = () => resolve("gone");
  });
  return { gone, over };
}

/**
 * A job whose ApplicationMaster is killed now and then, or cut off together with some of its tasks while the next one begins; and whose tasks
 * lose their connections. Whoever waits for an answer then never gets it.
 */
class World {
  readonly random: Random;
  readonly #disk: Disk;
  readonly calls = new Map<string, Call<Asked, Told>[]>(KEYS.map((key) => [key, []]));
  #attempt = 0;
  #now = 0;
  #master = this.#begin();
  /** Those that are cut off, and do not know that there is a later one. */
  #cutOff: World["master"][] = [];
  readonly #links = new Set<Link>();

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

  /** The next one begins while this one still serves whom it is connected with. */
  cutOff(): void {
    this.#cutOff.push(this.#master);
    this.#master = this.#begin();
  }

  /** Those that were cut off are found out. */
  heal(): void {
    for (const { over } of this.#cutOff.splice(0)) over();
  }

  /** A task's connection breaks: what it has sent may arrive later, or never. */
  partition(): void {
    const links = [...this.#links];
    links[this.random.integer(0, links.length - 1)]?.over();
  }

  /** A write that failed is tried again after its pause. */
  async whilePassing<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    while (!isOver) {
      await this.pass(500);
      await turn();
    }
    return await work;
  }

  async pass(ms: number): Promise<void> {
    for (const { clock } of [this.#master, ...this.#cutOff]) await clock.pass(ms);
  }

  /** To the present ApplicationMaster, after a while. */
  async connect(): Promise<Link> {
    for (let turns = this.random.integer(0, 10); turns > 0; turns -= 1) await turn();
    const master = this.#master;
    const { gone, over } = ending();
    const link = { master, gone: Promise.race([gone, master.gone]), over };
    this.#links.add(link);
    void link.gone.then(() => this.#links.delete(link));
    return link;
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
    return { attempt, store, clock, ...ending() };
  }

  /** Asks for the key, and keeps what was told. @returns whether it was answered */
  async ask({ master, gone }: Link, key: string, input: Asked): Promise<boolean> {
    const calledAt = this.#tick();
    const said = await Promise.race([this.#deliver(master.store, key, input), gone]);
    const told = said === "gone" ? {} : { answeredAt: this.#tick(), output: toldBy(said, input) };
    this.calls.get(key)?.push({ calledAt, input, ...told });
    return said !== "gone";
  }

  /** It is on its way for a while, also when nobody waits for it any more. */
  async #deliver(store: JobStore, key: string, input: Asked): Promise<StoreAnswer> {
    for (let turns = this.random.integer(0, 3); turns > 0; turns -= 1) await turn();
    return await store.call({ transaction: transactionOf(key, input), rights: allRights, durable: true });
  }

  #tick(): number {
    this.#now += 1;
    return this.#now;
  }
}

interface Link {
  readonly master: World["master"];
  /** It is broken, or its ApplicationMaster is gone. */
  readonly gone: Promise<"gone">;
  readonly over: () => void;
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

/**
 * Calls one after the other. No value is written twice. An ApplicationMaster that is cut off tells what was when it is read
 * (docs/guide/key-value-store.md): such a task only writes.
 */
async function client(world: World, name: string): Promise<void> {
  let last = "";
  let link = await world.connect();
  for (let nth = 0; nth < CALLS; nth += 1) {
    const key = KEYS[world.random.integer(0, KEYS.length - 1)] ?? "";
    const value = `${name}.${nth}`;
    const kind = link.master === world.master ? world.random.integer(0, 2) : 1;
    const asked: readonly Asked[] = [{ type: "read" }, { type: "write", value }, { type: "swap", from: last, value }];
    const input = asked[kind];
    if (input !== undefined && !(await world.ask(link, key, input))) link = await world.connect();
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
  /** What was told and should not have been. */
  readonly wrong: string[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Until the ApplicationMaster is gone, there is a last word, or that. */
  async watch(until: Promise<unknown>): Promise<void> {
    const { store, attempt, gone } = this.#world.master;
    const over = Promise.race([gone, until]).then(() => "over" as const);
    if (this.#after === undefined) {
      const read = await Promise.race([everything(store), over]);
      // What is answered later is nobody's any more.
      if (read === "over") return;
      this.known.clear();
      for (const [key, one] of read.known) this.known.set(key, one);
      this.#after = { attempt, revision: read.revision };
    }
    const after = this.#after;
    const { promise: said, resolve: lastWord } = deferred();
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

  /** Whatever it is told on the way. */
  async watchUntil({ attempt, revision }: Position): Promise<void> {
    const isThere = () => this.#after?.attempt === attempt && this.#after.revision === revision;
    let turns = 0;
    const end = (async () => {
      while (!isThere() && turns++ < 10_000) await turn();
    })();
    while (!isThere() && turns < 10_000) await this.watch(end);
  }

  #hear(news: Watched): void {
    this.#after = news.type === "changes" ? { attempt: news.attempt, revision: news.revision } : undefined;
    if (news.type !== "changes") this.resets += 1;
    else
      for (const change of news.changes) {
        if (change.type === "delete") {
          this.wrong.push(`${change.key} is never deleted`);
          continue;
        }
        const { value, version } = change.entry;
        const expected = (this.known.get(change.key)?.version ?? 0) + 1;
        if (version !== expected) this.wrong.push(`${change.key} is told of version ${version}, not ${expected}`);
        this.known.set(change.key, { value, version });
      }
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
    await world.pass(500);
    await turn();
    if (world.random.chance(0.02)) world.kill();
    if (world.random.chance(0.01)) world.cutOff();
    if (world.random.chance(0.05)) world.heal();
    if (world.random.chance(0.05)) world.partition();
  }
  await Promise.all([clients, watching]);
  return { world, watcher };
}

/** `STORE_RUNS=20000` runs a million calls; `STORE_FIRST=1001` begins with that seed. */
const RUNS = Number(process.env.STORE_RUNS ?? 60);
const FIRST = Number(process.env.STORE_FIRST ?? 1);

describe("the key-value store, whose ApplicationMaster is killed or cut off, and whose tasks lose their connections", () => {
  test("loses no write that it said was safe, and answers as if all happened one by one", async () => {
    for (let seed = FIRST; seed < FIRST + RUNS; seed += 1) {
      const { world } = await run(seed);
      for (const [key, calls] of world.calls)
        expect([seed, key, isLinearizable(register, calls)]).toEqual([seed, key, true]);
    }
  }, 600_000);

  test("tells who watches each change once and in order, and says so where it cannot", async () => {
    let resets = 0;
    for (let seed = FIRST; seed < FIRST + RUNS; seed += 1) {
      const { world, watcher } = await run(seed);
      const { revision, known } = await world.whilePassing(everything(world.master.store));
      await world.whilePassing(watcher.watchUntil({ attempt: world.master.attempt, revision }));
      expect([seed, ...watcher.wrong]).toEqual([seed]);
      expect([seed, ...watcher.known].sort()).toEqual([seed, ...known].sort());
      resets += watcher.resets;
    }
    expect(resets).toBeGreaterThan(0);
  }, 600_000);
});
