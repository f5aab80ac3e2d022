import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FeedAnswered, FeedCall } from "../../src/api/messages.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileSystems, LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { type FeedSpec, noFeedWords } from "../../src/job/feeds/feed-spec.ts";
import type { GivenSplit } from "../../src/job/feeds/lease.ts";
import type { Split } from "../../src/job/feeds/plan.ts";
import { arrayOf, count, object, type Shape } from "../../src/job/shape.ts";
import type { Log } from "../../src/log.ts";
import { ReadAhead } from "../feeds/read-ahead.ts";
import { mayPass, type Pause, persistently, readSplit } from "../feeds/read-split.ts";
import { SplitResults } from "../feeds/results.ts";
import { CallError } from "./call.ts";
import type { KvCall } from "./kv.ts";

/** The job's feeds, on behalf of the task. */
export interface TaskFeeds {
  readonly feeds: () => readonly FeedSpec[];
  /** Rejects with a CallError where it is refused. */
  readonly ask: (feed: string, call: FeedCall, gone: AbortSignal) => Promise<FeedAnswered>;
  readonly openFileSystems: () => Promise<Pick<FileSystems, "locate" | "close">>;
  readonly nowMs: () => number;
  readonly log: Pick<Log, "warn">;
  /** The pause between tries to reach what is away. */
  readonly pause?: (ms: number) => Promise<unknown>;
  /** A new folder for the results of splits until the program has used them. */
  readonly resultsFolder: string;
}

/** The calling task. */
interface Caller {
  readonly role: string;
  /** Tasks of those roles that have started together. */
  readonly members: (roles: readonly string[]) => readonly string[];
}

/** The one process of the program that reads a feed. */
interface Reader {
  readonly pid: number;
  /** Splits that it was given and has not reported as used, by lease number. */
  readonly splits: Map<number, GivenSplit>;
  readonly ahead: ReadAhead<GivenSplit>;
  /** Why the rest of a split was not sent. */
  readonly problems: Map<number, CallError>;
  readonly results: SplitResults;
  toldMovesAtMs: number;
}

/** A body that is sent unchanged. */
export class Bytes {
  readonly chunks: AsyncIterable<Buffer>;

  constructor(chunks: AsyncIterable<Buffer>) {
    this.chunks = chunks;
  }
}

/** The feeds' part of a task's API: docs/guide/feeds.md. */
export class Feeds {
  readonly #options: TaskFeeds;
  readonly #readers = new Map<string, Reader>();
  #fileSystems: ReturnType<TaskFeeds["openFileSystems"]> | undefined;

  constructor(options: TaskFeeds) {
    this.#options = options;
  }

  /** `NAME/open`, `NAME/take`, `NAME/write`, `NAME/used`, `NAME/failed`, `NAME/state`, `NAME/steps`. */
  async post({ key, query, body, ...call }: KvCall, { role, members }: Caller): Promise<unknown> {
    const gone = call.gone();
    const [name = "", verb] = key.split("/");
    const feed = this.#feed(name);
    const { roles = [role] } = feed;
    if (!roles.includes(role)) {
      const message = `${role} does not read ${name}: tony.feed.${name}.roles names ${roles.join(", ")}`;
      throw new CallError(409, "FEED_OF_OTHER_ROLES", message);
    }
    if (verb === "open") return await this.#open(feed, pidIn(query), body.toString("utf8"), gone);
    const reader = this.#reader(name, query);
    switch (verb) {
      case "take":
        return await this.#take(name, reader, query, gone);
      case "write":
        return await this.#write(feed, reader, query, body);
      case "used":
        // In parallel: the ApplicationMaster journals reports that arrive together in one write.
        await Promise.all(
          usedIn(reader, query, body.toString("utf8")).map((used) => this.#use(feed, reader, used, gone)),
        );
        return {};
      case "failed":
        await this.#end(feed, reader, splitIn(reader, query), { type: "failed", error: body.toString("utf8") }, gone);
        return {};
      case "steps":
        return await this.#steps(name, query, members(roles), gone);
      case "state":
        return await this.#state(name, reader, query, { body: body.toString("utf8"), among: members(roles) }, gone);
      default:
        throw noVerb(key);
    }
  }

  /** `NAME/read` */
  read({ key, query }: KvCall): Bytes {
    const [name = "", verb] = key.split("/");
    if (verb !== "read") throw noVerb(key);
    const reader = this.#reader(name, query);
    const split = splitIn(reader, query);
    const problem = reader.problems.get(split.lease.number);
    if (problem !== undefined) throw problem;
    return new Bytes(this.#bytes(this.#feed(name), reader, split, rangeIn(query, split)));
  }

  async close(): Promise<void> {
    (await this.#fileSystems?.catch(() => undefined))?.close();
    await rm(this.#options.resultsFolder, { recursive: true, force: true }).catch(() => undefined);
  }

  #feed(name: string): FeedSpec {
    const feeds = this.#options.feeds();
    const feed = feeds.find((one) => one.name === name);
    if (feed !== undefined) return feed;
    throw new CallError(404, "NO_SUCH_FEED", noFeedWords(name, feeds));
  }

  #reader(name: string, query: URLSearchParams): Reader {
    const reader = this.#readers.get(name);
    if (reader?.pid === pidIn(query)) return reader;
    throw new CallError(409, "FEED_STALE", `process ${pidIn(query)} has not opened ${name}, or another one has since`);
  }

  /** The splits of a process that is gone are given to the next one again. */
  async #open(spec: FeedSpec, pid: number, body: string, gone: AbortSignal): Promise<unknown> {
    const { name, cut, output, uneven, window } = spec;
    const before = this.#readers.get(name);
    if (before !== undefined && before.pid !== pid && isAlive(before.pid)) {
      const message = `process ${before.pid} of this task reads ${name}: one process of a task does, and hands rows to the others`;
      throw new CallError(409, "FEED_READ_ELSEWHERE", message);
    }
    const cursor = cursorIn(body);
    if (cursor !== undefined && output !== undefined) {
      const message = `${name} has results, which begin with its first row: it goes on from no cursor`;
      throw new CallError(409, "FEED_HAS_RESULTS", message);
    }
    const answer = await this.#options.ask(name, { type: "open", ...(cursor && { cursor }) }, gone);
    if (answer.type !== "opened") throw unexpected(answer);
    const results = new SplitResults(path.join(this.#options.resultsFolder, name));
    await results.dropAll();
    const toldMovesAtMs = this.#options.nowMs();
    const ahead = new ReadAhead<GivenSplit>((split, pause) => this.#read(spec, split, undefined, pause));
    this.#readers.set(name, { pid, splits: new Map(), ahead, problems: new Map(), results, toldMovesAtMs });
    const { epoch } = answer;
    return {
      epoch,
      format: cut.format,
      window,
      ...(uneven && { uneven }),
      ...(cut.format === "fixed" && { recordBytes: cut.recordBytes }),
      ...(output !== undefined && { output }),
    };
  }

  async #take(name: string, { splits }: Reader, query: URLSearchParams, gone: AbortSignal): Promise<unknown> {
    const { window } = this.#feed(name);
    const most = Math.max(1, window - splits.size);
    const atOnce = query.get("wait") === "false";
    const answer = await this.#options.ask(name, { type: "ask", most, atOnce, has: [...splits.keys()] }, gone);
    if (answer.type === "ended") return { end: true };
    if (answer.type !== "given") throw unexpected(answer);
    for (const split of answer.splits) splits.set(split.lease.number, split);
    const shown = ({ lease, skip, path: url, ...place }: GivenSplit) => {
      const { start, end, length } = place;
      return { ...lease, skip, path: url, start, end, length };
    };
    return { splits: answer.splits.map(shown) };
  }

  async #write({ name, output }: FeedSpec, reader: Reader, query: URLSearchParams, rows: Buffer): Promise<unknown> {
    const { lease } = splitIn(reader, query);
    if (output === undefined) {
      const message = `${name} has no place for results: set tony.feed.${name}.output`;
      throw new CallError(409, "FEED_NO_RESULTS", message);
    }
    await reader.results.add(lease.number, rows);
    return {};
  }

  /** The results are stored first: whoever finds the split used also finds its results. */
  async #use(feed: FeedSpec, reader: Reader, { split, records }: Used, gone: AbortSignal): Promise<void> {
    const { output } = feed;
    if (output !== undefined) {
      try {
        const store = async () =>
          await reader.results.store(split.lease.number, split.split, await this.#locate(output));
        await persistently(store, this.#pauseOf(feed));
      } catch (error) {
        throw new CallError(503, "FEED_RESULTS_NOT_STORED", `results cannot be stored: ${errorMessage(error)}`);
      }
    }
    await this.#end(feed, reader, split, { type: "used", records }, gone);
  }

  async #locate(url: string): Promise<LocatedPath> {
    this.#fileSystems ??= this.#options.openFileSystems();
    return (await this.#fileSystems).locate(url);
  }

  async #end(
    { name, output }: FeedSpec,
    reader: Reader,
    split: GivenSplit,
    how: { readonly type: "used"; readonly records: number } | { readonly type: "failed"; readonly error: string },
    gone: AbortSignal,
  ): Promise<void> {
    const { lease } = split;
    await this.#options.ask(name, { ...how, lease }, gone);
    reader.splits.delete(lease.number);
    reader.ahead.drop(split);
    reader.problems.delete(lease.number);
    if (output !== undefined) await reader.results.drop(lease.number);
  }

  async #state(
    name: string,
    reader: Reader,
    query: URLSearchParams,
    { body, among }: { readonly body: string; readonly among: readonly string[] },
    gone: AbortSignal,
  ): Promise<unknown> {
    const label = query.get("mark") ?? "";
    if (label === "") throw new CallError(400, "BAD_CALL", "mark is the name of the place, the same in all tasks");
    const begun = begunIn(reader, body);
    const answer = await this.#options.ask(name, { type: "mark", label, among, begun }, gone);
    if (answer.type !== "cursor") throw unexpected(answer);
    return { cursor: JSON.parse(answer.cursor) };
  }

  async #steps(name: string, query: URLSearchParams, among: readonly string[], gone: AbortSignal): Promise<unknown> {
    const [epoch, ready, known] = [numberIn(query, "epoch"), numberIn(query, "ready"), numberIn(query, "known")];
    const dry = query.get("dry") === "true";
    const answer = await this.#options.ask(name, { type: "steps", among, epoch, ready, known, dry }, gone);
    if (answer.type !== "agreed") throw unexpected(answer);
    return { steps: answer.steps, last: answer.last };
  }

  /** @param range these bytes of its file, unchanged, instead of the split's */
  async *#bytes(
    feed: FeedSpec,
    reader: Reader,
    split: GivenSplit,
    range: Pick<Split, "start" | "end"> | undefined,
  ): AsyncGenerator<Buffer, void> {
    try {
      if (range === undefined) reader.ahead.begin(reader.splits.values());
      for await (const chunk of range === undefined ? reader.ahead.take(split) : this.#read(feed, split, range)) {
        this.#tellMoves(feed);
        yield chunk;
      }
    } catch (error) {
      const problem = new CallError(...problemOf(error), errorMessage(error));
      reader.problems.set(split.lease.number, problem);
      throw problem;
    }
  }

  async *#read(
    feed: FeedSpec,
    split: GivenSplit,
    range: Pick<Split, "start" | "end"> | undefined,
    pause = this.#pauseOf(feed),
  ): AsyncGenerator<Buffer, void> {
    const { path: url, length, modifiedMs } = split;
    const { start, end } = range ?? split;
    const part = { file: { path: url, length, modifiedMs }, start, end };
    yield* readSplit(await this.#locate(url), part, range === undefined ? feed.cut : { format: "file" }, pause);
  }

  /** The task is not to blame for files that are away, and keeps its splits meanwhile. */
  #pauseOf(feed: FeedSpec): Pause {
    const { log, pause = sleep } = this.#options;
    return async (ms, why) => {
      log.warn("feed-waits", `Feed ${feed.name} goes on in ${ms / 1_000} s at the earliest: ${errorMessage(why)}.`);
      this.#tellMoves(feed);
      await pause(ms);
    };
  }

  /** Often enough for a task that makes progress to keep its splits. */
  #tellMoves({ name, leaseMs }: FeedSpec): void {
    const { ask, nowMs } = this.#options;
    const reader = this.#readers.get(name);
    if (reader === undefined || nowMs() < reader.toldMovesAtMs + leaseMs / 4) return;
    reader.toldMovesAtMs = nowMs();
    ask(name, { type: "moved" }, new AbortController().signal).catch(() => undefined);
  }
}

/** Who is to blame: something that is away, the job's user, or the split, which is left out only when it fails too often. */
function problemOf(error: unknown): [status: number, code: string] {
  if (mayPass(error)) return [503, "FEED_AWAY"];
  return hasCode(error, "ACCESS_DENIED") ? [403, "FEED_DENIED"] : [422, "FEED_UNREADABLE"];
}

function pidIn(query: URLSearchParams): number {
  const pid = Number(query.get("pid"));
  if (Number.isSafeInteger(pid) && pid > 0) return pid;
  throw new CallError(400, "BAD_CALL", "pid is the number of the process that reads");
}

function numberIn(query: URLSearchParams, name: string): number {
  const value = query.get(name) ?? "";
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new CallError(400, "BAD_CALL", `${name} is a whole number`);
}

/** The records used of a split, by its number. */
interface Counted {
  readonly number: number;
  readonly records: number;
}

const counted = object<Counted>({ required: { number: count, records: count }, optional: {} });

/** A split that is used up, and how many of its records the program counts; 0: it does not count. */
interface Used {
  readonly split: GivenSplit;
  readonly records: number;
}

const someUsed = object<{ readonly used: readonly Counted[] }>({ required: { used: arrayOf(counted) }, optional: {} });

/** The split that the query names, or those in the body. */
function usedIn(reader: Reader, query: URLSearchParams, body: string): readonly Used[] {
  if (body === "")
    return [{ split: splitIn(reader, query), records: query.has("records") ? numberIn(query, "records") : 0 }];
  const used = new Map(shapedIn(body, someUsed).used.map(({ number, records }) => [splitOf(reader, number), records]));
  return [...used].map(([split, records]) => ({ split, records }));
}

function splitIn(reader: Reader, query: URLSearchParams): GivenSplit {
  return splitOf(reader, numberIn(query, "number"));
}

function splitOf({ splits }: Reader, number: number): GivenSplit {
  const split = splits.get(number);
  if (split !== undefined) return split;
  throw new CallError(404, "NO_SUCH_SPLIT", `split ${number} is not in hand: it was not taken, or is said to be used`);
}

/** Undefined: the whole split is asked for. */
function rangeIn(query: URLSearchParams, { length }: GivenSplit): Pick<Split, "start" | "end"> | undefined {
  if (!query.has("from")) return undefined;
  const [start, end] = [numberIn(query, "from"), query.has("to") ? numberIn(query, "to") : length];
  if (start <= end && end <= length) return { start, end };
  throw new CallError(400, "BAD_CALL", `from and to are bytes of the file, which has ${length}`);
}

/** As JSON; undefined: none. */
function cursorIn(body: string): string | undefined {
  if (body === "") return undefined;
  const { cursor } = shapedIn(body, someCursor);
  return cursor === undefined ? undefined : JSON.stringify(cursor);
}

const someCursor = object<{ readonly cursor?: unknown }>({ required: {}, optional: { cursor: (value) => value } });

const someBegun = object<{ readonly begun: readonly Counted[] }>({
  required: { begun: arrayOf(counted) },
  optional: {},
});

function begunIn(reader: Reader, body: string): Extract<FeedCall, { type: "mark" }>["begun"] {
  return shapedIn(body, someBegun).begun.map(({ number, records }) => {
    const { lease } = splitOf(reader, number);
    return { lease, records };
  });
}

function shapedIn<T>(body: string, shape: Shape<T>): T {
  try {
    return shape(JSON.parse(body), "the body");
  } catch (error) {
    throw new CallError(400, "BAD_CALL", `the body is no JSON as docs/guide/feeds.md shows: ${errorMessage(error)}`);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function noVerb(key: string): CallError {
  return new CallError(
    404,
    "NOT_FOUND",
    `there is no /v1/feed/${key}: call NAME/open, take, read, write, used, failed, state or steps`,
  );
}

function unexpected({ type }: FeedAnswered): CallError {
  return new CallError(500, "FAILED", `the ApplicationMaster answers with ${type}`);
}
