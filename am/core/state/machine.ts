import { type Machine, type Row as MachineRow, rowOf } from "../../../src/moves.ts";
import { defect, noteDurable, type Step } from "./step.ts";

/** A row that also says whether the journal holds the move. */
export type Row<Phase extends string> = MachineRow<Phase> & { readonly durable: boolean };

/**
 * The next phase; undefined where it stays. A move that the table does not have is a defect of ours: it throws in tests and simulation; in
 * production it is logged once and changes nothing.
 */
export function nextPhase<Phase extends string, On extends string>(
  step: Step,
  table: Machine<Phase, On>,
  it: { readonly id: string; readonly phase: Phase },
  on: On,
): Phase | undefined {
  const row = rowOf(table, it.phase, on);
  if (row === undefined) {
    defect(step, `The table of ${table.name} has no row for ${on} in ${it.phase}`, it.id);
    return undefined;
  }
  if (row.to === "ignored") {
    return undefined;
  }
  if (row.durable) {
    noteDurable(step);
  }
  return row.to;
}

/**
 * Moves something that has a phase.
 * @param id by which people know it
 * @returns the next phase; undefined where it stays
 */
export function follow<Phase extends string, On extends string>(
  step: Step,
  table: Machine<Phase, On>,
  it: { phase: Phase },
  id: string,
  on: On,
): Phase | undefined {
  const to = nextPhase(step, table, { id, phase: it.phase }, on);
  it.phase = to ?? it.phase;
  return to;
}
