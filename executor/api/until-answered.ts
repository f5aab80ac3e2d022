import { setTimeout as sleep } from "node:timers/promises";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { MasterLink } from "../master/master-link.ts";
import { CallError } from "./call.ts";

/** Between two tries. */
const PAUSE_MS = 250;

/** How often to try while an ApplicationMaster cannot answer: for two minutes. */
const MOST_FAILURES = 480;

/**
 * Some calls wait until other tasks have done something: they are repeated after this time, so that a lost call does not wait for ever.
 */
const PATIENCE_MS = 60_000;

/** Undefined: no ApplicationMaster is connected, or it does not know the call. Rejects with an ApiError. */
export type Ask<Answer> = (timeoutMs: number) => Promise<Answer | undefined> | undefined;

/**
 * Asks until an ApplicationMaster has answered: each call may be made twice.
 * @throws CallError with this code where nobody answers
 */
export async function untilAnswered<Answer>(
  link: () => Pick<MasterLink, "connected">,
  ask: Ask<Answer>,
  gone: AbortSignal,
  { away, pause = sleep }: { readonly away: string; readonly pause?: (ms: number) => Promise<unknown> },
): Promise<Answer> {
  const left = new Promise<void>((resolve) => gone.addEventListener("abort", () => resolve(), { once: true }));
  let failures = 0;
  while (!gone.aborted) {
    await Promise.race([link().connected(), left]);
    try {
      const answer = await ask(PATIENCE_MS);
      if (answer !== undefined) return answer;
    } catch (error) {
      const code = errorCode(error);
      if (error instanceof CallError || code === "API_FORBIDDEN") throw error;
      if (code === "API_FAILED") failures += 1;
      if (failures > MOST_FAILURES) throw new CallError(503, away, errorMessage(error));
    }
    await pause(PAUSE_MS);
  }
  throw new CallError(503, away, "nobody waits for the answer any more");
}
