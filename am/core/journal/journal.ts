import type { CoreState } from "../state/state.ts";
import { emit, log, type Step } from "../state/step.ts";
import { Bounds, setTimer } from "../state/timers.ts";

/** Raised when an older reader could misunderstand a snapshot. */
export const JOURNAL_VERSION = 1;

/** What must outlive this ApplicationMaster: everything but what the next one hears again from YARN and the executors. */
export interface Snapshot
  extends Omit<
    CoreState,
    "nodes" | "headroom" | "maximum" | "counted" | "resourceTypes" | "early" | "ended" | "journal" | "unclaimed"
  > {
  readonly journalVersion: typeof JOURNAL_VERSION;
  readonly sequence: number;
}

/** Whether a journal's content is a snapshot of this job that we can read; it was written whole and checked by its reader. */
export function isSnapshot(value: unknown, applicationId: string): value is Snapshot {
  return (
    typeof value === "object" &&
    value !== null &&
    "journalVersion" in value &&
    value.journalVersion === JOURNAL_VERSION &&
    "applicationId" in value &&
    value.applicationId === applicationId
  );
}

/**
 * Hands out a snapshot when something durable changed: one at a time, the latest wins, with a pause between two, so that a whole gang's
 * registration costs a few writes. An outcome does not wait for the pause, and is the last: a later attempt only finishes what is decided,
 * and the folder is about to go.
 */
export function writeJournal(step: Step): void {
  const { state } = step;
  const { journal } = state;
  if (
    !journal.dirty ||
    journal.inFlight !== 0 ||
    journal.durableOutcome ||
    state.phase === "over" ||
    (state.generation === 0 && state.outcome === undefined)
  ) {
    return;
  }
  const spacingMs = journal.failure === "" ? Bounds.journalSpacingMs : Bounds.journalRetryMs;
  const waitMs = journal.writtenAtMs + spacingMs - step.nowMs;
  const urgent =
    state.startIntended > journal.durableStart ||
    step.registeredAlone.size > 0 ||
    state.lastGeneration > journal.durableGeneration ||
    (state.outcome !== undefined && !journal.durableOutcome);
  if (waitMs > 0 && (journal.failure !== "" || !urgent)) {
    if (!step.timers.has("journal")) {
      setTimer(step, "journal", waitMs);
    }
    return;
  }
  journal.dirty = false;
  journal.sequence++;
  journal.inFlight = journal.sequence;
  journal.writtenAtMs = step.nowMs;
  journal.inFlightGeneration = state.lastGeneration;
  journal.inFlightStart = state.startIntended;
  journal.inFlightOutcome = state.outcome !== undefined;
  emit(step, { type: "journal", sequence: journal.sequence, snapshot: durable(state) });
}

export function journalWritten(step: Step, sequence: number): void {
  const { journal } = step.state;
  if (sequence !== journal.inFlight) {
    return;
  }
  journal.inFlight = 0;
  journal.durableSequence = sequence;
  journal.durableGeneration = journal.inFlightGeneration;
  journal.durableStart = journal.inFlightStart;
  journal.durableOutcome = journal.inFlightOutcome;
  if (journal.failure !== "") {
    journal.failure = "";
    log(step, "info", "journal-back", "The journal can be written again.");
  }
}

/** The job runs on without its journal; only new generations wait for it. */
export function journalFailed(step: Step, sequence: number, message: string): void {
  const { journal } = step.state;
  if (sequence !== journal.inFlight) {
    return;
  }
  journal.inFlight = 0;
  journal.dirty = true;
  if (journal.failure === "") {
    log(step, "warn", "journal-failed", `The journal cannot be written, new generations wait for it: ${message}`);
  }
  journal.failure = message;
  step.changed = true;
}

/** A copy of its own: the state goes on changing while the snapshot is written. */
function durable(state: CoreState): Snapshot {
  const {
    nodes: _nodes,
    headroom: _room,
    maximum: _max,
    counted: _counted,
    resourceTypes: _types,
    early: _early,
    ended: _ended,
    journal,
    unclaimed: _unclaimed,
    ...rest
  } = state;
  return {
    ...rest,
    journalVersion: JOURNAL_VERSION,
    sequence: journal.sequence,
    tasks: state.tasks.map((task) => ({ ...task })),
    roles: state.roles.map((role) => ({ ...role, counts: { ...role.counts } })),
    containers: copyEach(state.containers),
    blame: copyEach(state.blame),
    unfetched: { ...state.unfetched },
    verdicts: state.verdicts.map((verdict) => ({
      ...verdict,
      endings: { ...verdict.endings },
      lives: { ...verdict.lives },
      unaccounted: { ...verdict.unaccounted },
    })),
    tolerated: [...state.tolerated],
    generations: state.generations.map((generation) => ({ ...generation })),
    used: { ...state.used },
    services: state.services.map((service) => ({ ...service })),
    gang: { ...state.gang },
    usage: { ...state.usage },
  };
}

function copyEach<T extends object>(records: Readonly<Record<string, T>>): Record<string, T> {
  const copies: Record<string, T> = {};
  for (const [key, value] of Object.entries(records)) {
    copies[key] = { ...value };
  }
  return copies;
}
