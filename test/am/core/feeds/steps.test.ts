import { describe, expect, test } from "@jest/globals";
import { createFeed } from "../../../../am/core/feeds/feed.ts";
import { feedShape } from "../../../../am/core/feeds/feed-file.ts";
import { recoveredFeed } from "../../../../am/core/feeds/journaling.ts";
import type { Feed, FeedAnswer, FeedState, Given } from "../../../../am/core/feeds/records.ts";
import type { FeedCall, FeedEvent } from "../../../../am/core/feeds/step.ts";
import type { Uneven } from "../../../../src/job/feeds/feed-spec.ts";
import { Random } from "../../../simulation/random.ts";

function feedOf(uneven?: Uneven, splits = 4): Feed {
  const limits = { window: 2, leaseMs: 60_000, maxAttempts: 2 };
  return { name: "train", plan: "a1", splits, epochs: 2, ...limits, ...(uneven && { uneven }) };
}

type Caller = { readonly id: number; readonly task: string; readonly generation: number };

/** A feed whose journal is written at once, and ApplicationMasters that know what is in it. */
class Scene {
  readonly answers = new Map<number, FeedAnswer>();
  readonly #feed: Feed;
  readonly #among: readonly string[];
  state: FeedState;
  #hear: ReturnType<typeof createFeed>;
  #journal = "";
  #lastId = 0;
  nowMs = 0;

  constructor(feed: Feed, among: readonly string[] = ["a", "b"]) {
    this.#feed = feed;
    this.#among = among;
    this.state = recoveredFeed(feed, 0);
    this.#hear = createFeed(this.state);
    for (const task of among) this.call(task, (caller) => ({ ...caller, type: "open", gang: 1, origin: "start" }));
  }

  send(event: FeedEvent): void {
    for (const effect of this.#hear(event, this.nowMs)) {
      if (effect.type === "answer") this.answers.set(effect.id, effect.answer);
      if (effect.type !== "journal") continue;
      this.#journal = effect.content;
      this.send({ type: "journal-written", sequence: effect.sequence });
    }
  }

  /** @returns the number of the call */
  call(task: string, of: (caller: Caller) => FeedCall): number {
    this.#lastId += 1;
    this.send(of({ id: this.#lastId, task, generation: 1 }));
    return this.#lastId;
  }

  steps(task: string, ready: number, said: { known?: number; dry?: boolean; epoch?: number } = {}): number {
    const { known = 0, dry = false, epoch = 0 } = said;
    return this.call(task, (caller) => ({ ...caller, type: "steps", among: this.#among, epoch, ready, known, dry }));
  }

  asks(task: string, has: readonly number[] = []): number {
    return this.call(task, (caller) => ({ ...caller, type: "ask", most: 1, atOnce: has.length > 0, has }));
  }

  used(task: string, lease: Given): void {
    this.call(task, (caller) => ({ ...caller, type: "used", lease }));
  }

  restart(): void {
    this.state = recoveredFeed(this.#feed, this.nowMs, feedShape(JSON.parse(this.#journal), ""));
    this.#hear = createFeed(this.state);
  }
}

const agreed = (steps: number, last = false) => ({ type: "agreed", steps, last });

describe("tasks that make the same number of steps", () => {
  test("hear how many all of them have rows for, and wait for more", () => {
    const scene = new Scene(feedOf("drop"));
    const first = scene.steps("a", 5);
    expect(scene.answers.get(first)).toBeUndefined();
    const second = scene.steps("b", 3);
    expect([first, second].map((id) => scene.answers.get(id))).toEqual([agreed(3), agreed(3)]);
    const more = scene.steps("a", 9, { known: 3 });
    expect(scene.answers.get(more)).toBeUndefined();
    expect(scene.answers.get(scene.steps("b", 7, { known: 3 }))).toEqual(agreed(7));
    expect(scene.answers.get(more)).toEqual(agreed(7));
  });

  test("are told at once what another was told, also by a later attempt: it is on its way there", () => {
    const scene = new Scene(feedOf("drop"));
    scene.steps("a", 5);
    scene.steps("b", 5);
    scene.restart();
    expect(scene.answers.get(scene.steps("b", 5))).toEqual(agreed(5));
    expect(scene.answers.get(scene.steps("a", 5, { known: 5, dry: true }))).toBeUndefined();
    expect(scene.answers.get(scene.steps("b", 8, { known: 5 }))).toEqual(agreed(5, true));
    scene.restart();
    expect(scene.answers.get(scene.steps("a", 5, { known: 5, dry: true }))).toEqual(agreed(5, true));
  });

  test("make with drop as many as the one has rows for that gets no more", () => {
    const scene = new Scene(feedOf("drop"));
    const waits = scene.steps("a", 4, { dry: true });
    expect(scene.answers.get(scene.steps("b", 9))).toEqual(agreed(4, true));
    expect(scene.answers.get(waits)).toEqual(agreed(4, true));
    // Nobody makes steps with what is still free of the epoch.
    expect(scene.answers.get(scene.asks("a"))).toMatchObject({ splits: [{ epoch: 1, position: 0 }] });
  });

  test("make with pad as many as the one with the most rows", () => {
    const scene = new Scene(feedOf("pad"));
    const waits = scene.steps("a", 4, { dry: true });
    expect(scene.answers.get(scene.steps("b", 6))).toEqual(agreed(6));
    expect(scene.answers.get(waits)).toEqual(agreed(6));
    scene.steps("a", 4, { known: 6, dry: true });
    expect(scene.answers.get(scene.steps("b", 8, { known: 6, dry: true }))).toEqual(agreed(8, true));
  });

  test("stop together, and leave unused what is left", () => {
    const scene = new Scene(feedOf("stop-together"));
    scene.steps("a", 4, { dry: true });
    expect(scene.answers.get(scene.steps("b", 9))).toEqual(agreed(4, true));
    expect(scene.state.used).toEqual([]);
  });

  test("hear that there is nothing more in an epoch, and begin the next one when all have said of how many steps it is", () => {
    const scene = new Scene(feedOf("pad", 1));
    const [split] = [scene.answers.get(scene.asks("a"))].flatMap((one) => (one?.type === "given" ? one.splits : []));
    expect(scene.answers.get(scene.asks("b"))).toEqual({ type: "given", splits: [] });
    if (split === undefined) throw new Error("there is no split");
    scene.used("a", split);
    expect(scene.answers.get(scene.asks("a"))).toEqual({ type: "given", splits: [] });
    scene.steps("a", 2, { dry: true });
    scene.steps("b", 0, { dry: true });
    expect(scene.answers.get(scene.asks("b"))).toMatchObject({ splits: [{ epoch: 1, position: 0 }] });
    expect(scene.answers.get(scene.steps("a", 0, { epoch: 2 }))).toEqual(agreed(0, true));
  });

  test("do not wait for who has ended well, and lose nothing while they wait", () => {
    const scene = new Scene(feedOf("drop"));
    scene.asks("a");
    const waits = scene.steps("a", 4);
    scene.nowMs = 60_000;
    scene.send({ type: "wake-up" });
    expect(Object.keys(scene.state.leases)).toEqual(["0"]);
    scene.send({ type: "life-ended", task: "b", generation: 1, how: "succeeded" });
    expect(scene.answers.get(waits)).toEqual(agreed(4));
  });

  test("are refused what is no step of this epoch, and a call that was made again", () => {
    const scene = new Scene(feedOf("drop"));
    expect(scene.answers.get(scene.steps("a", 1, { epoch: 1 }))).toMatchObject({ code: "invalid" });
    const before = scene.steps("a", 1);
    scene.steps("a", 1);
    expect(scene.answers.get(before)).toMatchObject({ code: "replaced" });
    const gone = scene.steps("a", 1);
    scene.send({ type: "gone", id: gone });
    scene.steps("b", 1);
    expect(scene.answers.get(gone)).toMatchObject({ code: "replaced" });
    const none = new Scene(feedOf());
    expect(none.answers.get(none.steps("a", 1))).toMatchObject({
      message: "tony.feed.train.uneven is not set",
    });
  });
});

const stepsOf = ({ split }: Given) => 1 + ((split * 5) % 4);

/** A task that reads ahead, and makes a step when all others come to it. */
class Task {
  readonly name: string;
  readonly #scene: Scene;
  readonly #random: Random;
  /** What waits for an answer, to be asked again where it is lost. */
  #pending: { id: number; readonly again: () => number } | undefined;
  hands: Given[] = [];
  epoch = 0;
  made = 0;
  ready = 0;
  agreed = 0;
  isDry = false;
  isLast = false;
  isOver = false;
  total = 0;
  readonly seen: string[] = [];
  #unread: string[] = [];

  constructor(name: string, scene: Scene, random: Random) {
    this.name = name;
    this.#scene = scene;
    this.#random = random;
  }

  get isAtStep(): boolean {
    return this.made < this.agreed;
  }

  step(): void {
    this.made += 1;
    this.total += 1;
    const row = this.#unread.shift();
    if (row !== undefined) this.seen.push(row);
  }

  act(): void {
    if (this.#pending !== undefined) this.#hear(this.#pending);
    else if (this.isLast && this.made === this.agreed) this.#turn();
    else if (this.made === this.agreed) this.#ask();
  }

  #hear(pending: { id: number; readonly again: () => number }): void {
    const answer = this.#scene.answers.get(pending.id);
    // The answer is lost, or the ApplicationMaster that was to give it.
    if (answer === undefined || this.#random.chance(0.2)) {
      if (this.#random.chance(0.2)) pending.id = pending.again();
      return;
    }
    this.#pending = undefined;
    if (answer.type === "refused") throw new Error(answer.message);
    if (answer.type === "end") this.isDry = true;
    else if (answer.type === "given") this.#given(answer.splits);
    else if (answer.type === "agreed") {
      this.agreed = answer.steps;
      this.isLast = answer.last;
      this.isOver = this.epoch === 2;
    }
  }

  #given(splits: readonly Given[]): void {
    if (splits.length === 0) this.isDry = this.hands.length < 2;
    for (const split of splits) {
      this.hands.push(split);
      this.ready += stepsOf(split);
      this.#unread.push(...Array.from({ length: stepsOf(split) }, (_, row) => `${split.epoch}/${split.split}/${row}`));
    }
  }

  #ask(): void {
    const { name, ready, agreed: known, isDry: dry, epoch } = this;
    const isRead = this.ready > this.made && (this.hands.length === 2 || this.#random.chance(0.3));
    const again =
      dry || isRead
        ? () => this.#scene.steps(name, ready, { known, dry, epoch })
        : () =>
            this.#scene.asks(
              name,
              this.hands.map(({ number }) => number),
            );
    if (!dry && !isRead && this.hands.length === 2) this.#use();
    this.#pending = { id: again(), again };
  }

  #use(): void {
    for (const hand of this.hands) this.#scene.used(this.name, hand);
    this.hands = [];
  }

  #turn(): void {
    this.#use();
    if (this.isOver) return;
    this.epoch += 1;
    Object.assign(this, { made: 0, ready: 0, agreed: 0, isDry: false, isLast: false });
    this.#unread = [];
  }
}

describe("uneven splits under faults", () => {
  test.each<Uneven>(["drop", "pad"])("with %s leave no task waiting for another", (uneven) => {
    for (let seed = 1; seed <= 150; seed += 1) {
      const random = new Random(seed);
      const splits = random.integer(4, 12);
      const names = Array.from({ length: random.integer(1, 4) }, (_, index) => `worker:${index}`);
      const scene = new Scene(feedOf(uneven, splits), names);
      const tasks = names.map((name) => new Task(name, scene, random));
      const isEnd = () => tasks.every((task) => task.isOver);
      for (let turn = 0; turn < 5_000 && !isEnd(); turn += 1) {
        if (random.chance(0.02)) scene.restart();
        random.any(tasks)?.act();
        if (tasks.every((task) => task.isAtStep)) for (const task of tasks) task.step();
      }
      expect([seed, isEnd(), new Set(tasks.map(({ total }) => total)).size]).toEqual([seed, true, 1]);
      const seen = tasks.flatMap((task) => task.seen);
      expect(new Set(seen).size).toBe(seen.length);
      const rows = Array.from({ length: splits }, (_, split) => 1 + ((split * 5) % 4)).reduce((sum, one) => sum + one);
      const least = uneven === "pad" ? 2 * rows : 0;
      expect([seed, seen.length >= least, seen.length <= 2 * rows]).toEqual([seed, true, true]);
    }
  });
});
