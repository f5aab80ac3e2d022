import type { ExecutorMessage, MasterMessage } from "./messages.ts";

/** An attempt of the ApplicationMaster and a generation of the gang: both sides compare them before they act on a message. */
export interface Position {
  readonly attempt: number;
  readonly generation: number;
}

/**
 * - `current`: act on it
 * - `lower-attempt`: from an ApplicationMaster that has been replaced: refuse
 * - `stale-generation`: about a gang that is over or not yet prepared: ignore
 */
export type MasterVerdict = "current" | "lower-attempt" | "stale-generation";

/** In which generations an executor acts on a message: only in the one that it names, in earlier ones too, or in any. */
const OBEYED_IN: Readonly<Record<MasterMessage["body"]["type"], "own" | "own-or-earlier" | "any">> = {
  "start-child": "own",
  "stop-child": "own",
  "resume-child": "own",
  "signal-child": "own",
  "acknowledge-exit": "own",
  prepare: "own-or-earlier",
  welcome: "any",
  refuse: "any",
  exit: "any",
  "make-room": "any",
  "tell-place": "any",
  "tail-log": "any",
  "tail-credit": "any",
  "replace-tokens": "any",
  "serve-session": "any",
  "end-session": "any",
  unknown: "any",
};

/** How an executor at that position treats a message of an ApplicationMaster. */
export function judgeMasterMessage({ attempt, generation, body }: MasterMessage, own: Position): MasterVerdict {
  if (attempt < own.attempt) return "lower-attempt";
  const obeyedIn = OBEYED_IN[body.type];
  const isStale = obeyedIn === "own" ? generation !== own.generation : generation < own.generation;
  return obeyedIn !== "any" && isStale ? "stale-generation" : "current";
}

/**
 * - `current`: from an executor that obeys this attempt, or that registers and still names an earlier one
 * - `lower-attempt`: meant for an earlier attempt: ignore
 * - `higher-attempt`: this ApplicationMaster has been replaced and must no longer act
 */
export type ExecutorVerdict = "current" | "lower-attempt" | "higher-attempt";

/** How an ApplicationMaster treats a message of an executor. The core checks generations. */
export function judgeExecutorMessage(message: ExecutorMessage, ownAttempt: number): ExecutorVerdict {
  if (message.attempt > ownAttempt) return "higher-attempt";
  if (message.attempt < ownAttempt && message.body.type !== "register") return "lower-attempt";
  return "current";
}
