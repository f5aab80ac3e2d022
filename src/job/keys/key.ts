import type { KeyType } from "./types.ts";

/**
 * - `works`: does what its text says
 * - `ignored-with-warning`: has no effect here (there is no JVM); accepted so that a TonY job runs unchanged
 */
export type KeySupport = "works" | "ignored-with-warning";

/** A part of JobSpec: `job` is its top level, `role` each of its roles, the others are fields with these names. */
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
   * The field of JobSpec that has exactly this value: the field's type, and its parsing from a job's settings and from `job.json`,
   * follow from the row. Absent: only the client reads the key, or the field combines several keys (`build-spec.ts`).
   */
  readonly spec?: readonly [section: SpecSection, field: string];
  /** As a person would write it; absent: no default. */
  readonly default?: string;
  readonly doc: string;
  readonly support: KeySupport;
  /** Why it is ignored, or what to use instead; part of the warning. */
  readonly note?: string;
  /** For an ignored key: accepted without a warning, because nothing is lost. */
  readonly quiet?: boolean;
  /** The later name that TonY gave it, under which it is read. */
  readonly renamedTo?: string;
  /** `-conf key=value` adds to the file's value instead of replacing it (TonY's MULTI_VALUE_CONF). */
  readonly multiValued?: boolean;
  /** Not among TonY's keys. */
  readonly ours?: boolean;
}

/** Returns one row with its precise type, so that values read by it are typed. */
export function key<const D extends KeyDefinition>(definition: D): D {
  return definition;
}
