import { setTimeout as sleep } from "node:timers/promises";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { ClientContext } from "../context.ts";
import type { FollowUpdate } from "../master/attempt-connection.ts";
import type { MasterConnection } from "../master/master-connection.ts";
import { connectRunningJob } from "./running-job.ts";

/** YARN needs less to start another attempt, where it may. */
const absenceLimitMs = 180_000;
const askAgainMs = 1_000;

/** What an AM said, and the connection to it. */
export interface MasterUpdate {
  readonly master: MasterConnection;
  readonly update: FollowUpdate;
}

/**
 * What the AM of a job that runs says, and the next one when it is lost. Ends when the job has ended, or the signal aborts.
 * @throws UserError, ApiError: it cannot be asked, at first or for three minutes
 */
export async function* followRunning(
  id: string,
  conf: readonly string[] | undefined,
  context: ClientContext,
  signal: AbortSignal,
): AsyncGenerator<MasterUpdate, void> {
  let heardAtMs: number | undefined;
  let isTold = false;
  while (!signal.aborted) {
    try {
      for await (const heard of followAttempt(id, conf, context, signal)) {
        heardAtMs = context.now();
        isTold = false;
        yield heard;
        if (heard.update.type === "outcome") return;
      }
    } catch (error) {
      if (heardAtMs === undefined || context.now() - heardAtMs > absenceLimitMs) throw error;
      if (errorCode(error) === "HAS_ENDED") {
        context.output.problem(errorMessage(error));
        return;
      }
      if (!isTold) context.output.problem(`The ApplicationMaster is lost: another one is waited for, up to 3 min`);
      isTold = true;
    }
    await sleep(askAgainMs, undefined, { signal }).catch(() => undefined);
  }
}

async function* followAttempt(
  id: string,
  conf: readonly string[] | undefined,
  context: ClientContext,
  signal: AbortSignal,
): AsyncGenerator<MasterUpdate, void> {
  const master = await connectRunningJob(id, conf, context);
  try {
    for await (const update of master.follow(signal)) yield { master, update };
  } finally {
    master.close();
  }
}
