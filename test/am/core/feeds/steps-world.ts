import { createFeed } from "../../../../am/core/feeds/feed.ts";
import { feedShape } from "../../../../am/core/feeds/feed-file.ts";
import { recoveredFeed } from "../../../../am/core/feeds/journaling.ts";
import type { Feed, FeedAnswer, FeedState, Given } from "../../../../am/core/feeds/records.ts";
import type { FeedCall, FeedEvent } from "../../../../am/core/feeds/step.ts";
import type { Uneven } from "../../../../src/job/feeds/feed-spec.ts";
import { Random } from "../../../simulation/random.ts";

export function evenFeed(uneven?: Uneven, splits = 4): Feed {
  const limits = { window: 2, leaseMs: 60_000, maxAttempts: 2 };
  return { name: "train", plan: "a1", splits, epochs: 2, ...limits, ...(uneven && { uneven }) };
}

type Caller = { readonly id: number; readonly task: string; readonly generation: number };

/** A feed whose journal is written at once, and ApplicationMasters that know what is in it. */
export class StepsScene {
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

const stepsOf = ({ split }: Given) => 1 + ((split * 5) % 4);

/** A task that reads ahead, and makes a step when all others come to it. */
class Task {
  readonly name: string;
  readonly #scene: StepsScene;
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

  constructor(name: string, scene: StepsScene, random: Random) {
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

/** Tasks that make their steps together, and ApplicationMasters that die. @returns what is not as it is guaranteed */
export function problemsOfSteps(seed: number, uneven: Uneven): readonly string[] {
  const random = new Random(seed);
  const splits = random.integer(4, 12);
  const names = Array.from({ length: random.integer(1, 4) }, (_, index) => `worker:${index}`);
  const scene = new StepsScene(evenFeed(uneven, splits), names);
  const tasks = names.map((name) => new Task(name, scene, random));
  const isEnd = () => tasks.every((task) => task.isOver);
  for (let turn = 0; turn < 5_000 && !isEnd(); turn += 1) {
    if (random.chance(0.02)) scene.restart();
    random.any(tasks)?.act();
    if (tasks.every((task) => task.isAtStep)) for (const task of tasks) task.step();
  }
  const seen = tasks.flatMap((task) => task.seen);
  const rows = Array.from({ length: splits }, (_, split) => 1 + ((split * 5) % 4)).reduce((sum, one) => sum + one);
  const least = uneven === "pad" ? 2 * rows : 0;
  return [
    ...(isEnd() ? [] : ["it came to no end"]),
    ...(new Set(tasks.map(({ total }) => total)).size === 1 ? [] : ["tasks made different numbers of steps"]),
    ...(new Set(seen).size === seen.length ? [] : ["a row was used twice"]),
    ...(seen.length >= least && seen.length <= 2 * rows ? [] : [`${seen.length} of ${2 * rows} rows were used`]),
  ];
}
