import type { AbsenceLimits, MasterAddress } from "./master.ts";

/** Where the executor stands with its ApplicationMaster. */
export type LinkPhase = "searching" | "connected" | "closed";

/** A stream, by the number that it was opened with. */
export interface Connection {
  readonly id: number;
  readonly target: MasterAddress;
}

/** A stream that is not welcomed yet. */
export interface Trying extends Connection {
  /** It goes to the candidate. */
  readonly isCandidates: boolean;
  readonly giveUpAtMs: number;
}

export interface LinkState {
  phase: LinkPhase;
  /** The attempt that is obeyed, and its address. */
  current: MasterAddress;
  /** The reported address of a later attempt; it becomes the current one when it welcomes the executor. */
  candidate?: MasterAddress | undefined;
  /** Set while the phase is `connected`. */
  active?: Connection | undefined;
  trying?: Trying | undefined;
  failures: number;
  candidateFailures: number;
  /** When it connects again. */
  connectAtMs?: number | undefined;
  /** How many were opened. */
  connections: number;
}

/** While no ApplicationMaster is connected; each deadline is absent while nothing is awaited. */
export interface AbsenceState {
  readonly sinceMs: number;
  /** When an ApplicationMaster or the staging folder was last reached, or may have been. */
  heardAtMs: number;
  isolatedAtMs?: number | undefined;
  orphanedAtMs?: number | undefined;
  lookAtMs?: number | undefined;
  /** When the look under way began. */
  lookedAtMs?: number | undefined;
}

/** Whether programs may run and files be uploaded. */
export type IsolationPhase = "reached" | "isolated" | "ordered";

/** The suspension of one generation's program. */
export interface ProgramState {
  readonly generation: number;
  runs: boolean;
  suspendedAtMs?: number | undefined;
  /** Earlier suspensions, as far as the ApplicationMaster has not been told of them. */
  suspendedMs: number;
}

/** Everything that a later decision depends on, as plain JSON. Times are those of a clock that never runs backwards. */
export interface ExecutorState {
  limits: AbsenceLimits;
  link: LinkState;
  absence?: AbsenceState | undefined;
  /** How many absences there were: results of an earlier one are ignored. */
  absences: number;
  readonly isolation: { phase: IsolationPhase };
  /** Running programs, and the last one. */
  programs: ProgramState[];
  /** The executor ends: nothing is obeyed any more. */
  isEnding: boolean;
}

export function initialState(master: MasterAddress, limits: AbsenceLimits): ExecutorState {
  const link = { phase: "searching", current: master, failures: 0, candidateFailures: 0, connections: 0 } as const;
  return { limits, link, absences: 0, isolation: { phase: "reached" }, programs: [], isEnding: false };
}
