import type { ApplicationIdentity } from "../src/api/identity.ts";
import { callReattach } from "../src/api/rejoin.ts";
import { sleep } from "../src/hadoop/clock.ts";
import type { Rejoin } from "./core/state/effects.ts";

/** Who calls. */
export interface Caller {
  readonly identity: ApplicationIdentity;
  readonly build: string;
  readonly attempt: number;
  /** `host:port` that executors are to come to. */
  readonly masterAddress: string;
}

/** So many executors are called at once. */
const width = 64;
const timeoutMs = 5_000;
const pauseBeforeRetryMs = 2_000;
/** An executor that does not answer by then finds this attempt by its address in the staging folder. */
const tries = 3;

/** Calls the executors of an earlier attempt over to this one; each then opens its stream to us. Resolves when all were tried. */
export async function rejoin(executors: readonly Rejoin[], caller: Caller): Promise<void> {
  const waiting = [...executors];
  const callNext = async (): Promise<void> => {
    for (let executor = waiting.shift(); executor !== undefined; executor = waiting.shift()) {
      await callPatiently(executor.address, caller);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, executors.length) }, callNext));
}

/** Gives up in silence: the executor is reached another way, or is missed by the core. One that refuses obeys a later attempt. */
async function callPatiently(rejoinAddress: string, caller: Caller): Promise<void> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    try {
      await callReattach({ ...caller, rejoinAddress, timeoutMs });
      return;
    } catch {
      if (attempt < tries) await sleep(pauseBeforeRetryMs);
    }
  }
}
