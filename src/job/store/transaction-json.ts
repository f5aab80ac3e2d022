import { type UserError, usageError } from "../../errors.ts";
import {
  type Condition,
  type Entry,
  type Operation,
  onlyKey,
  type Range,
  type Result,
  type Transaction,
  withPrefix,
} from "./transaction.ts";

/** The entry in the JSON for people and programs. */
export function shownEntry({ key, value, created, modified, version, owner }: Entry) {
  return { key, ...shownValue(value), created, modified, version, ...(owner === undefined ? {} : { owner }) };
}

/** Text whose bytes are its characters, as most values are. */
const PLAIN = /^[ -~]*$/;

/** A value that is not text is shown as base64. */
function shownValue(value: string): { readonly value: string } | { readonly valueBase64: string } {
  if (PLAIN.test(value)) return { value };
  const bytes = Buffer.from(value, "latin1");
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? { value: text } : { valueBase64: bytes.toString("base64") };
}

/** The stored form of a text, or of base64. */
export function storedValue(given: { readonly value: string } | { readonly valueBase64: string }): string {
  if ("value" in given && PLAIN.test(given.value)) return given.value;
  const bytes = "value" in given ? Buffer.from(given.value) : Buffer.from(given.valueBase64, "base64");
  return bytes.toString("latin1");
}

/** The fields of one JSON object. */
type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads `{"conditions": […], "success": […], "failure": […]}`; empty lists may be absent.
 * @throws UserError
 */
export function readTransaction(body: string): Transaction {
  const fields = fieldsOf(parsed(body), "the body");
  return {
    conditions: listOf(fields, "conditions").map((one) => condition(fieldsOf(one, "a condition"))),
    success: listOf(fields, "success").map((one) => operation(fieldsOf(one, "an operation"))),
    failure: listOf(fields, "failure").map((one) => operation(fieldsOf(one, "an operation"))),
  };
}

/** The result of one operation. */
export function shownResult(result: Result) {
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

const comparisons = { "=": "=", "==": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥" } as const;

function condition(fields: Fields): Condition {
  const key = text(fields, "key");
  const of = oneOf(fields, "of", ["exists", "missing", "value", "owner", "created", "modified", "version"]);
  if (of === "exists" || of === "missing") return { of, key };
  const is = comparisons[oneOf(fields, "is", ["=", "==", "!=", "<", "<=", ">", ">="])];
  if (of === "value") return { of, key, is, to: valueIn(fields, "to") };
  if (of !== "owner") return { of, key, is, to: number(fields, "to") };
  if (is === "=" || is === "≠") return { of, key, is, to: text(fields, "to") };
  throw bad("of an owner only = and != are asked");
}

function operation(fields: Fields): Operation {
  const type = oneOf(fields, "type", ["get", "put", "list", "delete"]);
  switch (type) {
    case "get":
      return { type, key: text(fields, "key") };
    case "put":
      return { type, key: text(fields, "key"), value: valueIn(fields, "value"), owned: flag(fields, "owned") };
    case "list":
      return { type, range: range(fields), keysOnly: flag(fields, "keysOnly") };
    case "delete":
      return { type, range: "prefix" in fields ? range(fields) : onlyKey(text(fields, "key")) };
  }
}

function range(fields: Fields): Range {
  const end = (name: string) => (name in fields ? text(fields, name) : undefined);
  return rangeIn({ prefix: text(fields, "prefix"), from: end("from"), to: end("to") });
}

/** The value from the field's text, or from the field with `Base64` after its name. */
function valueIn(fields: Fields, name: string): string {
  const coded = `${name}Base64`;
  return coded in fields
    ? storedValue({ valueBase64: text(fields, coded) })
    : storedValue({ value: text(fields, name) });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw bad("the body is no JSON");
  }
}

function fieldsOf(given: unknown, what: string): Fields {
  if (isObject(given)) return given;
  throw bad(`${what} is not an object`);
}

function isObject(given: unknown): given is Fields {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

function listOf(fields: Fields, name: string): readonly unknown[] {
  const given = fields[name] ?? [];
  if (Array.isArray(given)) return given;
  throw bad(`${name} is not a list`);
}

function text(fields: Fields, name: string): string {
  const given = fields[name];
  if (typeof given === "string") return given;
  throw bad(`${name} is not text`);
}

function number(fields: Fields, name: string): number {
  const given = fields[name];
  if (typeof given === "number" && Number.isSafeInteger(given) && given >= 0) return given;
  throw bad(`${name} is not a whole number`);
}

function flag(fields: Fields, name: string): boolean {
  const given = fields[name] ?? false;
  if (typeof given === "boolean") return given;
  throw bad(`${name} is neither true nor false`);
}

function oneOf<T extends string>(fields: Fields, name: string, words: readonly T[]): T {
  const given = fields[name];
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  throw bad(`${name} is one of ${words.join(", ")}`);
}

function bad(message: string): UserError {
  return usageError(message);
}

export interface RangeBounds {
  readonly prefix: string;
  /** The first key of the range. */
  readonly from?: string | undefined;
  /** The first key after the range. */
  readonly to?: string | undefined;
}

/** The keys that begin with the prefix, within the bounds. */
export function rangeIn({ prefix, from = "", to }: RangeBounds): Range {
  const range = withPrefix(prefix);
  const ends = [range.to, to].filter((end) => end !== undefined).sort();
  return { from: from > range.from ? from : range.from, ...(ends[0] !== undefined && { to: ends[0] }) };
}
