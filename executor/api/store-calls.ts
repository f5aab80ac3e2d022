import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../../src/hadoop/clock.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { StoreAnswer } from "../../src/job/store/transaction.ts";
import type { Watched, WatchWanted } from "../../src/job/store/watched.ts";
import type { MasterLink } from "../master/master-link.ts";
import { CallError } from "./call.ts";
import type { StoreCall } from "./kv.ts";

/** Between two tries to watch. */
const PAUSE_MS = 250;

/** How long a call without a time-out waits, for an ApplicationMaster and its answer together. */
const PATIENCE_MS = 60_000;

/**
 * Calls the job's key-value store for this life of the task. While no ApplicationMaster is connected it waits for the next one.
 * @throws CallError where the result is unknown
 */
export async function transactFor(
  link: () => Pick<MasterLink, "transact" | "connected">,
  generation: number,
  { timeoutMs = PATIENCE_MS, ...call }: StoreCall,
  nowMs: () => number = () => performance.now(),
): Promise<StoreAnswer> {
  const overMs = nowMs() + timeoutMs;
  const ask = () => link().transact({ ...call, generation }, Math.max(1, Math.ceil(overMs - nowMs())));
  try {
    const asked = ask() ?? ((await within(timeoutMs, link().connected())) ? ask() : undefined);
    if (asked !== undefined) return await asked;
  } catch (error) {
    if (errorCode(error) === "API_FAILED") throw new CallError(503, "STORE_AWAY", errorMessage(error));
    const said = "the ApplicationMaster was lost before it answered: what was to be written may be written or not";
    throw new CallError(503, "UNKNOWN", `${said}; read it`);
  }
  throw new CallError(503, "NO_MASTER", `no ApplicationMaster was reached for ${timeoutMs / 1_000} s: try again`);
}

/**
 * The changes of the store, whichever ApplicationMaster reports them: each change once, until there is a last message.
 * @throws CallError where it is refused
 */
export async function* watchFor(
  link: () => Pick<MasterLink, "watch" | "connected">,
  wanted: WatchWanted,
  signal: AbortSignal,
): AsyncGenerator<Watched, void> {
  const { range } = wanted;
  let { after } = wanted;
  while (!signal.aborted) {
    await Promise.race([link().connected(), once(signal, "abort")]);
    try {
      for await (const { watched } of link().watch({ ...range, ...(after && { after }) }, signal) ?? []) {
        yield watched;
        if (watched.type !== "changes") return;
        after = { attempt: watched.attempt, revision: watched.revision };
      }
    } catch (error) {
      const code = errorCode(error);
      if (code === "API_FAILED" || code === "API_FORBIDDEN") throw new CallError(403, "FORBIDDEN", errorMessage(error));
    }
    await sleep(PAUSE_MS);
  }
}
