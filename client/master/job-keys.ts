import { ExitCode, UserError } from "../../src/errors.ts";
import {
  type Committed,
  onlyKey,
  type StoreAnswer,
  type Transaction,
  transactions,
  withPrefix,
} from "../../src/job/store/transaction.ts";
import { readTransaction, shownEntry, shownResult, storedValue } from "../../src/job/store/transaction-json.ts";
import { formatTable } from "../output/format.ts";
import type { KvDelJson, KvEntry, KvGetJson, KvListJson, KvPutJson, KvTransactJson } from "../printed-json.ts";

/** The AM that is asked. */
interface StoreLink {
  transact(transaction: Transaction, owner?: string): Promise<StoreAnswer>;
}

interface Asked {
  readonly key: string;
  /** As text. */
  readonly value: string;
  readonly owner: string | undefined;
}

/** The result as JSON and in lines for people. */
interface Told<Json> {
  readonly printed: Json;
  readonly lines: readonly string[];
}

/** The key-value store of a running job, as `tony-ts kv` shows it. A refused operation is a UserError. */
export class JobKeys {
  readonly #link: StoreLink;

  constructor(link: StoreLink) {
    this.#link = link;
  }

  async get({ key }: Pick<Asked, "key">): Promise<Told<KvGetJson>> {
    const { revision, results } = await this.#transact(transactions.get(key));
    const [result] = results;
    const entry = result?.type === "get" ? result.entry : undefined;
    if (entry === undefined)
      throw new UserError(`There is no key ${key}`, { code: "NO_SUCH_KEY", exitCode: ExitCode.usage });
    const shown = shownEntry(entry);
    return { printed: { revision, entry: shown }, lines: [valueWords(shown)] };
  }

  async put({ key, value, owner }: Asked): Promise<Told<KvPutJson>> {
    const { revision, results } = await this.#transact(
      transactions.put(key, storedValue({ value }), owner !== undefined),
      owner,
    );
    const [result] = results;
    return { printed: { revision, replaced: result?.type === "put" && result.before !== undefined }, lines: [] };
  }

  async del({ key }: Pick<Asked, "key">): Promise<Told<KvDelJson>> {
    const { revision, results } = await this.#transact(transactions.of({ type: "delete", range: onlyKey(key) }));
    const [result] = results;
    const deleted = result?.type === "delete" ? result.deleted : 0;
    return { printed: { revision, deleted }, lines: [String(deleted)] };
  }

  /** Lists all entries, however many answers that takes: each holds a part. */
  async list({ key: prefix }: Pick<Asked, "key">): Promise<Told<KvListJson>> {
    const entries: KvEntry[] = [];
    let range = prefix === "" ? { from: "" } : withPrefix(prefix);
    for (;;) {
      const { revision, results } = await this.#transact(transactions.of({ type: "list", range }));
      const [result] = results;
      if (result?.type !== "list") return { printed: { revision, entries }, lines: [] };
      entries.push(...result.entries.map(shownEntry));
      const last = result.entries.at(-1);
      if (!result.more || last === undefined) return { printed: { revision, entries }, lines: table(entries) };
      range = { ...range, from: onlyKey(last.key).to };
    }
  }

  /** `key` is the transaction as JSON. */
  async transact({ key: json, owner }: Pick<Asked, "key" | "owner">): Promise<Told<KvTransactJson>> {
    const { revision, succeeded, results } = await this.#transact(readTransaction(json), owner);
    const printed = { revision, succeeded, results: results.map(shownResult) };
    return { printed, lines: [JSON.stringify(printed)] };
  }

  async #transact(transaction: Transaction, owner?: string): Promise<Committed> {
    const answer = await this.#link.transact(transaction, owner);
    if ("code" in answer)
      throw new UserError(`Nothing is changed: ${answer.message}`, {
        code: answer.code === "no-owner" ? "NO_OWNER" : "STORE_REFUSED",
        exitCode: ExitCode.usage,
      });
    return answer;
  }
}

/** A value that is not text is shown as base64. */
export function valueWords({ value, valueBase64 = "" }: KvEntry): string {
  return value ?? valueBase64;
}

function table(entries: readonly KvEntry[]): string[] {
  const rows = entries.map((entry) => [entry.key, String(entry.modified), entry.owner?.task ?? "–", valueWords(entry)]);
  return entries.length === 0 ? ["no keys"] : formatTable([["key", "revision", "owner", "value"], ...rows]);
}
