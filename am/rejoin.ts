import type { Rejoin } from "./core/effects.ts";

/** So many executors are called at once. */
const width = 64;
const pauseBeforeRetryMs = 2_000;
/** An executor that does not answer by then finds this attempt by its address in the staging folder. */
const tries = 3;

/**
 * Calls the executors of an earlier attempt over to this one; each then opens its stream to us.
 * @param call rejects when the executor did not answer, or refused
 */
export async function rejoin(executors: readonly Rejoin[], call: (executor: Rejoin) => Promise<void>): Promise<void> {
  const waiting = [...executors];
  const callNext = async (): Promise<void> => {
    for (let executor = waiting.shift(); executor !== undefined; executor = waiting.shift()) {
      await callPatiently(executor, call);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, executors.length) }, callNext));
}

/** Gives up in silence: the executor is reached another way, or is missed by the core. */
async function callPatiently(executor: Rejoin, call: (executor: Rejoin) => Promise<void>): Promise<void> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    try {
      return await call(executor);
    } catch {
      if (attempt < tries) await new Promise((resolve) => setTimeout(resolve, pauseBeforeRetryMs));
    }
  }
}
