import { type ApplicationIdentity, executorIdentity } from "../../src/api/identity.ts";
import { callRejoin, type RejoinCall } from "../../src/api/rejoin.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import type { Rejoin } from "../core/state/effects.ts";

/** The attempt that calls. */
export interface Caller {
  readonly identity: ApplicationIdentity;
  readonly build: string;
  readonly attempt: number;
  /** `host:port` to which executors are to connect. */
  readonly masterAddress: string;
}

/** How many executors are called at once. */
const parallelCalls = 64;
const timeoutMs = 5_000;
const pauseBeforeRetryMs = 2_000;
/** An executor that has not answered after these tries finds this attempt by its address in the staging folder. */
const maximumTries = 3;

/** How executors are called, and the pause before a retry. */
interface Calling {
  readonly call: (call: RejoinCall) => Promise<unknown>;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Asks the executors of an earlier attempt to connect to this one. Resolves when all were tried. */
export async function rejoin(
  executors: readonly Rejoin[],
  caller: Caller,
  calling: Calling = { call: callRejoin, sleep },
): Promise<void> {
  const waiting = [...executors];
  const callNext = async (): Promise<void> => {
    for (let executor = waiting.shift(); executor !== undefined; executor = waiting.shift()) {
      await callWithRetries(executor, caller, calling);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelCalls, executors.length) }, callNext));
}

/**
 * Gives up without an error: the executor finds this attempt itself, or the core counts it as lost. An executor that refuses obeys a later
 * attempt.
 */
async function callWithRetries(
  { address: rejoinAddress, containerId }: Rejoin,
  caller: Caller,
  { call, sleep }: Calling,
): Promise<void> {
  const identity = executorIdentity(caller.identity, containerId);
  for (let attempt = 1; attempt <= maximumTries; attempt += 1) {
    try {
      await call({ ...caller, identity, rejoinAddress, timeoutMs });
      return;
    } catch {
      if (attempt < maximumTries) await sleep(pauseBeforeRetryMs);
    }
  }
}
