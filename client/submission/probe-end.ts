import { ExitCode, UserError } from "../../src/errors.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import { hasEnded } from "../applications/applications.ts";
import type { WaitingReasons } from "../applications/waiting-reasons.ts";

/** The interval for checking on an application that is ending anyway. */
const pollMs = 50;
const killWithinMs = 10_000;

/** The listener of a probe, and its limits. */
export interface ProbeWatch {
  readonly limitMs: number;
  readonly now: () => number;
  /** Aborted when the probe is to be ended at once; its reason says by which signal. */
  readonly stop: AbortSignal;
  /** Called while it does not run yet. */
  readonly waiting: (waitedMs: number, reason: DelayReason) => void;
  readonly pause?: (delayMs: number) => Promise<void>;
}

/** How it ended, or why it did not run in time. */
export type ProbeEnd = { readonly report: ApplicationReport } | { readonly late: DelayReason };

/**
 * Follows the probe's application to its end. Ends it when it does not end in time, when it is stopped, and when contact is lost: it is never
 * left on the cluster without a message.
 * @throws UserError (`STOPPED`) when it was stopped
 */
export async function endOfProbe(
  id: string,
  manager: Pick<ResourceManagerClient, "kill" | "report">,
  reasons: Pick<WaitingReasons, "reason">,
  { limitMs, now, stop, waiting, pause = sleep }: ProbeWatch,
): Promise<ProbeEnd> {
  const startedAtMs = now();
  try {
    for (;;) {
      const report = await manager.report(id);
      if (hasEnded(report)) return { report };
      if (stop.aborted) throw stopped(id, stop);
      const waitedMs = now() - startedAtMs;
      const reason = await reasons.reason(report);
      if (waitedMs >= limitMs) {
        await kill(id, manager, "the probe took too long");
        return { late: reason };
      }
      waiting(waitedMs, reason);
      await pause(pollMs);
    }
  } catch (error) {
    await kill(id, manager, stop.aborted ? `killed by ${stop.reason} at the client` : "nothing was heard of the probe");
    throw error;
  }
}

function stopped(id: string, { reason }: AbortSignal): UserError {
  const message = `Stopped by ${reason} during the last check, whose application is ended: ${id}`;
  return new UserError(message, { code: "STOPPED", exitCode: ExitCode.killed });
}

/** @throws UserError (`STILL_RUNNING`) that says how to end it by hand */
async function kill(id: string, manager: Pick<ResourceManagerClient, "kill">, diagnostics: string): Promise<void> {
  try {
    await manager.kill(id, { diagnostics, timeoutMs: killWithinMs });
  } catch (cause) {
    const message = `${id}, which checks the nodes, could not be ended: ${errorMessage(cause)}\n  tony-ts kill ${id}`;
    throw new UserError(message, { code: "STILL_RUNNING", exitCode: ExitCode.unknown, cause });
  }
}
