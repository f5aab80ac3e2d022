import { createFeed } from "../../../../am/core/feeds/feed.ts";
import { feedShape } from "../../../../am/core/feeds/feed-file.ts";
import { recoveredFeed } from "../../../../am/core/feeds/journaling.ts";
import { grownFeed } from "../../../../am/core/feeds/order.ts";
import type { Feed, FeedAnswer, FeedState, Given, Origin } from "../../../../am/core/feeds/records.ts";
import type { FeedCall, FeedEffect, FeedEvent } from "../../../../am/core/feeds/step.ts";
import type { Cursor } from "../../../../src/job/feeds/cursor.ts";
import { orderOf } from "../../../../src/job/feeds/plan.ts";
import { hasNumber } from "../../../../src/job/feeds/runs.ts";
import type { Random } from "../../../simulation/random.ts";

/** A program reads so many epochs of a feed without end. */
const EPOCHS_OF_THE_ENDLESS = 3;

/** How often each record was used, by `epoch/split/record`. */
type Model = ReadonlyMap<string, number>;

interface Hand extends Given {
  records: number;
}

interface Task {
  readonly name: string;
  readonly generation: number;
  call?: FeedCall;
  /** For splits, while it uses those that it has. */
  asking?: FeedCall;
  splits: Hand[];
  /** What it has used in this generation. */
  used: Map<string, number>;
  /** What it had used when it came to the mark. */
  atMark?: Model;
  sleepsUntilMs: number;
  isOver: boolean;
}

export interface Checkpoint {
  readonly model: Model;
  readonly origin: Origin;
}

/** Which tasks go on when one ends: none, for their model is one, or all others. */
export type Kind = "together" | "alone";

export interface Troubles {
  readonly masterDies: number;
  readonly taskDies: number;
  readonly taskSleeps: number;
  readonly callLost: number;
  /** What a task says arrives only after a while, in which it may lose what it has. */
  readonly taskCutOff: number;
  /** A call arrives once more, after others. */
  readonly callRepeated: number;
  readonly journalFails: number;
  /** A task waits for splits: one that has nothing comes to no mark meanwhile. */
  readonly taskIdles: number;
  /** On so many machines tasks run; 0: it is not known on which. */
  readonly machines: number;
  /** Where splits are is not heard. */
  readonly locatingFails: number;
  /** A task says that it has used a split that nobody was given. */
  readonly taskLies: number;
  /** A split whose first record ends its reader. */
  readonly deadly?: number;
}

/**
 * Tasks that train with a feed, and an ApplicationMaster that dies, in virtual time. What the model was trained with is kept by those who train
 * it, and never looked up in the feed.
 */
export class FeedWorld {
  readonly #random: Random;
  #feed: Feed;
  readonly #kind: Kind;
  readonly #troubles: Troubles;
  /** How many splits are still to come with each batch. */
  readonly #toCome: number[];
  nowMs = 0;
  state: FeedState;
  #hear: ReturnType<typeof createFeed>;
  #journal: string | undefined;
  #due: { readonly atMs: number; readonly does: () => void }[] = [];
  #master = 0;
  #lastId = 0;
  #gang = 0;
  #tasks: Task[] = [];
  #marks = 0;
  #wantsMark = false;
  checkpoint: Checkpoint = { model: new Map(), origin: "start" };
  /** In the order in which they were given out. */
  readonly given: { readonly epoch: number; readonly position: number; readonly number: number }[] = [];
  readonly leftOut = new Set<number>();
  /** Checkpoints whose cursor says another thing than was used. */
  readonly problems: string[] = [];
  restarts = 0;
  masters = 1;

  constructor(
    random: Random,
    feed: Feed,
    tasks: number,
    kind: Kind,
    troubles: Troubles,
    toCome: readonly number[] = [],
  ) {
    this.#toCome = [...toCome];
    this.#random = random;
    this.#feed = feed;
    this.#kind = kind;
    this.#troubles = troubles;
    this.state = recoveredFeed(feed, 0);
    this.#hear = createFeed(this.state);
    this.#startAll(tasks);
  }

  /** @returns whether every task came to the end of the feed */
  run(mostSteps: number): boolean {
    for (let step = 0; step < mostSteps; step += 1) {
      this.nowMs += this.#random.integer(0, 4);
      for (const { does } of this.#takeDue()) does();
      if (this.#random.chance(this.#troubles.masterDies)) this.#killMaster();
      if (this.#feed.growth?.isComplete === false && this.#random.chance(0.005)) this.#grow();
      if (this.#tasks.every(isDone) && !this.#wantsMark) return true;
      if (this.#feed.epochs === undefined && this.#epochsInModel >= EPOCHS_OF_THE_ENDLESS) return true;
      const task = this.#random.any(this.#tasks);
      if (task !== undefined && task.sleepsUntilMs <= this.nowMs) this.#act(task);
    }
    return false;
  }

  get feed(): Feed {
    return this.#feed;
  }

  /** What has come is known to each ApplicationMaster from then on. */
  #grow(): void {
    const splits = this.#feed.splits + (this.#toCome.shift() ?? 0);
    const grown = { type: "grown", splits, plan: `a${splits}`, isComplete: this.#toCome.length === 0 } as const;
    this.#feed = grownFeed(this.#feed, grown);
    this.#batches.push(splits);
    this.#send(grown);
  }

  /** The places behind each batch. */
  readonly #batches: number[] = [];

  /** In which order the splits of an epoch come, found otherwise than by the feed. */
  #orderOf(epoch: number): readonly number[] {
    const { splits, seed, growth } = this.#feed;
    if (growth === undefined) return [...orderOf(splits, seed, epoch)];
    return this.#batches.flatMap((behind, index) => {
      const from = this.#batches[index - 1] ?? 0;
      return [...orderOf(behind - from, seed, index + 1)].map((number) => from + number);
    });
  }

  /** What the model has been trained with. */
  model(): Model {
    return sum([this.#kind === "alone" ? this.#before : this.checkpoint.model, ...this.#tasks.map(({ used }) => used)]);
  }

  /** Of what is in a checkpoint. */
  #epochsInModel = 0;

  recordsOf(split: number): number {
    return 1 + ((split * 3) % 4);
  }

  /** Of tasks that ended alone: what they used stays in the model. */
  #before: Model = new Map();

  #act(task: Task): void {
    const { taskDies, taskSleeps, callLost, taskCutOff, taskLies } = this.#troubles;
    if (this.#random.chance(taskLies)) this.#lie(task);
    if (this.#random.chance(taskDies)) this.#end(task, this.#random.chance(0.5));
    else if (this.#random.chance(taskSleeps))
      task.sleepsUntilMs = this.nowMs + this.#random.integer(1, 3 * this.#feed.leaseMs);
    else if (this.#random.chance(callLost)) this.#repeat(task);
    else if (this.#random.chance(taskCutOff))
      this.#cutOff.set(task.name, this.#random.integer(1, 3 * this.#feed.leaseMs));
    else if (task.call === undefined) this.#goOn(task);
  }

  /** As after a connection that broke. */
  #repeat(task: Task): void {
    if (task.call !== undefined) this.#call(task, { ...task.call, id: this.#nextId() });
    if (task.asking !== undefined) this.#ask(task);
  }

  #goOn(task: Task): void {
    const [split] = task.splits;
    const wants = split === undefined || (task.splits.length < this.#feed.window && this.#random.chance(0.3));
    if (wants && task.asking === undefined && !task.isOver) this.#ask(task);
    // A task that has nothing waits for splits, and does nothing else.
    if (split === undefined && task.asking?.type === "ask" && !task.asking.atOnce) return;
    if (this.#wantsMark) this.#mark(task);
    else if (split === undefined) return;
    else if (split.records < this.recordsOf(split.split)) this.#use(task, split);
    else this.#call(task, { ...this.#caller(task), type: "used", lease: split });
  }

  #use(task: Task, split: Hand): void {
    const name = `${split.epoch}/${split.split}/${split.records}`;
    if (split.split === this.#troubles.deadly) {
      this.#end(task, true);
      return;
    }
    task.used.set(name, (task.used.get(name) ?? 0) + 1);
    split.records += 1;
    const { name: of, generation } = task;
    if (this.#random.chance(0.7)) this.#send({ type: "moved", task: of, generation });
    if (this.#random.chance(0.1)) this.#wantsMark = this.#kind === "together";
  }

  /** It hears no answer, for it does not ask what becomes of it. */
  #lie(task: Task): void {
    const { handedOut, feed } = this.state;
    const place = handedOut + 2 * this.#random.integer(0, 50);
    const splits = Math.max(1, feed.splits);
    const lease = { number: -1, epoch: Math.floor(place / splits), position: place % splits };
    this.#step({ ...this.#caller(task), type: "used", lease });
  }

  #ask(task: Task): void {
    const has = task.splits.map(({ number }) => number);
    const atOnce = !this.#random.chance(this.#troubles.taskIdles);
    const most = this.#random.integer(1, 3);
    task.asking = { ...this.#caller(task), type: "ask", most, atOnce, has, ...this.#placeOf(task) };
    this.#send(task.asking);
  }

  /** Another life of a task may be elsewhere. */
  #placeOf({ name, generation }: Task): { readonly host?: string } {
    const { machines } = this.#troubles;
    return machines === 0 ? {} : { host: machine((Number(name.split(":")[1]) + generation) % machines) };
  }

  #located(splits: Extract<FeedEffect, { type: "locate" }>["splits"]): void {
    const { machines, locatingFails } = this.#troubles;
    const hostsOf = (split: number) => (this.#random.chance(locatingFails) ? [] : [machine(split % machines)]);
    const found = splits.map(({ place, split }) => [place, hostsOf(split)]);
    this.#step({ type: "located", splits: Object.fromEntries(found) });
  }

  #mark(task: Task): void {
    task.atMark = new Map(task.used);
    const among = this.#tasks.map(({ name }) => name);
    const begun = task.splits.filter(({ records }) => records > 0);
    this.#call(task, { ...this.#caller(task), type: "mark", label: String(this.#marks), among, begun });
  }

  #caller({ name, generation }: Task) {
    return { id: this.#nextId(), task: name, generation };
  }

  #call(task: Task, call: FeedCall): void {
    task.call = call;
    this.#send(call);
  }

  #answered(id: number, answer: FeedAnswer): void {
    const task = this.#tasks.find(({ call, asking }) => call?.id === id || asking?.id === id);
    if (task === undefined) return;
    const { call, asking } = task;
    if (asking?.id === id) delete task.asking;
    else delete task.call;
    if (answer.type === "given") {
      task.splits.push(...answer.splits.map((split) => ({ ...split, records: split.skip })));
      this.given.push(...answer.splits);
    } else if (answer.type === "end") task.isOver = true;
    else if (answer.type === "cursor" && call?.type === "mark") this.#marked(call.label, answer.cursor);
    // Its rows are in the model, and another task may use them as well.
    else if (answer.type === "refused") this.#end(task, true);
    else if (call?.type === "used") task.splits = task.splits.filter(({ number }) => number !== call.lease.number);
  }

  /** All tasks stand at the mark: the first to hear of it writes the checkpoint, which may go wrong. */
  #marked(label: string, origin: Cursor): void {
    if (label !== String(this.#marks)) return;
    this.#marks += 1;
    this.#wantsMark = false;
    const model = sum([this.checkpoint.model, ...this.#tasks.map(({ atMark }) => atMark ?? new Map())]);
    this.#judge(origin, model);
    if (this.#random.chance(0.8)) this.#saved = { model, origin };
  }

  /** What the cursor says is used, beside what was. */
  #judge(cursor: Cursor, model: Model): void {
    const { splits } = this.#feed;
    const { epoch: first, used, partly } = cursor;
    this.#epochsInModel = first;
    const behind = Math.max(0, ...used, ...Object.keys(partly).map((place) => Number(place) + 1));
    for (let epoch = 0; epoch < first + Math.ceil(behind / splits); epoch += 1) {
      for (const [position, split] of this.#orderOf(epoch).entries()) {
        const place = (epoch - first) * splits + position;
        const records = this.recordsOf(split);
        const said = place < 0 || hasNumber(used, place) ? records : (partly[place] ?? 0);
        for (let record = 0; record < records; record += 1) {
          const times = model.get(`${epoch}/${split}/${record}`) ?? 0;
          const isLeftOut = times === 0 && place < 0 && this.leftOut.has(split);
          if (times !== (record < said ? 1 : 0) && !isLeftOut)
            this.problems.push(
              `${JSON.stringify(cursor)}, and record ${record} of split ${split} of epoch ${epoch} was used ${times} times`,
            );
        }
      }
    }
  }

  /** Since the generation began; its model is on top of the checkpoint before. */
  #saved: Checkpoint | undefined;

  #end(task: Task, failed: boolean): void {
    this.#send({ type: "life-ended", task: task.name, generation: task.generation, how: failed ? "failed" : "gone" });
    this.restarts += 1;
    if (this.#kind === "alone") {
      this.#before = sum([this.#before, task.used]);
      this.#tasks = this.#tasks.map((one) =>
        one === task ? this.#start(task.name, task.generation + 1, "start") : one,
      );
      return;
    }
    for (const { name, generation } of this.#tasks.filter((one) => one !== task)) {
      this.#send({ type: "life-ended", task: name, generation, how: "gone" });
    }
    this.checkpoint = this.#saved ?? this.checkpoint;
    this.#saved = undefined;
    this.#wantsMark = false;
    this.#startAll(this.#random.integer(1, 4));
  }

  #startAll(tasks: number): void {
    this.#gang += 1;
    this.#marks += 1;
    const { origin } = this.checkpoint;
    this.#tasks = Array.from({ length: tasks }, (_, index) => this.#start(`worker:${index}`, this.#gang, origin));
  }

  #start(name: string, generation: number, origin: Origin): Task {
    const task: Task = { name, generation, splits: [], used: new Map(), sleepsUntilMs: 0, isOver: false };
    this.#call(task, { ...this.#caller(task), type: "open", gang: this.#gang, origin });
    return task;
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** To the ApplicationMaster that there is: what is of one task in order, but for what arrives once more. */
  #send(event: FeedEvent): void {
    const master = this.#master;
    const task = "task" in event ? event.task : "";
    const cutOffMs = this.#cutOff.get(task) ?? 0;
    this.#cutOff.delete(task);
    const atMs = Math.max(this.#arrivesMs.get(task) ?? 0, this.nowMs + cutOffMs + this.#random.integer(0, 3));
    this.#arrivesMs.set(task, atMs);
    const arrive = () => {
      if (master === this.#master) this.#step(event);
    };
    this.#after(atMs - this.nowMs, arrive);
    const isOnce = ["open", "life-ended", "grown"].includes(event.type);
    if (!isOnce && this.#random.chance(this.#troubles.callRepeated))
      this.#after(atMs - this.nowMs + this.#random.integer(1, 2 * this.#feed.leaseMs), arrive);
  }

  readonly #arrivesMs = new Map<string, number>();
  /** For so long, from what it says next on. */
  readonly #cutOff = new Map<string, number>();

  #step(event: FeedEvent): void {
    const master = this.#master;
    for (const effect of this.#hear(event, this.nowMs)) {
      const later = (delayMs: number, does: () => void) =>
        this.#after(delayMs, () => {
          if (master === this.#master) does();
        });
      if (effect.type === "answer") later(this.#random.integer(0, 3), () => this.#answered(effect.id, effect.answer));
      else if (effect.type === "wake-at") later(effect.atMs - this.nowMs, () => this.#step({ type: "wake-up" }));
      else if (effect.type === "left-out") this.leftOut.add(effect.split);
      else if (effect.type === "tried-again") continue;
      else if (effect.type === "locate") later(this.#random.integer(0, 20), () => this.#located(effect.splits));
      else if (this.#random.chance(this.#troubles.journalFails))
        later(this.#random.integer(0, 8), () => {
          // It may have been written all the same.
          if (this.#random.chance(0.3)) this.#journal = effect.content;
          this.#step({ type: "journal-failed", sequence: effect.sequence });
        });
      else
        later(this.#random.integer(0, 8), () => {
          this.#journal = effect.content;
          later(this.#random.integer(0, 2), () => this.#step({ type: "journal-written", sequence: effect.sequence }));
        });
    }
  }

  /** The next one knows what is in the journal, and is asked again what was not answered. */
  #killMaster(): void {
    this.#master += 1;
    this.masters += 1;
    const journal = this.#journal;
    this.state =
      journal === undefined
        ? recoveredFeed(this.#feed, this.nowMs)
        : recoveredFeed(this.#feed, this.nowMs, feedShape(JSON.parse(journal), ""));
    this.#hear = createFeed(this.state);
    this.#step({ type: "wake-up" });
    for (const { task, generation } of Object.entries(this.state.readers).map(([task, { generation }]) => ({
      task,
      generation,
    }))) {
      const lives = this.#tasks.some((one) => one.name === task && one.generation === generation);
      if (!lives) this.#step({ type: "life-ended", task, generation, how: "gone" });
    }
    for (const task of this.#tasks) this.#repeat(task);
  }

  #after(delayMs: number, does: () => void): void {
    this.#due.push({ atMs: this.nowMs + Math.max(0, delayMs), does });
  }

  #takeDue() {
    const now = this.#due.filter(({ atMs }) => atMs <= this.nowMs).sort((left, right) => left.atMs - right.atMs);
    this.#due = this.#due.filter(({ atMs }) => atMs > this.nowMs);
    return now;
  }
}

function machine(number: number): string {
  return `node${number}`;
}

function isDone({ isOver, splits, call }: Task): boolean {
  return isOver && splits.length === 0 && call === undefined;
}

function sum(models: readonly Model[]): Model {
  const all = new Map<string, number>();
  for (const model of models) for (const [name, times] of model) all.set(name, (all.get(name) ?? 0) + times);
  return all;
}
