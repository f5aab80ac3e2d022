import { shownEntry } from "../../src/job/store/shown-entry.ts";
import {
  type Committed,
  type Condition,
  onlyKey,
  type Result,
  type StoreAnswer,
  type Transaction,
  transactions,
  withPrefix,
} from "../../src/job/store/transaction.ts";
import { CallError } from "./call-error.ts";
import { readTransaction } from "./kv-transaction.ts";

/** What is asked of the job's key-value store in the name of the task. */
export interface StoreCall {
  readonly transaction: Transaction;
  /** The answer waits until it is safe. */
  readonly durable: boolean;
}

export interface KvCall {
  /** Empty where none is named. */
  readonly key: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

type Transact = (call: StoreCall) => Promise<StoreAnswer>;

/** The store's part of a task's API: each answers with JSON, or throws a CallError. */
export class Kv {
  readonly #transact: Transact;

  constructor(transact: Transact) {
    this.#transact = transact;
  }

  async get({ key, query }: KvCall): Promise<unknown> {
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
    return { revision: answer.revision, replaced: before !== undefined };
  }

  async del({ key, query }: KvCall): Promise<unknown> {
    const prefix = query.get("prefix");
    if (key === "" && !prefix)
      throw new CallError(400, "BAD_CALL", "name what is to go: DELETE /v1/kv/KEY, or /v1/kv?prefix=shared/run-1/");
    const range = key === "" ? withPrefix(prefix ?? "") : onlyKey(key);
    const conditions = key === "" ? [] : conditionsOf(key, query);
    const failure = key === "" ? [] : [{ type: "get", key } as const];
    const answer = await this.#call({ conditions, success: [{ type: "delete", range }], failure }, query);
    const [result] = answer.results;
    if (!answer.succeeded) throw conditionFailed(key, result);
    return { revision: answer.revision, deleted: result?.type === "delete" ? result.deleted : 0 };
  }

  async transact({ body, query }: KvCall): Promise<unknown> {
    const { revision, succeeded, results } = await this.#call(readTransaction(body.toString("utf8")), query);
    return { revision, succeeded, results: results.map(shownResult) };
  }

  async #list(query: URLSearchParams): Promise<unknown> {
    const range = withPrefix(query.get("prefix") ?? "shared/");
    const limit = numberOf(query, "limit");
    const from = query.get("from");
    const list = {
      type: "list",
      range: from === null || from < range.from ? range : { ...range, from },
      keysOnly: isSet(query, "keys"),
      ...(limit === undefined ? {} : { limit }),
    } as const;
    const { revision, results } = await this.#call(transactions.of(list), query);
    return { revision, ...(results[0] && shownResult(results[0])) };
  }

  async #call(transaction: Transaction, query: URLSearchParams): Promise<Committed> {
    const answer = await this.#transact({ transaction, durable: isSet(query, "durable") });
    if (!("code" in answer)) return answer;
    const status = { forbidden: 403, limit: 413, invalid: 400, "no-owner": 409 }[answer.code];
    throw new CallError(status, answer.code.toUpperCase().replace("-", "_"), answer.message);
  }
}

/** The key is written only where it is as the caller knows it: 0 where it is missing. */
function conditionsOf(key: string, query: URLSearchParams): Condition[] {
  const revision = numberOf(query, "if-revision");
  return revision === undefined ? [] : [{ of: "modified", key, is: "=", to: revision }];
}

function conditionFailed(key: string, result: Result | undefined): CallError {
  const entry = result?.type === "get" ? result.entry : undefined;
  const what = entry === undefined ? "is missing" : `was written by revision ${entry.modified}`;
  return new CallError(409, "CONDITION", `${key} ${what}: nothing is changed`);
}

function shownResult(result: Result) {
  switch (result.type) {
    case "get":
      return result.entry === undefined ? {} : { entry: shownEntry(result.entry) };
    case "put":
      return result.before === undefined ? {} : { before: shownEntry(result.before) };
    case "list":
      return { entries: result.entries.map(shownEntry), more: result.more };
    case "delete":
      return { deleted: result.deleted };
  }
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
