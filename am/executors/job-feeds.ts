import { createHash } from "node:crypto";
import path from "node:path/posix";
import type { FeedAsked } from "../../src/api/executor-endpoint.ts";
import type { FeedAnswered, FeedCall } from "../../src/api/messages.ts";
import { TonyError } from "../../src/errors.ts";
import type { WallClock } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { FileSystems, LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { listIfThere } from "../../src/hadoop/hdfs/if-there.ts";
import { type Cursor, cursorShape } from "../../src/job/feeds/cursor.ts";
import { type FeedSpec, noFeedWords } from "../../src/job/feeds/feed-spec.ts";
import type { GivenSplit } from "../../src/job/feeds/lease.ts";
import { Listing } from "../../src/job/feeds/listing.ts";
import {
  type Plan,
  partName,
  planOf,
  planWith,
  splitAt,
  UNFINISHED_RESULTS,
  watermarkOf,
} from "../../src/job/feeds/plan.ts";
import { countWords } from "../../src/job/reasons/words.ts";
import type { FeedStatus, JobStatus } from "../../src/job/status.ts";
import type { Log } from "../../src/log.ts";
import { createFeed } from "../core/feeds/feed.ts";
import { progressOfFeed } from "../core/feeds/feed-status.ts";
import { recoveredFeed } from "../core/feeds/journaling.ts";
import { grownFeed } from "../core/feeds/order.ts";
import type { DurableFeed, Feed, FeedAnswer, FeedState, Given } from "../core/feeds/records.ts";
import type { FeedEffect, FeedEvent, LifeEnd } from "../core/feeds/step.ts";
import { OwnCore } from "../storage/own-core.ts";
import type { SealedJournal } from "../storage/sealed-journal.ts";
import { type Found, foundBefore, GrowingInput } from "./growing-input.ts";

type InputJournal = Pick<SealedJournal<Found>, "read" | "write">;

type FeedJournal = Pick<SealedJournal<DurableFeed>, "read" | "write">;

/** A task as it is now. */
export interface ReadingLife {
  readonly generation: number;
  /** Generation of its gang. */
  readonly gang: number;
  /** The machine it runs on. */
  readonly host?: string;
}

export interface JobFeedsOptions {
  readonly feeds: readonly FeedSpec[];
  /** How many tasks the job has. */
  readonly tasks: number;
  /** The files of each feed at the submission. */
  readonly inputs: Readonly<Record<string, Listing>>;
  readonly fileSystems: Pick<FileSystems, "locate">;
  readonly clock: WallClock;
  readonly log: Pick<Log, "warn">;
  readonly journalOf: (feed: string) => FeedJournal;
  /** The journal of files that came later. */
  readonly inputJournalOf: (feed: string) => InputJournal;
  /** Undefined: it has no life. */
  readonly lifeOf: (task: string) => ReadingLife | undefined;
  /** How that life of the task ended. */
  readonly endOf: (task: string, generation: number) => LifeEnd;
  /** Whether it is known which tasks live: a later attempt learns it from the journal. */
  readonly knowsLives: () => boolean;
}

/** Carries out what a job's feeds decide. For a feed that nobody opens nothing is read, kept or written. */
export class JobFeeds {
  readonly #options: JobFeedsOptions;
  readonly #open = new Map<string, Promise<JobFeed>>();
  /** Feeds that are open. */
  readonly #there = new Map<string, JobFeed>();
  readonly #plans = new Map<string, Plan>();

  constructor(options: JobFeedsOptions) {
    this.#options = options;
  }

  /** Reads what an earlier attempt left of all feeds: people also want to see the progress of feeds that no task asks for any more. */
  recover(): void {
    for (const spec of this.#options.feeds) void this.#opened(spec).catch(() => undefined);
  }

  /** The feeds as people see them; undefined: the job has none. */
  status(): Pick<JobStatus, "feeds"> {
    const { feeds } = this.#options;
    if (feeds.length === 0) return {};
    return { feeds: feeds.map((spec) => this.#there.get(spec.name)?.status() ?? this.#unread(spec)) };
  }

  /** Rejects where what earlier attempts left cannot be read. */
  async ask(asked: FeedAsked): Promise<FeedAnswered> {
    const { feed: name, task, generation } = asked;
    const spec = this.#options.feeds.find((one) => one.name === name);
    if (spec === undefined) return refusal("invalid", noFeedWords(name, this.#options.feeds));
    if (!this.#options.knowsLives())
      throw new TonyError("which tasks live is not known yet", { code: "LIVES_UNKNOWN", retryable: true });
    const feed = await this.#opened(spec);
    const life = this.#options.lifeOf(task);
    if (life === undefined || life.generation !== generation)
      return refusal("stale", `${task} has begun another life, or has ended`);
    return await feed.ask(asked, life);
  }

  /** Lives of tasks may have ended: their splits become free. */
  look(): void {
    for (const opening of this.#open.values()) void opening.then((feed) => feed.look()).catch(() => undefined);
  }

  /** The job ends: a results folder that is incomplete records what is missing. */
  async end(): Promise<void> {
    await Promise.all([...this.#there.values()].map((feed) => feed.end()));
  }

  /** A feed that cannot be read is tried again by the next call. */
  #opened(spec: FeedSpec): Promise<JobFeed> {
    const { name } = spec;
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    const opening = JobFeed.open(spec, this.#planOf(spec), this.#options);
    this.#open.set(name, opening);
    opening.then(
      (feed) => this.#there.set(name, feed),
      () => this.#open.delete(name),
    );
    return opening;
  }

  #planOf({ name, cut, relistMs }: FeedSpec): Plan {
    const listed = relistMs === undefined ? this.#options.inputs[name] : undefined;
    const plan = this.#plans.get(name) ?? planOf(listed ?? Listing.of([]), cut);
    this.#plans.set(name, plan);
    return plan;
  }

  #unread(spec: FeedSpec): FeedStatus {
    const { name, epochs, output } = spec;
    const { splits } = this.#planOf(spec);
    const nothing = { epoch: 0, used: 0, leftOut: 0, failures: [], triedAgain: 0, readers: [] };
    return {
      name,
      ...(epochs !== undefined && { epochs }),
      splits,
      ...nothing,
      ...(output !== undefined && { output }),
    };
  }
}

class JobFeed {
  readonly #options: JobFeedsOptions;
  #plan: Plan;
  readonly #state: FeedState;
  readonly #hear: ReturnType<typeof createFeed>;
  readonly #own: OwnCore<FeedEvent, FeedAnswer>;
  readonly #output: string | undefined;
  #finished: Promise<void> | undefined;
  #saidNotLocated = false;

  private constructor(
    { feed, plan, output }: Growable & { readonly output: string | undefined },
    options: JobFeedsOptions,
    journal: FeedJournal,
    left?: DurableFeed,
  ) {
    this.#output = output;
    this.#options = options;
    this.#plan = plan;
    const { clock, log } = options;
    const warn = (why: string) => log.warn("feed-not-journaled", `Feed ${feed.name} is not journaled yet: ${why}`);
    this.#own = new OwnCore({ clock, journal, warn, post: (event) => this.#post(event) });
    this.#state = recoveredFeed(feed, clock.nowMs(), left);
    this.#hear = createFeed(this.#state);
    this.#post({ type: "wake-up" });
  }

  static async open(spec: FeedSpec, plan: Plan, options: JobFeedsOptions): Promise<JobFeed> {
    const { name, cut: _cut, input: _input, relistMs, until: _until, ...limits } = spec;
    const feed: Feed = { name, ...limits, splits: plan.splits, plan: nameOf(plan, limits.seed) };
    const journal = options.journalOf(name);
    const left = (await journal.read()).at(-1)?.file;
    const input = relistMs === undefined ? undefined : options.inputJournalOf(name);
    const found = input === undefined ? [] : foundBefore(await input.read());
    const first = { feed: input === undefined ? feed : growing(feed), plan };
    const now = found.reduce((before, one) => grownBy(before, one), first);
    const opened = new JobFeed({ ...now, output: spec.output }, options, journal, left);
    opened.look();
    if (input !== undefined && relistMs !== undefined && now.feed.growth?.isComplete === false)
      opened.#watch({ ...spec, relistMs }, input);
    return opened;
  }

  /** Splits of new files come after the existing ones. */
  #watch(spec: FeedSpec & { readonly relistMs: number }, journal: InputJournal): void {
    const { clock, log, fileSystems, inputs } = this.#options;
    const found = (one: Found) => {
      const { feed, plan } = grownBy({ feed: this.#state.feed, plan: this.#plan }, one);
      this.#plan = plan;
      const isComplete = feed.growth?.isComplete ?? true;
      this.#post({ type: "grown", splits: feed.splits, plan: feed.plan, isComplete });
    };
    const seen = inputs[spec.name] ?? [];
    const known = () => this.#plan.files;
    const input = new GrowingInput({ spec, fileSystems, clock, log, journal, known, seen, found });
    void input.watch();
  }

  async ask({ task, generation, call, gone }: FeedAsked, life: ReadingLife): Promise<FeedAnswered> {
    // Every named task is checked in each step, as long as one of them is waited for.
    if ("among" in call && call.among.length > this.#options.tasks)
      return refusal("invalid", `it names ${call.among.length} tasks, and the job has ${this.#options.tasks}`);
    if (call.type === "moved") {
      this.#post({ ...call, task, generation });
      return { type: "noted" };
    }
    const eventOf = eventMaker(call, { task, generation }, life);
    if (eventOf === undefined) return refusal("invalid", "the state to continue from is not a cursor of a feed");
    let leaves = () => {};
    const answer = await this.#own.ask((id) => {
      leaves = () => this.#post({ type: "gone", id });
      gone.addEventListener("abort", leaves, { once: true });
      return eventOf(id);
    });
    gone.removeEventListener("abort", leaves);
    if (answer.type === "end") await this.#finish();
    return this.#told(answer);
  }

  status(): FeedStatus {
    const { failures, unfinished, ...progress } = progressOfFeed(this.#state, this.#options.clock.nowMs());
    const placed = failures.flatMap(({ split, reason }) => {
      const place = splitAt(this.#plan, split);
      if (place === undefined) return [];
      const { file, start, end } = place;
      return [{ split, path: file.path, start, end, reason }];
    });
    const watermarkMs = unfinished === undefined ? undefined : watermarkOf(this.#plan, unfinished);
    return {
      ...progress,
      ...(watermarkMs !== undefined && { watermarkMs }),
      failures: placed,
      ...(this.#output !== undefined && { output: this.#output }),
    };
  }

  look(): void {
    const { lifeOf, endOf, knowsLives } = this.#options;
    if (!knowsLives()) return;
    for (const [task, { generation }] of Object.entries(this.#state.readers)) {
      if (lifeOf(task)?.generation === generation) continue;
      this.#post({ type: "life-ended", task, generation, how: endOf(task, generation) });
    }
  }

  /** A feed of which nothing was used has no results folder. */
  async end(): Promise<void> {
    const { epoch, used } = this.#state;
    if (epoch > 0 || used.length > 0) await this.#finish();
  }

  /** Runs before anybody is told that all is over, because a job may end then. */
  async #finish(): Promise<void> {
    if (this.#output === undefined) return;
    this.#finished ??= this.#finishResults(this.#output);
    try {
      await this.#finished;
    } catch (error) {
      this.#finished = undefined;
      throw error;
    }
  }

  async #finishResults(output: string): Promise<void> {
    const { fileSystems, log } = this.#options;
    const missing = await finishResults(fileSystems.locate(output), this.#plan);
    if (missing === 0) return;
    const which = `${countWords(missing, "split")} of feed ${this.#state.feed.name}`;
    log.warn("feed-results-incomplete", `${output} has no results of ${which}: _manifest.json there says of which`);
  }

  #told(answer: FeedAnswer): FeedAnswered {
    switch (answer.type) {
      case "given":
        return { type: "given", splits: answer.splits.flatMap((given) => this.#withBytes(given)) };
      case "end":
        return { type: "ended" };
      case "cursor":
        return { type: "cursor", cursor: JSON.stringify(answer.cursor) };
      default:
        return answer;
    }
  }

  #withBytes({ split: number, skip, ...lease }: Given): readonly GivenSplit[] {
    const split = splitAt(this.#plan, number);
    if (split === undefined) return [];
    const { path, length, modifiedMs } = split.file;
    return [{ lease, split: number, skip, path, start: split.start, end: split.end, length, modifiedMs }];
  }

  #post(event: FeedEvent): void {
    for (const effect of this.#hear(event, this.#options.clock.nowMs())) this.#carryOut(effect);
  }

  #carryOut(effect: FeedEffect): void {
    switch (effect.type) {
      case "answer":
        this.#own.answer(effect);
        break;
      case "journal":
        void this.#own.write({ ...effect, isWhole: true });
        break;
      case "locate":
        void this.#locate(effect.splits);
        break;
      case "wake-at":
        this.#own.wakeAt(effect.atMs);
        break;
      case "tried-again":
        this.#options.log.warn("split-tried-again", this.#failed(effect, "goes to the next task that asks"));
        break;
      case "left-out": {
        const times = `failed ${this.#state.feed.maxAttempts} times and is left out`;
        this.#options.log.warn("split-left-out", this.#failed(effect, times));
        break;
      }
    }
  }

  /** One after the other: the NameNode has other work. */
  async #locate(splits: Extract<FeedEffect, { type: "locate" }>["splits"]): Promise<void> {
    const found: [number, readonly string[]][] = [];
    for (const { place, split } of splits) found.push([place, await this.#hostsOf(split)]);
    this.#post({ type: "located", splits: Object.fromEntries(found) });
  }

  /** The hosts of the block in which the split begins: a reader gets all of the split from there. */
  async #hostsOf(number: number): Promise<readonly string[]> {
    const split = splitAt(this.#plan, number);
    if (split === undefined) return [];
    try {
      const { fileSystem, path } = this.#options.fileSystems.locate(split.file.path);
      return (await fileSystem.blockAt(path, split.start)).hosts;
    } catch (error) {
      if (!this.#saidNotLocated) {
        const what = `Of splits of feed ${this.#state.feed.name} it is not known which machines have them`;
        this.#options.log.warn("feed-not-located", `${what}, and each goes to any task: ${errorMessage(error)}`);
      }
      this.#saidNotLocated = true;
      return [];
    }
  }

  #failed({ split: number, why }: Extract<FeedEffect, { type: "left-out" | "tried-again" }>, becomes: string): string {
    const split = splitAt(this.#plan, number);
    const where = split === undefined ? "" : ` (${split.file.path}, bytes ${split.start} to ${split.end})`;
    return `Split ${number} of feed ${this.#state.feed.name}${where} ${becomes}: ${why}`;
  }
}

/** A feed as its decisions see it, and its files. */
interface Growable {
  readonly feed: Feed;
  readonly plan: Plan;
}

/** A cursor taken before there was any file belongs to the first, empty batch. */
function growing(feed: Feed): Feed {
  return { ...feed, growth: { batches: [{ behind: 0, plan: feed.plan }], isComplete: false } };
}

function grownBy({ feed, plan: before }: Growable, { files, isComplete }: Found): Growable {
  const plan = planWith(before, files);
  const name = digestOf(feed.plan, files);
  return { feed: grownFeed(feed, { splits: plan.splits, plan: name, isComplete }), plan };
}

/** A cursor belongs to one plan and one order of it, and says nothing about others. */
function nameOf({ cut, files }: Plan, seed: number | undefined): string {
  return digestOf(cut, files, seed ?? null);
}

/** Hash of a JSON list of these, which is built file by file. */
function digestOf(before: unknown, files: Listing, ...behind: readonly unknown[]): string {
  const hash = createHash("sha256").update(`[${JSON.stringify(before)},[`);
  let separator = "";
  for (const file of files) {
    hash.update(`${separator}${JSON.stringify(file)}`);
    separator = ",";
  }
  const rest = behind.map((one) => `,${JSON.stringify(one)}`).join("");
  return hash.update(`]${rest}]`).digest("hex").slice(0, 32);
}

/** Makes the core's event for a call once that has a number. Undefined where its cursor cannot be read. */
function eventMaker(
  call: Exclude<FeedCall, { type: "moved" }>,
  caller: { readonly task: string; readonly generation: number },
  { gang, host }: ReadingLife,
): ((id: number) => FeedEvent) | undefined {
  if (call.type === "mark") {
    const begun = call.begun.map(({ lease, records }) => ({ ...lease, records }));
    return (id) => ({ ...caller, ...call, id, begun });
  }
  if (call.type === "ask") return (id) => ({ ...caller, ...call, id, ...(host !== undefined && { host }) });
  if (call.type !== "open") return (id) => ({ ...caller, ...call, id });
  const origin = call.cursor === undefined ? "start" : readCursor(call.cursor);
  return origin && ((id) => ({ ...caller, type: "open", id, gang, origin }));
}

function readCursor(json: string): Cursor | undefined {
  try {
    return cursorShape(JSON.parse(json), "");
  } catch {
    return undefined;
  }
}

function refusal(code: string, message: string): FeedAnswered {
  return { type: "refused", code, message };
}

const permission = 0o640;

/**
 * Records beside the results which split each belongs to, and that all are there. May be repeated.
 * @returns how many splits have none
 */
export async function finishResults({ fileSystem, path: output }: LocatedPath, plan: Plan): Promise<number> {
  const found = await listIfThere(fileSystem, output);
  const lengths = new Map(found.map((file) => [path.basename(file.path), file.lengthBytes]));
  const splits = Array.from({ length: plan.splits }, (_, number) => {
    const { file, start, end } = splitAt(plan, number) ?? {};
    const part = partName(number);
    const bytes = lengths.get(part);
    return { input: file?.path, start, end, ...(bytes !== undefined && { part, bytes }) };
  });
  const missing = splits.filter(({ part }) => part === undefined).length;
  const write = (name: string, content: string) =>
    fileSystem.create(path.join(output, name), Buffer.from(content), { permission, overwrite: true });
  await write("_manifest.json", JSON.stringify({ splits }));
  // Hadoop's jobs mark complete output in this way.
  if (missing === 0) await write("_SUCCESS", "");
  await fileSystem.delete(path.join(output, UNFINISHED_RESULTS), { recursive: true });
  return missing;
}
