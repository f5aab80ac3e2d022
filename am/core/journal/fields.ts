import type { CoreState } from "../state/state.ts";

/**
 * Where a later attempt gets each field of the state from.
 * - `kept`: from the journal
 * - `heard-again`: YARN and the executors report it again
 * - `own`: each attempt has its own
 */
export const FIELDS = {
  applicationId: "kept",
  amHost: "own",
  amContainerId: "own",
  attempt: "own",
  startedAtMs: "kept",
  phase: "kept",
  takeovers: "kept",
  lastGeneration: "kept",
  gangs: "kept",
  groupDeadlines: "kept",
  untracked: "kept",
  tasks: "kept",
  roles: "kept",
  asks: "heard-again",
  hintsDeadline: "heard-again",
  containers: "kept",
  ended: "heard-again",
  unclaimed: "heard-again",
  nodes: "heard-again",
  headroom: "heard-again",
  counted: "heard-again",
  resourceTypes: "heard-again",
  early: "own",
  heard: "kept",
  unheard: "kept",
  blame: "kept",
  leaving: "kept",
  unfetched: "kept",
  services: "kept",
  outcome: "kept",
  judgedLives: "kept",
  finish: "kept",
  finishSinceMs: "kept",
  finishDeadline: "kept",
  journal: "own",
  held: "kept",
  usage: "kept",
  wakeUp: "own",
  pause: "own",
} as const satisfies Record<keyof CoreState, "kept" | "heard-again" | "own">;

type Kept = {
  [Field in keyof typeof FIELDS]: (typeof FIELDS)[Field] extends "kept" ? Field : never;
}[keyof typeof FIELDS];

/** What must outlive this ApplicationMaster. */
export type Durable = Pick<CoreState, Kept>;

const KEPT: ReadonlySet<string> = new Set(
  Object.entries(FIELDS).flatMap(([field, rule]) => (rule === "kept" ? [field] : [])),
);

/** The part of the state that the journal holds. */
export function durablePart(state: CoreState): Record<string, unknown> {
  return Object.fromEntries(Object.entries(state).filter(([field]) => KEPT.has(field)));
}
