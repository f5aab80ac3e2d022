import type { ExecutorMessage, MasterMessage } from "./messages.ts";

/** An attempt of the ApplicationMaster and a generation of the gang: both sides compare them before they act on a message. */
export interface Position {
  readonly attempt: number;
  readonly generation: number;
}

/**
 * - `current`: do it
 * - `lower-attempt`: from an ApplicationMaster that has been replaced: refuse
 * - `stale-generation`: about a gang that is over, or not yet prepared: ignore
 */
export type MasterVerdict = "current" | "lower-attempt" | "stale-generation";

/** How an executor at that position treats a message of an ApplicationMaster. */
export function judgeMasterMessage(message: MasterMessage, own: Position): MasterVerdict {
  if (message.attempt < own.attempt) return "lower-attempt";
  switch (message.body.type) {
    case "start-child":
    case "stop-child":
    case "resume-child":
    case "signal-child":
    case "acknowledge-exit":
      return message.generation === own.generation ? "current" : "stale-generation";
    case "prepare":
      return message.generation >= own.generation ? "current" : "stale-generation";
    default:
      return "current";
  }
}

/**
 * - `current`: from an executor that obeys this attempt, or that registers and still names an earlier one
 * - `lower-attempt`: meant for an earlier attempt: ignore
 * - `higher-attempt`: this ApplicationMaster has been replaced and must not act any more
 */
export type ExecutorVerdict = "current" | "lower-attempt" | "higher-attempt";

/** How an ApplicationMaster treats a message of an executor. The core checks generations. */
export function judgeExecutorMessage(message: ExecutorMessage, ownAttempt: number): ExecutorVerdict {
  if (message.attempt > ownAttempt) return "higher-attempt";
  if (message.attempt < ownAttempt && message.body.type !== "register") return "lower-attempt";
  return "current";
}
