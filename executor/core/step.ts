import { type Machine, rowOf } from "../../src/moves.ts";
import type { Effect } from "./effects.ts";
import type { ExecutorState } from "./state.ts";

/** When an event comes, and its random number. */
export interface Moment {
  /** By a clock that never runs backwards. */
  readonly nowMs: number;
  /** 0 up to, not including, 1. */
  readonly random: number;
}

/** What every decision works on: the state, the moment, and the effects so far. */
export interface Step extends Moment {
  readonly state: ExecutorState;
  readonly effects: Effect[];
}

export function emit(step: Step, effect: Effect): void {
  step.effects.push(effect);
}

export function log(
  step: Step,
  level: "debug" | "info" | "warn" | "error",
  event: string,
  message: string,
  fields?: Readonly<Record<string, number>>,
): void {
  emit(step, { type: "log", level, event, message, ...(fields && { fields }) });
}

/**
 * The only way to change a phase. A move that the table does not have is a defect of ours: it is logged, which fails the simulation,
 * and changes nothing.
 * @returns whether it moved
 */
export function follow<Phase extends string, On extends string>(
  step: Step,
  table: Machine<Phase, On>,
  it: { phase: Phase },
  on: On,
): boolean {
  const row = rowOf(table, it.phase, on);
  if (row === undefined) {
    const what = `The table of ${table.name} has no row for ${on} in ${it.phase}`;
    log(step, "error", "defect", `${what}. This is a defect of tony-ts, and nothing was changed: please report it.`);
    return false;
  }
  if (row.to === "ignored") return false;
  it.phase = row.to;
  return true;
}
