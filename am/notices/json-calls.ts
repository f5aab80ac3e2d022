import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { TonyError } from "../../src/errors.ts";
import { exchange } from "../../src/hadoop/http/exchange.ts";
import { entryOf, isObject } from "../../src/hadoop/json.ts";

const CONNECT_MS = 5_000;
/** How long one call may take. */
export const CALL_MS = 10_000;

/**
 * Calls a service that takes JSON.
 * @param body absent: a GET
 * @returns the answer, of any status: read it to its end, or destroy it. Rejects with an HttpError
 */
export function callJson(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body?: Uint8Array,
): Promise<IncomingMessage> {
  return exchange(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { "Content-Type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: { stream: Readable.from([body]), lengthBytes: body.length } }),
    connectTimeoutMs: CONNECT_MS,
    idleTimeoutMs: CALL_MS,
    signal: AbortSignal.timeout(CALL_MS),
  });
}

/** The value at a path of an answer's fields; undefined where there is none. */
export function fieldAt(answer: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isObject(value) ? entryOf(value, name) : undefined), answer);
}

/** The longest text kept of an answer, which may come from anybody. */
const MOST_TEXT = 4_096;

/** @throws TonyError `ANSWER_INCOMPLETE` where it is no text, or a longer one */
export function textAt(answer: unknown, ...path: readonly string[]): string {
  const value = fieldAt(answer, ...path);
  if (typeof value === "string" && value.length <= MOST_TEXT) return value;
  throw new TonyError(`an answer has no ${path.join(".")}`, { code: "ANSWER_INCOMPLETE" });
}

/** Empty where there is none. */
export function listAt(answer: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = fieldAt(answer, ...path);
  return Array.isArray(value) ? value : [];
}
