import { setTimeout as sleep } from "node:timers/promises";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { ClientContext } from "../context.ts";
import type { AttemptConnection, FollowUpdate } from "../master/attempt-connection.ts";
import type { MasterConnection } from "../master/master-connection.ts";
import { connectRunningJob } from "./running-job.ts";

/** YARN needs less time than this to start another attempt, if it may. */
const absenceLimitMs = 180_000;
const askAgainMs = 1_000;

/** A message from an AM, and the connection to it. */
export interface MasterUpdate<Master> {
  readonly master: Master;
  readonly update: FollowUpdate;
}

/**
 * The messages of a running job's AM, and of the next one when it is lost. Ends when the job has ended, or the signal
 * aborts.
 * @throws UserError, ApiError: the AM cannot be asked, at first or for three minutes
 */
export function followRunning(
  id: string,
  conf: readonly string[] | undefined,
  context: ClientContext,
  signal: AbortSignal,
): AsyncGenerator<MasterUpdate<MasterConnection>, void> {
  return followAttempts(() => connectRunningJob(id, conf, context), context, signal);
}

/** The same for AMs that are connected in this way. @param pause before looking for the next AM */
export async function* followAttempts<Master extends Pick<AttemptConnection, "follow" | "close">>(
  connect: () => Promise<Master>,
  { now, output }: Pick<ClientContext, "now" | "output">,
  signal: AbortSignal,
  pause: (ms: number) => Promise<unknown> = (ms) => sleep(ms, undefined, { signal }).catch(() => undefined),
): AsyncGenerator<MasterUpdate<Master>, void> {
  let heardAtMs: number | undefined;
  let isTold = false;
  while (!signal.aborted) {
    try {
      for await (const heard of followAttempt(await connect(), signal)) {
        heardAtMs = now();
        isTold = false;
        yield heard;
        if (heard.update.type === "outcome") return;
      }
    } catch (error) {
      if (heardAtMs === undefined || now() - heardAtMs > absenceLimitMs) throw error;
      if (errorCode(error) === "HAS_ENDED") {
        output.problem(errorMessage(error));
        return;
      }
      if (!isTold) output.problem(`The ApplicationMaster is lost: another one is waited for, up to 3 min`);
      isTold = true;
    }
    await pause(askAgainMs);
  }
}

async function* followAttempt<Master extends Pick<AttemptConnection, "follow" | "close">>(
  master: Master,
  signal: AbortSignal,
): AsyncGenerator<MasterUpdate<Master>, void> {
  try {
    for await (const update of master.follow(signal)) yield { master, update };
  } finally {
    master.close();
  }
}
