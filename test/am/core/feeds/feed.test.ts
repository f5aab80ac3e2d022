import { describe, expect, test } from "@jest/globals";
import { createFeed } from "../../../../am/core/feeds/feed.ts";
import { feedShape } from "../../../../am/core/feeds/feed-file.ts";
import { progressOfFeed } from "../../../../am/core/feeds/feed-status.ts";
import { recoveredFeed } from "../../../../am/core/feeds/journaling.ts";
import type { Feed, FeedAnswer, FeedState, Given, Origin } from "../../../../am/core/feeds/records.ts";
import type { FeedCall, FeedEffect, FeedEvent } from "../../../../am/core/feeds/step.ts";
import type { Lease } from "../../../../src/job/feeds/lease.ts";
import { ShapeError } from "../../../../src/job/shape.ts";

const FEED: Feed = { name: "train", plan: "a1", splits: 4, epochs: 1, window: 2, leaseMs: 60_000, maxAttempts: 2 };
const MISSING: Given = { number: -1, epoch: -1, position: -1, split: -1, skip: 0 };

/** A feed whose journal is written at once. */
class Scene {
  readonly state: FeedState;
  readonly #hear: ReturnType<typeof createFeed>;
  nowMs = 0;
  /** What the journal holds. */
  content = "";
  readonly effects: FeedEffect[] = [];
  /** Where tasks run, as far as that is known. */
  hosts: Readonly<Record<string, string>> = {};
  #id = 0;

  constructor(feed: Partial<Feed> = {}, state = recoveredFeed({ ...FEED, ...feed }, 0)) {
    this.state = state;
    this.#hear = createFeed(state);
  }

  step(event: FeedEvent): void {
    const effects = this.#hear(event, this.nowMs);
    this.effects.push(...effects);
    for (const effect of effects) {
      if (effect.type !== "journal") continue;
      this.content = effect.content;
      this.step({ type: "journal-written", sequence: effect.sequence });
    }
  }

  /** @returns the number of the call */
  call(
    of: (caller: { readonly id: number; readonly task: string; readonly generation: number }) => FeedCall,
    task: string,
  ): number {
    this.#id += 1;
    this.step(of({ id: this.#id, task, generation: 1 }));
    return this.#id;
  }

  /** Undefined: it waits. */
  answerTo(id: number): FeedAnswer | undefined {
    return this.effects
      .flatMap((effect) => (effect.type === "answer" && effect.id === id ? [effect.answer] : []))
      .at(-1);
  }

  open(task: string, origin: Origin = "start", gang = 1): FeedAnswer | undefined {
    return this.answerTo(this.call((caller) => ({ ...caller, type: "open", gang, origin }), task));
  }

  asks(task: string, most = 1, has = this.has(task), atOnce = false): number {
    const host = this.hosts[task];
    const where = host === undefined ? {} : { host };
    return this.call((caller) => ({ ...caller, type: "ask", most, atOnce, has, ...where }), task);
  }

  /** Says where the splits are that were asked for last. */
  locate(hostOf: (split: number) => string): void {
    const asked = this.effects.flatMap((effect) => (effect.type === "locate" ? [effect.splits] : [])).at(-1) ?? [];
    const splits = asked.map(({ place, split }) => [place, [hostOf(split)]]);
    this.step({ type: "located", splits: Object.fromEntries(splits) });
  }

  locating(): readonly (readonly number[])[] {
    return this.effects.flatMap((effect) =>
      effect.type === "locate" ? [effect.splits.map(({ place }) => place)] : [],
    );
  }

  /** The splits that it is given. */
  get(task: string, most = 1): readonly Given[] {
    const answer = this.answerTo(this.asks(task, most));
    return answer?.type === "given" ? answer.splits : [];
  }

  one(task: string): Given {
    return this.get(task)[0] ?? MISSING;
  }

  has(task: string): readonly number[] {
    return Object.values(this.state.leases).flatMap((lease) => (lease.task === task ? [lease.number] : []));
  }

  used(task: string, lease: Lease): FeedAnswer | undefined {
    return this.answerTo(this.call((caller) => ({ ...caller, type: "used", lease }), task));
  }

  failed(task: string, lease: Lease, error: string): void {
    this.call((caller) => ({ ...caller, type: "failed", lease, error }), task);
  }

  mark(task: string, label: string, among: readonly string[], ...begun: (Lease & { records: number })[]): number {
    return this.call((caller) => ({ ...caller, type: "mark", label, among, begun }), task);
  }

  leftOut(): readonly FeedEffect[] {
    return this.effects.filter(({ type }) => type === "left-out");
  }
}

function opened(tasks: readonly string[], feed: Partial<Feed> = {}): Scene {
  const scene = new Scene(feed);
  for (const task of tasks) scene.open(task);
  return scene;
}

const positions = (splits: readonly Lease[]) => splits.map(({ position }) => position);
const noted = { type: "noted" };
const refused = (code: string, message: string) => ({ type: "refused", code, message });

describe("splits", () => {
  test("are given in their order, at most as many at a time as a task may have", () => {
    const scene = opened(["a", "b"]);
    expect(positions(scene.get("a", 9))).toEqual([0, 1]);
    expect(positions(scene.get("b"))).toEqual([2]);
    const many = "a has 2 splits of train, as many as it may have: say first what is used";
    expect(scene.answerTo(scene.asks("a"))).toEqual(refused("invalid", many));
  });

  test("are given besides those that a task has, at least one", () => {
    const scene = opened(["a"], { window: 3 });
    expect(positions(scene.get("a", 0))).toEqual([0]);
    expect(positions(scene.get("a", 9))).toEqual([1, 2]);
  });

  test("end when all are used; a task that asks earlier waits", () => {
    const scene = opened(["a", "b"], { splits: 1 });
    const split = scene.one("a");
    const waits = scene.asks("b");
    expect(scene.answerTo(waits)).toBeUndefined();
    expect(scene.used("a", split)).toEqual(noted);
    expect(scene.answerTo(waits)).toEqual({ type: "end" });
  });

  test("are not waited for by a task that still has records to use", () => {
    const scene = opened(["a", "b"], { splits: 1 });
    const split = scene.one("a");
    expect(scene.answerTo(scene.asks("b", 1, [], true))).toEqual({ type: "given", splits: [] });
    scene.used("a", split);
    expect(scene.answerTo(scene.asks("b", 1, [], true))).toEqual({ type: "end" });
    const full = opened(["a"], { window: 1 });
    full.get("a");
    expect(full.answerTo(full.asks("a", 1, full.has("a"), true))).toEqual({ type: "given", splits: [] });
  });

  test("come again in the next epoch, in another order, once all splits of this epoch are used", () => {
    const scene = opened(["a", "b"], { splits: 2, epochs: 2, seed: 3 });
    const first = scene.get("a", 2);
    const waits = scene.asks("b", 2);
    expect(first.map(({ split }) => split).sort()).toEqual([0, 1]);
    for (const split of first) scene.used("a", split);
    expect(scene.answerTo(waits)).toMatchObject({
      splits: [
        { epoch: 1, position: 0 },
        { epoch: 1, position: 1 },
      ],
    });
  });

  test("of the next epoch are given while the last of this one are used, where they overlap, and none of the one after it", () => {
    const scene = opened(["a", "b"], { splits: 2, epochs: 3, seed: 3, boundary: "overlap" });
    const slow = scene.one("a");
    const place = ({ epoch, position }: Lease) => [epoch, position];
    for (const expected of [
      [0, 1],
      [1, 0],
      [1, 1],
    ]) {
      const split = scene.one("b");
      expect(place(split)).toEqual(expected);
      scene.used("b", split);
    }
    const waits = scene.asks("b");
    expect(scene.answerTo(waits)).toBeUndefined();
    expect(scene.state.epoch).toBe(0);
    scene.used("a", slow);
    expect(scene.answerTo(waits)).toMatchObject({ splits: [{ epoch: 2, position: 0 }] });
    expect([scene.state.epoch, scene.state.used]).toEqual([2, []]);
  });

  test("are waited for by nobody, however far behind a task is, where epochs have no end", () => {
    const { epochs: _, ...endless } = FEED;
    const scene = new Scene({}, recoveredFeed({ ...endless, splits: 2, seed: 3, boundary: "infinite" }, 0));
    for (const task of ["a", "b"]) scene.open(task);
    const slow = scene.one("a");
    const rest = Array.from({ length: 7 }, () => {
      const split = scene.one("b");
      scene.used("b", split);
      return split;
    });
    expect(rest.at(-1)).toMatchObject({ epoch: 3, position: 1 });
    expect(scene.state.used).toEqual([1, 8]);
    expect(new Set(rest.slice(1, 3).map(({ split }) => split)).size).toBe(2);
    scene.step({ type: "life-ended", task: "a", generation: 1, how: "gone" });
    expect(scene.one("b")).toMatchObject({ epoch: 0, position: 0, split: slow.split });
  });

  test("of overlapping epochs are in one cursor, from which a later generation goes on", () => {
    const feed = { splits: 2, epochs: 4, boundary: "overlap" } as const;
    const scene = opened(["a"], feed);
    for (let read = 0; read < 2; read += 1) scene.used("a", scene.one("a"));
    const [slow, ahead] = [scene.one("a"), scene.one("a")];
    scene.used("a", ahead);
    const next = scene.one("a");
    const cursor = { plan: "a1", epoch: 1, used: [1, 2], partly: { 0: 3, 2: 1 } };
    const at = scene.mark("a", "1", ["a"], { ...slow, records: 3 }, { ...next, records: 1 });
    expect(scene.answerTo(at)).toEqual({ type: "cursor", cursor });
    const later = new Scene(feed);
    expect(later.open("b", cursor)).toEqual({ type: "opened", epoch: 1 });
    expect(later.get("b", 2)).toMatchObject([
      { epoch: 1, position: 0, skip: 3 },
      { epoch: 2, position: 0, skip: 1 },
    ]);
    const strict = new Scene({ splits: 2, epochs: 4 });
    expect(strict.open("b", cursor)).toMatchObject({ type: "refused", code: "invalid" });
  });

  test("that were left out are given again in later epochs once a task reports that it has used one", () => {
    const scene = opened(["a", "b"], { splits: 2, epochs: 3, boundary: "overlap", maxAttempts: 1 });
    const bad = scene.one("a");
    scene.nowMs += 60_000;
    scene.step({ type: "wake-up" });
    expect(positions(scene.get("b", 2))).toEqual([1, 1]);
    expect(scene.used("a", bad)).toEqual(noted);
    expect(scene.one("a")).toMatchObject({ epoch: 1, position: 0 });
  });

  test("are free at once when their task is lost, and are the next ones to be given", () => {
    const scene = opened(["a", "b"]);
    scene.get("a", 2);
    scene.step({ type: "life-ended", task: "a", generation: 1, how: "gone" });
    expect(positions(scene.get("b", 2))).toEqual([0, 1]);
    expect(scene.leftOut()).toEqual([]);
    expect(scene.answerTo(scene.asks("a"))).toEqual(
      refused("stale", "a has not opened train, or another life of it reads"),
    );
  });

  test("that become free go to all who wait, as far as they reach", () => {
    const scene = opened(["a", "b", "c"], { splits: 2 });
    scene.get("a", 2);
    const [b, c] = [scene.asks("b"), scene.asks("c")];
    scene.step({ type: "life-ended", task: "a", generation: 1, how: "gone" });
    expect(scene.answerTo(b)).toMatchObject({ type: "given", splits: [{ position: 0 }] });
    expect(scene.answerTo(c)).toMatchObject({ type: "given", splits: [{ position: 1 }] });
  });

  test("are not given to a life that has ended while it waited: its call is answered", () => {
    const scene = opened(["a", "b"], { splits: 1 });
    scene.get("a");
    const waits = scene.asks("b");
    scene.step({ type: "life-ended", task: "b", generation: 1, how: "gone" });
    expect(scene.answerTo(waits)).toEqual(refused("replaced", "b has asked again, or is gone"));
    scene.step({ type: "life-ended", task: "a", generation: 1, how: "gone" });
    expect(scene.state.leases).toEqual({});
  });

  test("whose answer was not heard are given again", () => {
    const scene = opened(["a"]);
    const given = scene.get("a", 2);
    expect(scene.answerTo(scene.asks("a", 1, []))).toEqual({ type: "given", splits: given });
  });

  test("are given again alone where the task heard of the others", () => {
    const scene = opened(["a"]);
    const [first = MISSING, second = MISSING] = scene.get("a", 2);
    expect(scene.answerTo(scene.asks("a", 1, [first.number]))).toEqual({ type: "given", splits: [second] });
  });

  test("still come to a task that waits while another one asks twice", () => {
    const scene = opened(["a", "b", "c"], { splits: 1 });
    scene.get("a");
    const waits = scene.asks("b");
    scene.asks("c");
    scene.asks("c");
    scene.step({ type: "life-ended", task: "a", generation: 1, how: "gone" });
    expect(scene.answerTo(waits)).toMatchObject({ splits: [{ position: 0 }] });
  });

  test("are not given to a call that nobody awaits any more", () => {
    const scene = opened(["a", "b"], { splits: 1 });
    scene.get("a");
    const [broken, again] = [scene.asks("b"), scene.asks("b")];
    expect(scene.answerTo(broken)).toMatchObject({ type: "refused", code: "replaced" });
    scene.step({ type: "gone", id: again });
    scene.step({ type: "life-ended", task: "a", generation: 1, how: "gone" });
    expect(scene.state.leases).toEqual({});
  });

  test("end at once where the feed has none", () => {
    expect(opened(["a"], { splits: 0 }).get("a")).toEqual([]);
    const scene = opened(["a"], { splits: 0 });
    expect(scene.answerTo(scene.asks("a"))).toEqual({ type: "end" });
  });
});

describe("near splits", () => {
  const split = (number: number) => (number % 2 === 0 ? "even" : "odd");
  const onTwo = (feed: Partial<Feed> = {}): Scene => {
    const scene = opened(["a", "b"], feed);
    scene.hosts = { a: "odd", b: "even" };
    return scene;
  };
  /** Each task uses a split in turn. */
  const use = (scene: Scene, task: string) => {
    const one = scene.one(task);
    scene.used(task, one);
    return one.position;
  };

  test("are given first among the next ones, and others where none is near", () => {
    const scene = onTwo({ splits: 6 });
    expect([use(scene, "a"), use(scene, "b")]).toEqual([0, 1]);
    expect(scene.locating()).toEqual([[2, 3, 4, 5]]);
    scene.locate(split);
    expect([use(scene, "a"), use(scene, "a"), use(scene, "a")]).toEqual([3, 5, 2]);
    expect(use(scene, "b")).toBe(4);
    expect(scene.locating()).toHaveLength(1);
    expect(scene.answerTo(scene.asks("a"))).toEqual({ type: "end" });
  });

  test("are given fewer than 64 places out of turn, however many the task on one machine takes", () => {
    const scene = onTwo({ splits: 500, seed: 3, epochs: 2 });
    const places: number[] = [];
    const take = (task: string) => {
      const one = scene.one(task);
      scene.used(task, one);
      places.push(one.epoch * 500 + one.position);
      scene.locate(split);
    };
    take("b");
    for (let turn = 1; turn < 1_000; turn += 1) take("a");
    expect([...places].sort((left, right) => left - right)).toEqual(places.map((_, index) => index));
    const late = places.map((place, turn) => Math.abs(place - turn));
    expect(Math.max(...late)).toBeGreaterThan(30);
    expect(Math.max(...late)).toBeLessThan(64);
  });

  test("are looked for as far ahead as all tasks together have splits, where these are many", () => {
    const tasks = Array.from({ length: 40 }, (_, nth) => `t${nth}`);
    const scene = opened(tasks, { splits: 500, window: 1 });
    scene.hosts = Object.fromEntries(tasks.map((task, nth) => [task, nth < 20 ? "even" : "odd"]));
    for (const task of tasks) scene.one(task);
    for (let asked = 0; asked < 4; asked += 1) scene.locate(split);
    expect(Math.max(...scene.locating().flat())).toBe(40 + 2 * tasks.length - 1);
  });

  test("of the next epoch are given when those of this one have been, where epochs overlap", () => {
    const scene = onTwo({ splits: 4, epochs: 2, boundary: "overlap" });
    scene.one("b");
    scene.one("a");
    scene.locate(split);
    expect(scene.locating()).toEqual([[2, 3]]);
    expect(scene.one("b")).toMatchObject({ epoch: 0, position: 2 });
    expect(scene.one("a")).toMatchObject({ epoch: 0, position: 3 });
    expect(scene.locating().at(-1)).toEqual([4, 5, 6, 7]);
  });

  test("are not looked for while all tasks are on one machine, or where that is turned off", () => {
    const one = onTwo({ splits: 9 });
    one.hosts = { a: "odd", b: "odd" };
    const off = onTwo({ splits: 9, locality: false });
    for (const scene of [one, off]) {
      expect([use(scene, "a"), use(scene, "b"), use(scene, "a")]).toEqual([0, 1, 2]);
      expect(scene.locating()).toEqual([]);
    }
  });

  test("are not looked for where all splits are left out and epochs have no end", () => {
    const { epochs: _endless, ...endless } = FEED;
    const feed: Feed = { ...endless, splits: 2, maxAttempts: 1, boundary: "infinite" };
    const scene = new Scene({}, recoveredFeed(feed, 0));
    for (const task of ["a", "b"]) scene.open(task);
    scene.hosts = { a: "odd", b: "even" };
    const both = [scene.one("a"), scene.one("b")] as const;
    scene.failed("a", both[0], "it is damaged");
    scene.failed("b", both[1], "it is damaged");
    expect(scene.answerTo(scene.asks("a"))).toEqual({ type: "end" });
  });

  test("are looked up some at a time, each once, and not where they were given meanwhile", () => {
    const scene = onTwo({ splits: 200, window: 64 });
    const from = (first: number) => Array.from({ length: 32 }, (_, index) => first + index);
    for (const task of ["a", "b"]) use(scene, task);
    scene.get("b", 40);
    expect(scene.locating()).toEqual([from(2)]);
    scene.locate(split);
    expect(scene.locating().at(-1)).toEqual(from(42));
    expect(Object.keys(scene.state.nearby.splits)).toEqual([]);
  });

  test("are looked up again for a generation that begins anew", () => {
    const scene = onTwo({ splits: 6 });
    expect([use(scene, "a"), use(scene, "b")]).toEqual([0, 1]);
    scene.locate(split);
    scene.open("a", "start", 2);
    scene.open("b", "start", 2);
    expect(scene.locating().at(-1)).toEqual([0, 1, 2, 3, 4, 5]);
    scene.locate(split);
    expect([use(scene, "a"), use(scene, "b")]).toEqual([1, 0]);
  });
});

describe("a task that uses nothing", () => {
  test("loses its splits, and others get them", () => {
    const scene = opened(["a", "b"]);
    const [split = MISSING] = scene.get("a", 2);
    expect(scene.effects).toContainEqual({ type: "wake-at", atMs: 60_000 });
    scene.nowMs = 60_000;
    scene.step({ type: "wake-up" });
    expect(scene.effects).toContainEqual({ type: "tried-again", split: 0, why: "a used none of it for 60 s" });
    expect(positions(scene.get("b", 1))).toEqual([0]);
    expect(scene.used("a", split)).toEqual(
      refused("lost", "a used nothing of train for 60 s, and has lost split 0: b has it"),
    );
    scene.used("b", { ...split, number: 3 });
    expect(scene.used("a", split)).toEqual(refused("lost", "a used nothing of train for 60 s, and has lost split 0"));
  });

  test.each([
    [65_000, []],
    [65_001, [1]],
  ])("is silent where the wake-up comes no later than 5 s: at %d ms it has %j", (nowMs, has) => {
    const scene = opened(["a"]);
    scene.get("a");
    scene.nowMs = nowMs;
    scene.step({ type: "wake-up" });
    expect(scene.has("a")).toEqual(has);
  });

  test("loses its splits at its own time, and only the first of them is tried once more", () => {
    const scene = opened(["a", "b"]);
    scene.get("a", 2);
    scene.nowMs = 10_000;
    scene.get("b", 2);
    scene.nowMs = 60_000;
    scene.step({ type: "wake-up" });
    expect([scene.has("a"), scene.has("b")]).toEqual([[], [3, 4]]);
    expect(scene.effects.at(-1)).toEqual({ type: "wake-at", atMs: 70_000 });
    scene.nowMs = 70_000;
    scene.step({ type: "wake-up" });
    expect(scene.has("b")).toEqual([]);
    expect(scene.state.attempts).toEqual({ 0: 1, 2: 1 });
  });

  test("has its whole time again after each split that it has used, and after each that it is given", () => {
    const scene = opened(["a"]);
    const [split = MISSING] = scene.get("a", 2);
    scene.nowMs = 50_000;
    scene.used("a", split);
    scene.nowMs = 60_000;
    scene.step({ type: "wake-up" });
    expect(scene.effects.at(-1)).toEqual({ type: "wake-at", atMs: 110_000 });
    scene.nowMs = 100_000;
    scene.get("a");
    scene.nowMs = 110_000;
    scene.step({ type: "wake-up" });
    expect(scene.has("a")).toEqual([2, 3]);
    expect(scene.effects.at(-1)).toEqual({ type: "wake-at", atMs: 160_000 });
  });

  test("loses its splits though another life of it says that it uses records", () => {
    const scene = opened(["a"]);
    scene.get("a");
    scene.nowMs = 50_000;
    scene.step({ type: "moved", task: "a", generation: 2 });
    scene.nowMs = 60_000;
    scene.step({ type: "wake-up" });
    expect(scene.has("a")).toEqual([]);
  });

  test.each([
    ["behind the last of its epoch", { epoch: 0, position: 2 }],
    ["before the first of its epoch", { epoch: 1, position: -1 }],
  ])("is not believed of a split %s, though another epoch has one there", (_where, { epoch, position }) => {
    const scene = opened(["a"], { splits: 2, epochs: 2, boundary: "overlap", window: 4 });
    scene.get("a", 4);
    expect(scene.used("a", { number: 9, epoch, position })).toEqual(
      refused("invalid", `train has given nobody split ${position} of epoch ${epoch}`),
    );
    expect(scene.state.used).toEqual([]);
  });

  test("is not believed of a split that another task used in an epoch that is over", () => {
    const scene = opened(["a", "b"], { splits: 1, epochs: 2 });
    const split = scene.one("a");
    scene.nowMs = 60_000;
    scene.step({ type: "wake-up" });
    scene.used("b", scene.one("b"));
    expect(scene.one("b")).toMatchObject({ epoch: 1, position: 0 });
    expect(scene.used("a", split)).toEqual(refused("lost", "a used nothing of train for 60 s, and has lost split 0"));
  });

  test("is believed when it says that it used all of them, where no other task has them", () => {
    const scene = opened(["a"], { maxAttempts: 1 });
    const split = scene.one("a");
    scene.nowMs = 60_000;
    scene.step({ type: "wake-up" });
    expect(scene.leftOut()).toEqual([{ type: "left-out", split: 0, why: "a used none of it for 60 s" }]);
    expect(scene.used("a", split)).toEqual(noted);
    expect(scene.state).toMatchObject({ used: [0, 1], poisoned: [] });
    expect(scene.used("a", split)).toEqual(noted);
  });

  test("is not believed of what nobody was given, which leaves nothing", () => {
    const { epochs: _endless, ...endless } = FEED;
    const scene = new Scene({}, recoveredFeed({ ...endless, boundary: "infinite" }, 0));
    scene.open("a");
    const given = scene.one("a");
    const before = scene.content;
    for (let epoch = 0; epoch < 100; epoch += 1) {
      const forged = { number: 1_000 + epoch, epoch, position: 1 };
      expect(scene.used("a", forged)).toEqual(refused("invalid", `train has given nobody split 1 of epoch ${epoch}`));
    }
    expect(scene.content).toBe(before);
    // A later attempt and a later generation know what was given to whom they are of.
    const later = new Scene({}, recoveredFeed(endless, 0, feedShape(JSON.parse(scene.content), "")));
    expect(later.used("a", { ...given, position: 1 })).toMatchObject({ code: "invalid" });
    expect(later.used("a", given)).toEqual(noted);
    later.open("a", "used", 2);
    expect(later.used("a", { ...given, number: 9 })).toMatchObject({ code: "invalid" });
  });

  test("keeps its splits while it waits for the others' steps, and has its whole time again afterwards", () => {
    const scene = opened(["a"], { uneven: "drop" });
    scene.get("a");
    const said = { epoch: 0, ready: 1, known: 0, dry: false };
    const id = scene.call((caller) => ({ ...caller, ...said, type: "steps", among: ["a", "b"] }), "a");
    scene.nowMs = 70_000;
    scene.step({ type: "wake-up" });
    scene.step({ type: "gone", id });
    expect(scene.has("a")).toEqual([1]);
    expect(scene.effects.at(-1)).toEqual({ type: "wake-at", atMs: 130_000 });
    scene.nowMs = 130_000;
    scene.step({ type: "wake-up" });
    expect(scene.has("a")).toEqual([]);
  });

  test("keeps its splits while it uses records, and when the ApplicationMaster was held up", () => {
    const scene = opened(["a"]);
    scene.get("a");
    scene.nowMs = 50_000;
    scene.step({ type: "moved", task: "a", generation: 1 });
    scene.step({ type: "moved", task: "b", generation: 1 });
    scene.nowMs = 60_000;
    scene.step({ type: "wake-up" });
    expect(scene.effects.at(-1)).toEqual({ type: "wake-at", atMs: 110_000 });
    scene.nowMs = 200_000;
    scene.step({ type: "wake-up" });
    expect(scene.has("a")).toEqual([1]);
    expect(scene.effects.at(-1)).toEqual({ type: "wake-at", atMs: 200_000 });
  });
});

describe("a split that fails", () => {
  test("is left out after the allowed attempts, in later epochs as well", () => {
    const scene = opened(["a"], { splits: 2, epochs: 2 });
    scene.failed("a", scene.one("a"), "not a record");
    const again = scene.one("a");
    expect(again).toMatchObject({ position: 0, number: 2 });
    scene.failed("a", again, "at byte 12: not a record");
    expect(scene.leftOut()).toEqual([{ type: "left-out", split: 0, why: "at byte 12: not a record" }]);
    // It may be said twice.
    scene.failed("a", again, "at byte 12: not a record");
    scene.used("a", scene.one("a"));
    expect(scene.get("a", 2)).toMatchObject([{ epoch: 1, position: 1 }]);
  });

  test("is told with why, in few words, until a task says that it has used it after all", () => {
    const scene = opened(["a"], { splits: 2, maxAttempts: 1 });
    const split = scene.one("a");
    scene.failed("a", split, "x".repeat(600));
    expect(scene.state.failures).toEqual({ 0: "x".repeat(500) });
    expect(scene.used("a", split)).toEqual(noted);
    expect(scene.state.failures).toEqual({});
  });

  test("is told with why where few fail: of many the first ones are enough", () => {
    const scene = opened(["a"], { splits: 30, maxAttempts: 1 });
    for (let split = 0; split < 25; split += 1) scene.failed("a", scene.one("a"), "damaged");
    expect(Object.keys(scene.state.failures)).toHaveLength(20);
    expect(scene.leftOut()).toHaveLength(25);
  });

  test("is the one that a task used when it failed, not the others that it had", () => {
    const scene = opened(["a"]);
    scene.get("a", 2);
    scene.step({ type: "life-ended", task: "a", generation: 1, how: "failed" });
    expect(scene.state.attempts).toEqual({ 0: 1 });
  });

  test("fails once for the task that has it, whoever else says so", () => {
    const scene = opened(["a", "b"]);
    const lease = scene.one("a");
    const says = (task: string) => scene.answerTo(scene.call((caller) => ({ ...caller, type: "failed", lease }), task));
    expect(says("b")).toEqual(noted);
    expect(scene.has("a")).toEqual([1]);
    expect([says("a"), says("a")]).toEqual([noted, noted]);
    expect(scene.state.attempts).toEqual({ 0: 1 });
  });

  test("is tried again, and why is told", () => {
    const scene = opened(["a", "b"]);
    const lease = scene.one("a");
    scene.call((caller) => ({ ...caller, type: "failed", lease }), "a");
    expect(scene.effects).toContainEqual({ type: "tried-again", split: 0, why: "no reason was said" });
    scene.one("b");
    scene.one("a");
    scene.step({ type: "life-ended", task: "a", generation: 1, how: "failed" });
    expect(scene.effects).toContainEqual({ type: "tried-again", split: 1, why: "a failed while it used it" });
  });

  test("stays left out, and its failures count, in later generations", () => {
    const scene = opened(["a"], { splits: 3 });
    for (let time = 0; time < 2; time += 1) scene.failed("a", scene.one("a"), "damaged");
    scene.failed("a", scene.one("a"), "damaged");
    scene.open("a", "start", 2);
    const second = scene.one("a");
    expect(second).toMatchObject({ position: 1 });
    scene.failed("a", second, "damaged");
    expect(positions(scene.get("a", 2))).toEqual([2]);
  });

  test("ends the feed where it was the last one that could be read", () => {
    const scene = opened(["a"], { splits: 1, maxAttempts: 1, epochs: 5 });
    scene.failed("a", scene.one("a"), "not a record");
    expect(scene.answerTo(scene.asks("a"))).toEqual({ type: "end" });
  });
});

describe("a later life of a task", () => {
  const open = (scene: Scene, generation: number) => {
    const id = 100 + generation;
    scene.step({ type: "open", id, task: "a", generation, gang: 1, origin: "start" });
    return scene.answerTo(id);
  };
  const asks = (scene: Scene, generation: number) =>
    scene.step({ type: "ask", id: 200, task: "a", generation, most: 1, atOnce: false, has: [] });

  test("has what it was given though it opens twice, and an earlier one does not come back", () => {
    const scene = new Scene();
    expect(open(scene, 2)).toEqual({ type: "opened", epoch: 0 });
    asks(scene, 2);
    expect(open(scene, 2)).toEqual({ type: "opened", epoch: 0 });
    expect(open(scene, 1)).toEqual(refused("stale", "another life of a reads train"));
    expect(scene.has("a")).toEqual([1]);
  });

  test("begins with nothing, and does not end with an earlier one", () => {
    const scene = new Scene();
    open(scene, 2);
    asks(scene, 2);
    open(scene, 3);
    expect(scene.has("a")).toEqual([]);
    asks(scene, 3);
    scene.step({ type: "life-ended", task: "a", generation: 2, how: "failed" });
    expect(scene.has("a")).toEqual([2]);
    expect(scene.state.attempts).toEqual({});
  });
});

describe("what people see of a feed", () => {
  test("is how far it is, what failed and what each task has used", () => {
    const scene = opened(["a", "b"], { epochs: 2 });
    scene.failed("a", scene.one("a"), "slow");
    scene.nowMs = 5_000;
    const lease = scene.one("b");
    for (let time = 0; time < 2; time += 1)
      scene.call((caller) => ({ ...caller, type: "used", lease, records: 7 }), "b");
    for (let time = 0; time < 2; time += 1) scene.failed("a", scene.one("a"), "damaged");
    scene.step({ type: "life-ended", task: "b", generation: 1, how: "succeeded" });
    expect(progressOfFeed(scene.state, 9_000)).toStrictEqual({
      ...{ name: "train", epoch: 0, epochs: 2, splits: 4, used: 1, leftOut: 1 },
      failures: [{ split: 1, reason: "damaged" }],
      triedAgain: 1,
      readers: [
        { task: "a", sinceMs: 0, usedAtMs: 0, splits: 0, rows: 0, isDone: false },
        { task: "b", sinceMs: 0, usedAtMs: 5_000, splits: 1, rows: 7, isDone: true },
      ],
    });
  });

  test("is what the tasks that read now have used since they began", () => {
    const scene = opened(["a", "b"]);
    const lease = scene.one("a");
    scene.call((caller) => ({ ...caller, type: "used", lease, records: 7 }), "a");
    scene.nowMs = 9_000;
    scene.open("a", "used", 2);
    expect(progressOfFeed(scene.state, 9_500).readers).toEqual([
      { task: "a", sinceMs: 9_000, usedAtMs: 9_000, splits: 0, rows: 0, isDone: false },
    ]);
  });

  test("counts the splits of the epoch that is not over", () => {
    const { epochs: _endless, ...endless } = FEED;
    const scene = new Scene({}, recoveredFeed({ ...endless, splits: 2, boundary: "infinite" }, 0));
    for (const task of ["a", "b"]) scene.open(task);
    const slow = scene.one("a");
    for (let read = 0; read < 4; read += 1) scene.used("b", scene.one("b"));
    const seen = progressOfFeed(scene.state, 0);
    expect(seen).toMatchObject({ epoch: 0, used: 1 });
    expect(seen).not.toHaveProperty("epochs");
    scene.used("a", slow);
    expect(progressOfFeed(scene.state, 0)).toMatchObject({ epoch: 2, used: 1 });
  });
});

describe("a cursor", () => {
  test.each([2 ** 53 - 1, 2 ** 50, 2 ** 24 + 1])(
    "of epoch %d, whose splits nobody could count, is refused",
    (epoch) => {
      const { epochs: _endless, ...endless } = FEED;
      const scene = new Scene({}, recoveredFeed(endless, 0));
      const made = { plan: "a1", epoch, used: [0, 4], partly: {} };
      expect(scene.open("a", made)).toMatchObject({ type: "refused", code: "invalid" });
    },
  );

  test("is given when all tasks have come, and again to a task that asks again", () => {
    const scene = opened(["a", "b"]);
    const [first = MISSING, second = MISSING] = scene.get("a", 2);
    const third = scene.one("b");
    scene.used("a", first);
    const a = scene.mark("a", "step 10", ["a", "b"], { ...second, records: 7 });
    expect(scene.used("a", second)).toMatchObject(
      refused("invalid", "a waits at mark step 10: say before it or after it what is used"),
    );
    // Who waits is not silent.
    scene.nowMs = 59_000;
    scene.step({ type: "moved", task: "b", generation: 1 });
    scene.nowMs = 61_000;
    scene.step({ type: "wake-up" });
    const b = scene.mark("b", "step 10", ["a", "b"], { ...third, records: 2 });
    const cursor = { plan: "a1", epoch: 0, used: [0, 1], partly: { 1: 7, 2: 2 } };
    expect([scene.answerTo(a), scene.answerTo(b)]).toEqual([
      { type: "cursor", cursor },
      { type: "cursor", cursor },
    ]);
    expect(scene.answerTo(scene.mark("b", "step 10", ["a", "b"]))).toEqual({ type: "cursor", cursor });
  });

  test("goes to the last of a task's calls", () => {
    const scene = opened(["a", "b"]);
    const first = scene.mark("a", "1", ["a", "b"]);
    const second = scene.mark("a", "1", ["a", "b"]);
    expect(scene.answerTo(first)).toEqual(refused("replaced", "a has come to mark 1 again, or is gone"));
    expect(scene.answerTo(second)).toBeUndefined();
    scene.mark("b", "1", ["a", "b"]);
    expect(scene.answerTo(second)).toMatchObject({ type: "cursor" });
  });

  test("is of the tasks that the first one named", () => {
    const scene = opened(["a", "b", "c"]);
    scene.mark("a", "1", ["a", "b"]);
    expect(scene.answerTo(scene.mark("c", "1", ["a", "b", "c"]))).toEqual(
      refused("invalid", "c comes to mark 1 while a, b meet at 1"),
    );
  });

  test("still says what is used of splits that no task has begun since the last one", () => {
    const scene = new Scene();
    const origin = { plan: "a1", epoch: 0, used: [], partly: { 0: 5, 2: 1 } };
    scene.open("a", origin);
    expect(scene.answerTo(scene.mark("a", "1", ["a"]))).toEqual({ type: "cursor", cursor: origin });
    const split = scene.one("a");
    const later = scene.mark("a", "2", ["a"], { ...split, records: 7 });
    expect(scene.answerTo(later)).toMatchObject({ cursor: { partly: { 0: 7, 2: 1 } } });
    scene.used("a", split);
    expect(scene.answerTo(scene.mark("a", "3", ["a"]))).toMatchObject({
      cursor: { used: [0, 1], partly: { 2: 1 } },
    });
    // What a generation has not used up itself is begun again by one that goes on from what is used.
    scene.open("a", "used", 2);
    expect(scene.get("a", 2)).toMatchObject([
      { position: 1, skip: 0 },
      { position: 2, skip: 0 },
    ]);
  });

  test("gives those who waited for it their whole time again", () => {
    const scene = opened(["a", "b"]);
    const split = scene.one("a");
    scene.mark("a", "1", ["a", "b"], { ...split, records: 1 });
    scene.nowMs = 60_000;
    scene.step({ type: "wake-up" });
    scene.nowMs = 70_000;
    scene.mark("b", "1", ["a", "b"]);
    expect(scene.effects).toContainEqual({ type: "wake-at", atMs: 130_000 });
    scene.nowMs = 130_000;
    scene.step({ type: "wake-up" });
    expect(scene.has("a")).toEqual([]);
  });

  test("is in the journal before any task hears of it", () => {
    const state = recoveredFeed(FEED, 0);
    const hear = createFeed(state);
    hear({ type: "open", id: 1, task: "a", generation: 1, gang: 1, origin: "start" }, 0);
    hear({ type: "journal-written", sequence: 1 }, 0);
    const mark = { type: "mark", id: 2, task: "a", generation: 1, label: "1", among: ["a"], begun: [] } as const;
    const cursor = { plan: "a1", epoch: 0, used: [], partly: {} };
    const [write, ...others] = hear(mark, 0);
    expect(others).toEqual([]);
    expect(JSON.parse(write?.type === "journal" ? write.content : "")).toMatchObject({
      taken: { label: "1", cursor, lives: { a: 1 } },
    });
    expect(hear({ type: "journal-written", sequence: 2 }, 0)).toEqual([
      { type: "answer", id: 2, answer: { type: "cursor", cursor } },
    ]);
  });

  test("is where the next generation begins: everything else is free again", () => {
    const scene = opened(["a"]);
    scene.get("a", 2);
    const cursor = { plan: "a1", epoch: 0, used: [1, 2], partly: { 0: 5 } };
    expect(scene.open("b", cursor, 2)).toEqual({ type: "opened", epoch: 0 });
    expect(scene.get("b", 2)).toMatchObject([
      { position: 0, skip: 5 },
      { position: 2, skip: 0 },
    ]);
    expect(scene.open("a", "start", 1)).toEqual(refused("stale", "another life of a reads train"));
    const elsewhere = "c opens train at another place than the tasks before it: all of a generation begin at the same";
    expect(scene.open("c", "start", 2)).toEqual(refused("invalid", elsewhere));
    expect(scene.open("d", { ...cursor, plan: "b2" }, 3)).toMatchObject({ type: "refused", code: "invalid" });
    expect(scene.open("e", "used", 3)).toEqual({ type: "opened", epoch: 0 });
    expect(scene.state.used).toEqual([1, 2]);
  });

  test("is not given to a task that has lost the split it reports, or that comes to another mark", () => {
    const scene = opened(["a", "b"]);
    const split = scene.one("a");
    const lost = scene.mark("a", "1", ["a", "b"], { ...split, number: 9, records: 1 });
    expect(scene.answerTo(lost)).toMatchObject({ code: "lost" });
    const waits = scene.mark("a", "1", ["a", "b"]);
    expect(scene.answerTo(scene.mark("b", "2", ["a", "b"]))).toEqual(
      refused("invalid", "b comes to mark 2 while a, b meet at 1"),
    );
    scene.step({ type: "gone", id: waits });
    expect(scene.answerTo(scene.mark("b", "2", ["b"]))).toMatchObject({ type: "cursor" });
  });

  test("does not wait for a task that has ended well, but does wait for one that was stopped", () => {
    const scene = opened(["a", "b", "c"]);
    scene.step({ type: "life-ended", task: "c", generation: 1, how: "succeeded" });
    scene.step({ type: "life-ended", task: "c", generation: 1, how: "succeeded" });
    const waits = scene.mark("a", "1", ["a", "b", "c"]);
    scene.step({ type: "life-ended", task: "b", generation: 1, how: "gone" });
    expect(scene.answerTo(waits)).toBeUndefined();
    scene.open("b");
    scene.step({ type: "life-ended", task: "b", generation: 1, how: "succeeded" });
    expect(scene.answerTo(waits)).toMatchObject({ type: "cursor" });
  });

  test("waits again for who had come and is gone by the time that the others do", () => {
    const scene = opened(["a", "b"]);
    const gone = scene.mark("a", "1", ["a", "b"]);
    scene.step({ type: "life-ended", task: "a", generation: 1, how: "gone" });
    expect(scene.answerTo(gone)).toMatchObject({ type: "refused", code: "replaced" });
    const waits = scene.mark("b", "1", ["a", "b"]);
    expect(scene.answerTo(waits)).toBeUndefined();
    scene.open("a");
    scene.mark("a", "1", ["a", "b"]);
    expect(scene.answerTo(waits)).toMatchObject({ type: "cursor" });
  });

  test("is refused while another task waits for splits, because that one would never come", () => {
    const scene = opened(["a", "b"], { splits: 1 });
    const split = scene.one("a");
    const waits = scene.mark("a", "1", ["a", "b"], { ...split, records: 1 });
    expect(scene.answerTo(waits)).toBeUndefined();
    const asks = scene.asks("b");
    const words =
      "b waits for more of train and comes to no mark 1: a cursor is of tasks that make the same number of steps";
    expect(scene.answerTo(waits)).toEqual(refused("invalid", words));
    expect(scene.answerTo(asks)).toBeUndefined();
  });

  test("is not given to a later life of the task at a mark of the same name", () => {
    const scene = opened(["a"]);
    scene.mark("a", "1", ["a"]);
    scene.step({ type: "life-ended", task: "a", generation: 1, how: "failed" });
    scene.step({ type: "open", id: 90, task: "a", generation: 2, gang: 1, origin: "start" });
    scene.step({ type: "ask", id: 91, task: "a", generation: 2, most: 1, atOnce: false, has: [] });
    const [position = -1] = scene.state.hands.a ?? [];
    const lease = { number: scene.state.lastLease, epoch: 0, position, records: 3 };
    scene.step({ type: "mark", id: 92, task: "a", generation: 2, label: "1", among: ["a"], begun: [lease] });
    expect(scene.answerTo(92)).toMatchObject({ type: "cursor", cursor: { partly: { 0: 3 } } });
  });
});

describe("the journal", () => {
  test("holds what an answer says before the answer is given", () => {
    const state = recoveredFeed(FEED, 0);
    const hear = createFeed(state);
    const caller = { id: 1, task: "a", generation: 1 };
    const effects = hear({ ...caller, type: "open", gang: 1, origin: "start" }, 0);
    expect(effects).toMatchObject([{ type: "journal", sequence: 1 }]);
    expect(hear({ type: "journal-written", sequence: 7 }, 0)).toEqual([]);
    expect(hear({ type: "journal-written", sequence: 1 }, 0)).toMatchObject([{ type: "answer", id: 1 }]);
  });

  test("is all that a later attempt needs; readers have their whole time again", () => {
    const scene = opened(["a", "b"]);
    const [first = MISSING] = scene.get("a", 2);
    scene.used("a", first);
    scene.mark("a", "1", ["a"]);
    const later = new Scene({}, recoveredFeed(FEED, 500, feedShape(JSON.parse(scene.content), "")));
    expect(positions(later.get("b", 2))).toEqual([2, 3]);
    expect(later.answerTo(later.mark("a", "1", ["a"]))).toMatchObject({ type: "cursor", cursor: { used: [0, 1] } });
    expect(later.used("a", first)).toEqual(noted);
    expect(later.effects).toContainEqual({ type: "wake-at", atMs: 60_000 });
  });

  test("says in which order a task got its splits, and each reader has its whole time from then on", () => {
    const scene = opened(["a", "b"]);
    scene.get("b");
    scene.get("a");
    scene.step({ type: "life-ended", task: "b", generation: 1, how: "gone" });
    scene.get("a");
    const state = recoveredFeed(FEED, 500, feedShape(JSON.parse(scene.content), ""));
    expect(state).toMatchObject({ hands: { a: [1, 0] }, due: { a: 60_500 } });
    expect(state.paces).toEqual({ a: { sinceMs: 500, usedAtMs: 500, splits: 0, records: 0 } });
    const later = new Scene({}, state);
    later.step({ type: "life-ended", task: "a", generation: 1, how: "failed" });
    expect(later.state.attempts).toEqual({ 1: 1 });
  });

  test("of one feed is no other's: each begins with nothing", () => {
    const scene = opened(["a"], { maxAttempts: 1 });
    scene.failed("a", scene.one("a"), "damaged");
    scene.used("a", scene.one("a"));
    scene.get("a");
    expect(recoveredFeed(FEED, 0)).toMatchObject({
      ...{ used: [], poisoned: [], failures: {}, partly: {}, leases: {}, attempts: {}, readers: {} },
      ...{ epoch: 0, lastLease: 0, handedOut: 0, generation: 0, origin: "start" },
    });
  });

  test.each([["start"], ["used"], [{ plan: "a1", epoch: 1, used: [0, 2], partly: { 3: 1 } }]])(
    "says where a generation began: %j",
    (origin) => {
      const written = { ...JSON.parse(opened(["a"]).content), origin };
      expect(feedShape(written, "").origin).toEqual(origin);
    },
  );

  test.each([["end"], [7], [null], [{ plan: "a1" }]])("is refused where a generation began nowhere: %j", (origin) => {
    const written = { ...JSON.parse(opened(["a"]).content), origin };
    expect(() => feedShape(written, "")).toThrow(ShapeError);
  });

  test("is small, with the splits that 1,000 tasks have of 100,000 and a few runs", () => {
    const state = recoveredFeed({ ...FEED, splits: 100_000, seed: 1, window: 4 }, 0);
    const hear = createFeed(state);
    const tasks = Array.from({ length: 1_000 }, (_, index) => ({ id: index, task: `worker:${index}`, generation: 1 }));
    const written: string[] = [];
    const hearAll = (events: readonly FeedEvent[]) => {
      // Whatever comes while a write is under way shares the next one.
      for (const effect of events.flatMap((event) => hear(event, 0))) {
        if (effect.type === "journal") written.push(effect.content);
      }
      for (const effect of hear({ type: "journal-written", sequence: state.journal.sequence }, 0)) {
        if (effect.type === "journal") written.push(effect.content);
      }
    };
    hearAll(tasks.map((task) => ({ ...task, type: "open", gang: 1, origin: "start" })));
    for (let round = 0; round < 3; round += 1) {
      const has = (task: string) => (state.hands[task] ?? []).map((position) => state.leases[position]?.number ?? 0);
      hearAll(tasks.map((task) => ({ ...task, type: "ask", most: 4, atOnce: false, has: has(task.task) })));
      hearAll(
        tasks.map((task) => {
          const [position = 0] = state.hands[task.task] ?? [];
          const lease = { number: state.leases[position]?.number ?? 0, epoch: 0, position };
          return { ...task, type: "used", lease };
        }),
      );
    }
    hearAll([]);
    expect(Object.keys(state.leases)).toHaveLength(3_000);
    expect(state.used.length).toBeGreaterThan(2);
    expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(256 << 10);
  });
});

describe("an input that grows", () => {
  const GROWING: Feed = {
    ...FEED,
    splits: 0,
    seed: 5,
    growth: { batches: [{ behind: 0, plan: "a1" }], isComplete: false },
  };
  const grown = (splits: number, isComplete = false): FeedEvent => ({
    type: "grown",
    splits,
    plan: `a${splits}`,
    isComplete,
  });

  test("is waited for, is read in an order of its own after what was there before, and ends when nothing more comes", () => {
    const scene = new Scene({}, recoveredFeed({ ...GROWING, window: 20 }, 0));
    scene.open("a");
    const waits = scene.asks("a", 20);
    expect(scene.answerTo(waits)).toBeUndefined();
    scene.step(grown(6));
    scene.step(grown(12));
    const first = scene.answerTo(waits);
    const splits = [...(first?.type === "given" ? first.splits : []), ...scene.get("a", 20)];
    const numbers = splits.map(({ split }) => split);
    expect(positions(splits)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const inOrder = (from: number) => [from, from + 1, from + 2, from + 3, from + 4, from + 5];
    expect([...numbers.slice(0, 6)].sort()).toEqual(inOrder(0));
    expect(numbers.slice(6).sort((left, right) => left - right)).toEqual(inOrder(6));
    expect(numbers.slice(0, 6)).not.toEqual(inOrder(0));
    for (const split of splits) scene.used("a", split);
    const later = scene.asks("a");
    expect(scene.answerTo(later)).toBeUndefined();
    scene.step(grown(12, true));
    expect(scene.answerTo(later)).toEqual({ type: "end" });
  });

  test("has a batch more with each growth, and none where it is only complete", () => {
    const batches = [
      { behind: 0, plan: "a1" },
      { behind: 6, plan: "a6" },
    ];
    const scene = new Scene({}, recoveredFeed(GROWING, 0));
    scene.step(grown(6));
    expect(scene.state.feed).toEqual({ ...GROWING, splits: 6, plan: "a6", growth: { batches, isComplete: false } });
    scene.step(grown(6, true));
    expect(scene.state.feed).toEqual({ ...GROWING, splits: 6, plan: "a6", growth: { batches, isComplete: true } });
    const whole = new Scene();
    whole.step(grown(6));
    expect(whole.state.feed).toEqual(FEED);
  });

  test("ends at once where nothing came", () => {
    const scene = new Scene({}, recoveredFeed(GROWING, 0));
    scene.open("a");
    const waits = scene.asks("a");
    scene.step(grown(0, true));
    expect(scene.answerTo(waits)).toEqual({ type: "end" });
  });

  test("goes on from each cursor that was taken of it, and from none of an input that grew differently", () => {
    const scene = new Scene({}, recoveredFeed(GROWING, 0));
    scene.open("a");
    scene.step(grown(2));
    scene.used("a", scene.one("a"));
    const marked = scene.answerTo(scene.mark("a", "1", ["a"]));
    const cursor = { plan: "a2", epoch: 0, used: [0, 1], partly: {} };
    expect(marked).toEqual({ type: "cursor", cursor });
    scene.step(grown(5));
    expect(scene.open("a", cursor, 2)).toEqual({ type: "opened", epoch: 0 });
    expect(positions(scene.get("a", 2))).toEqual([1, 2]);
    expect(scene.open("b", { ...cursor, plan: "a3" }, 3)).toMatchObject({ type: "refused", code: "invalid" });
  });

  test("shows what is not all used or left out", () => {
    const scene = new Scene({}, recoveredFeed({ ...GROWING, maxAttempts: 1 }, 0));
    scene.open("a");
    const unfinished = () => progressOfFeed(scene.state, 0).unfinished;
    expect(unfinished()).toBe(Number.POSITIVE_INFINITY);
    scene.step(grown(2));
    scene.step(grown(3));
    expect(unfinished()).toBe(0);
    scene.failed("a", scene.one("a"), "damaged");
    scene.used("a", scene.one("a"));
    expect(unfinished()).toBe(2);
    scene.used("a", scene.one("a"));
    expect(unfinished()).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("the journal of a feed", () => {
  test("takes an acknowledgement that comes twice for no other write", () => {
    const state = recoveredFeed(FEED, 0);
    const hear = createFeed(state);
    hear({ type: "open", id: 1, task: "a", generation: 1, gang: 1, origin: "start" }, 0);
    hear({ type: "journal-written", sequence: 1 }, 0);
    const { written } = state.journal;
    expect(hear({ type: "journal-written", sequence: 1 }, 5)).toEqual([]);
    expect(hear({ type: "journal-failed", sequence: 1 }, 5)).toEqual([]);
    expect(state.journal).toMatchObject({ written, failures: 0 });
  });

  test("is written again after a pause where it failed, a longer one each time, and answers wait for it", () => {
    const state = recoveredFeed(FEED, 0);
    const hear = createFeed(state);
    const effects = (event: FeedEvent, nowMs: number) => hear(event, nowMs).map(({ type }) => type);
    const open: FeedEvent = { type: "open", id: 1, task: "a", generation: 1, gang: 1, origin: "start" };
    expect(effects(open, 0)).toEqual(["journal"]);
    expect(hear({ type: "journal-failed", sequence: 1 }, 10)).toEqual([{ type: "wake-at", atMs: 260 }]);
    expect(effects({ type: "moved", task: "a", generation: 1 }, 100)).toEqual([]);
    expect(effects({ type: "wake-up" }, 260)).toEqual(["journal"]);
    expect(hear({ type: "journal-failed", sequence: 1 }, 270)).toEqual([]);
    expect(hear({ type: "journal-failed", sequence: 2 }, 270)).toEqual([{ type: "wake-at", atMs: 770 }]);
    expect(effects({ type: "wake-up" }, 770)).toEqual(["journal"]);
    expect(hear({ type: "journal-written", sequence: 3 }, 780)).toEqual([
      { type: "answer", id: 1, answer: { type: "opened", epoch: 0 } },
    ]);
    expect(state.journal.failures).toBe(0);
  });

  test("is written again before a task loses its splits, and that loss is not forgotten", () => {
    const state = recoveredFeed({ ...FEED, leaseMs: 100_000 }, 0);
    const hear = createFeed(state);
    hear({ type: "open", id: 1, task: "a", generation: 1, gang: 1, origin: "start" }, 0);
    hear({ type: "journal-written", sequence: 1 }, 0);
    const asked = hear({ type: "ask", id: 2, task: "a", generation: 1, most: 1, atOnce: false, has: [] }, 0);
    expect(asked).toContainEqual({ type: "wake-at", atMs: 100_000 });
    expect(hear({ type: "journal-failed", sequence: 2 }, 1_000)).toEqual([{ type: "wake-at", atMs: 1_250 }]);
    const woken = hear({ type: "wake-up" }, 1_250);
    expect(woken.map(({ type }) => type)).toEqual(["journal", "wake-at"]);
    expect(woken[1]).toEqual({ type: "wake-at", atMs: 100_000 });
  });
});
