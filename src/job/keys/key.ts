import type { KeyType } from "./types.ts";

/**
 * - `works`: does what its text says
 * - `ignored-with-warning`: has nothing to act on here (there is no JVM), accepted so that a TonY job runs unchanged
 */
export type KeySupport = "works" | "ignored-with-warning";

/** A part of JobSpec: `job` is its top, `role` each of its roles, the others are fields of these names. */
export type SpecSection =
  | "job"
  | "am"
  | "role"
  | "carrier"
  | "failure"
  | "failure.budgets"
  | "failure.backOff"
  | "failure.blame"
  | "timeouts"
  | "preemption"
  | "ports"
  | "history"
  | "logs"
  | "metrics";

/** One row of the table of keys. */
export interface KeyDefinition<T = unknown> {
  readonly type: KeyType<T>;
  /**
   * Which field of JobSpec has the value as it is: the field's type, its reading from a job's settings and from `job.json` follow from
   * the row. Absent: nothing but the client reads it, or the field is made of more than this key (`build-spec.ts`).
   */
  readonly spec?: readonly [section: SpecSection, field: string];
  /** As a person would write it; absent: nothing is set. */
  readonly default?: string;
  readonly doc: string;
  readonly support: KeySupport;
  /** Why it is ignored, or what to use instead; shown in the warning. */
  readonly note?: string;
  /** Of one that is ignored: accepted without a warning, because nothing is lost. */
  readonly quiet?: boolean;
  /** The name that TonY gave it later, under which it is read. */
  readonly renamedTo?: string;
  /** `-conf key=value` adds to what the file says instead of replacing it (TonY's MULTI_VALUE_CONF). */
  readonly multiValued?: boolean;
  /** Not among TonY's keys. */
  readonly ours?: boolean;
}

/** Writes one row with its own type kept, so that values read by it are typed. */
export function key<const D extends KeyDefinition>(definition: D): D {
  return definition;
}
