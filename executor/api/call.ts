import { TonyError } from "../../src/errors.ts";

/** Why a call cannot be answered as asked. */
export class CallError extends TonyError {
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(message, { code });
    this.status = status;
  }
}

/**
 * The longest wait that a call gives; absent: no time-out.
 * @throws CallError
 */
export function timeoutIn(query: URLSearchParams): { readonly timeoutMs?: number } {
  const value = query.get("timeout");
  if (value === null) return {};
  if (/^\d{1,6}(\.\d{1,3})?$/.test(value)) return { timeoutMs: Math.max(1, Math.round(Number(value) * 1_000)) };
  throw new CallError(400, "BAD_CALL", `timeout is a number of seconds, not ${value}`);
}

/** Aborts after that time, or when nobody waits for the answer any more. */
export function overAfter(timeoutMs: number | undefined, gone: AbortSignal): AbortSignal {
  return timeoutMs === undefined ? gone : AbortSignal.any([AbortSignal.timeout(timeoutMs), gone]);
}
