import { errorMessage } from "../../src/hadoop/errors.ts";
import {
  type Committed,
  type Condition,
  onlyKey,
  type Range,
  type Result,
  type StoreAnswer,
  type Transaction,
  transactions,
} from "../../src/job/store/transaction.ts";
import { rangeIn, readTransaction, shownEntry, shownResult } from "../../src/job/store/transaction-json.ts";
import type { Watched, WatchWanted } from "../../src/job/store/watched.ts";
import { CallError, timeoutIn } from "./call.ts";

/** A call of the job's key-value store on behalf of the task. */
export interface StoreCall {
  readonly transaction: Transaction;
  /** The answer waits until the change is safe. */
  readonly durable: boolean;
  /** The answer says only that it happened. */
  readonly withoutResults?: boolean;
  /** How long to wait for an ApplicationMaster and its answer. */
  readonly timeoutMs?: number;
}

/** Sent line by line as it arrives. */
export type Stream = AsyncGenerator<unknown, void>;

export interface KvCall {
  /** Empty where none is named. */
  readonly key: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  /** Aborts when nobody waits for the answer any more. */
  readonly gone: () => AbortSignal;
}

/** The store, on behalf of the task. */
export interface TaskStore {
  readonly transact: (call: StoreCall) => Promise<StoreAnswer>;
  readonly watch: (wanted: WatchWanted, signal: AbortSignal) => AsyncIterable<Watched>;
}

/** The store's part of a task's API: each method answers with JSON, or throws a CallError. */
export class Kv {
  readonly #store: TaskStore;

  constructor(store: TaskStore) {
    this.#store = store;
  }

  async get({ key, query, gone }: KvCall): Promise<unknown> {
    if (isSet(query, "watch")) return this.#watch(key, query, gone());
    if (key === "") return await this.#list(query);
    const { revision, results } = await this.#call(transactions.get(key), query);
    const [result] = results;
    if (result?.type !== "get" || result.entry === undefined)
      throw new CallError(404, "NO_SUCH_KEY", `there is no key ${key}`);
    return { revision, entry: shownEntry(result.entry) };
  }

  async put({ key, query, body }: KvCall): Promise<unknown> {
    const put = { type: "put", key, value: body.toString("latin1"), owned: isSet(query, "owned") } as const;
    const conditions = conditionsOf(key, query);
    const answer = await this.#call({ conditions, success: [put], failure: [{ type: "get", key }] }, query);
    const [result] = answer.results;
    if (!answer.succeeded) throw conditionFailed(key, result);
    const before = result?.type === "put" ? result.before : undefined;
    return { revision: answer.revision, durable: isSet(query, "durable"), replaced: before !== undefined };
  }

  async del({ key, query }: KvCall): Promise<unknown> {
    if (key === "" && !query.get("prefix"))
      throw new CallError(400, "BAD_CALL", "name what is to go: DELETE /v1/kv/KEY, or /v1/kv?prefix=shared/run-1/");
    const range = rangeOf(key, query);
    const conditions = key === "" ? [] : conditionsOf(key, query);
    const failure = key === "" ? [] : [{ type: "get", key } as const];
    const answer = await this.#call({ conditions, success: [{ type: "delete", range }], failure }, query);
    const [result] = answer.results;
    if (!answer.succeeded) throw conditionFailed(key, result);
    const deleted = result?.type === "delete" ? result.deleted : 0;
    return { revision: answer.revision, durable: isSet(query, "durable"), deleted };
  }

  async transact({ body, query }: KvCall): Promise<unknown> {
    const withoutResults = query.has("results") && !isSet(query, "results");
    const { revision, succeeded, results } = await this.#call(transactionIn(body), query, withoutResults);
    const told = withoutResults ? {} : { results: results.map(shownResult) };
    return { revision, durable: isSet(query, "durable"), succeeded, ...told };
  }

  async #list(query: URLSearchParams): Promise<unknown> {
    const limit = numberOf(query, "limit");
    const list = {
      type: "list",
      range: rangeOf("", query),
      keysOnly: isSet(query, "keys"),
      ...(limit === undefined ? {} : { limit }),
    } as const;
    const { revision, results } = await this.#call(transactions.of(list), query);
    return { revision, ...(results[0] && shownResult(results[0])) };
  }

  /** One line for each revision, the first before anything has changed. */
  async *#watch(key: string, query: URLSearchParams, gone: AbortSignal): Stream {
    const range = rangeOf(key, query);
    const [attempt, revision] = [numberOf(query, "attempt"), numberOf(query, "revision")];
    if ((attempt === undefined) !== (revision === undefined))
      throw new CallError(400, "BAD_CALL", "a watch goes on behind an attempt and a revision: name both, or neither");
    const after = attempt === undefined || revision === undefined ? {} : { after: { attempt, revision } };
    for await (const news of this.#store.watch({ range, ...after }, gone)) yield* linesOf(news);
  }

  async #call(transaction: Transaction, query: URLSearchParams, withoutResults = false): Promise<Committed> {
    const brief = withoutResults ? { withoutResults } : {};
    const durable = isSet(query, "durable");
    return committed(await this.#store.transact({ transaction, durable, ...brief, ...timeoutIn(query) }));
  }
}

/** @throws CallError */
function transactionIn(body: Buffer): Transaction {
  try {
    return readTransaction(body.toString("utf8"));
  } catch (error) {
    throw new CallError(400, "BAD_CALL", errorMessage(error));
  }
}

/** That key, or the part of the store that the parameters name. */
function rangeOf(key: string, query: URLSearchParams): Range {
  if (key !== "") return onlyKey(key);
  const [from, to] = [query.get("from") ?? undefined, query.get("to") ?? undefined];
  return rangeIn({ prefix: query.get("prefix") ?? "shared/", from, to });
}

function* linesOf(news: Watched): Generator<unknown> {
  const { attempt, revision } = news;
  if (news.type !== "changes") {
    yield { attempt, revision, [news.type]: true };
    return;
  }
  const byRevision = new Map<number, unknown[]>();
  for (const change of news.changes) {
    const { key } = change;
    const shown = change.type === "put" ? { type: "put", entry: shownEntry(change.entry) } : { type: "delete", key };
    byRevision.set(change.revision, [...(byRevision.get(change.revision) ?? []), shown]);
  }
  for (const [of, changes] of byRevision) yield { attempt, revision: of, changes };
  if (byRevision.size === 0) yield { attempt, revision, changes: [] };
}

/** @throws CallError where it is refused */
export function committed(answer: StoreAnswer): Committed {
  if (!("code" in answer)) return answer;
  const status = { forbidden: 403, limit: 413, invalid: 400, "no-owner": 409 }[answer.code];
  throw new CallError(status, answer.code.toUpperCase().replace("-", "_"), answer.message);
}

/** The key is written only if its revision is the one that the caller knows; 0: the key is missing. */
function conditionsOf(key: string, query: URLSearchParams): Condition[] {
  const revision = numberOf(query, "if-revision");
  return revision === undefined ? [] : [{ of: "modified", key, is: "=", to: revision }];
}

function conditionFailed(key: string, result: Result | undefined): CallError {
  const entry = result?.type === "get" ? result.entry : undefined;
  const what = entry === undefined ? "is missing" : `was written by revision ${entry.modified}`;
  return new CallError(409, "CONDITION", `${key} ${what}: nothing is changed`);
}

function isSet(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  if (value === null || value === "false") return false;
  if (value === "true" || value === "") return true;
  throw new CallError(400, "BAD_CALL", `${name} is true or false, not ${value}`);
}

function numberOf(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new CallError(400, "BAD_CALL", `${name} is a whole number, not ${value}`);
}
