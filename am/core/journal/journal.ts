import { Bounds } from "../state/bounds.ts";
import type { CoreState } from "../state/state.ts";
import { emit, log, noteDurable, type Step } from "../state/step.ts";
import { isAwaited, nextSequence } from "./barrier.ts";
import { forgetPart, trialsToWrite, type WrittenTrials } from "./ended-trials.ts";
import { type Durable, durablePart } from "./fields.ts";

/** Raised when an older reader could misunderstand a snapshot. */
export const JOURNAL_VERSION = 9;

/** What must outlive this ApplicationMaster: everything except what the next one hears again from YARN and the executors. */
export interface Snapshot extends Durable, Pick<WrittenTrials, "parts" | "over"> {
  readonly journalVersion: typeof JOURNAL_VERSION;
  readonly sequence: number;
  /** By the clock of the machine that wrote it. */
  readonly writtenAtMs: number;
}

/**
 * Whether a journal's content is a snapshot of this job that this version can read. It was written whole, and its reader has checked
 * it.
 */
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
 * Hands out a snapshot when something durable has changed: one at a time, the latest wins, with a pause between two, so that a whole
 * gang's registration costs a few writes. What waits for a snapshot does not wait for the pause. After the snapshot with the outcome
 * only what may change that outcome is written: a later attempt finishes what is decided, and the folder is about to be removed.
 */
export function writeJournal(step: Step): void {
  const { state } = step;
  const { journal } = state;
  if (!isWanted(state) || (step.nowMs < writableAtMs(state) && (journal.failure !== "" || !isAwaited(state)))) {
    return;
  }
  const sequence = nextSequence(state);
  journal.dirty = false;
  journal.sequence = sequence;
  journal.inFlight = sequence;
  journal.writtenAtMs = step.nowMs;
  const head = { journalVersion: JOURNAL_VERSION, sequence, writtenAtMs: step.nowMs };
  const { written, part } = trialsToWrite(step, sequence);
  const snapshot = step.textOf({ ...head, ...durablePart(state), ...written });
  emit(step, { type: "journal", sequence, snapshot, ...(part && { part: step.textOf(part) }) });
}

/** When the changes are written if nothing waits for them; undefined while there is nothing to write. */
export function journalDueMs({ state }: Step): number | undefined {
  return isWanted(state) ? writableAtMs(state) : undefined;
}

function isWanted(state: CoreState): boolean {
  const { journal, phase } = state;
  const isEmpty = state.lastGeneration === 0 && state.outcome === undefined;
  return journal.dirty && journal.inFlight === 0 && !isComplete(state) && phase !== "over" && !isEmpty;
}

/** The outcome is durable, and nothing waits that may change it. */
function isComplete(state: CoreState): boolean {
  return isOutcomeDurable(state) && Object.values(state.held).every(({ what }) => what !== "transfer");
}

function writableAtMs({ journal }: CoreState): number {
  return journal.writtenAtMs + (journal.failure === "" ? Bounds.journalSpacingMs : Bounds.journalRetryMs);
}

/** The outcome is decided, and nothing waits for the snapshot that holds it. */
export function isOutcomeDurable({ outcome, held }: CoreState): boolean {
  return outcome !== undefined && Object.values(held).every(({ what }) => what !== "end");
}

export function journalWritten(step: Step, sequence: number): void {
  const { journal } = step.state;
  if (sequence !== journal.inFlight) {
    return;
  }
  journal.inFlight = 0;
  journal.durableSequence = sequence;
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
  forgetPart(step, sequence);
  noteDurable(step);
  if (journal.failure === "") {
    journal.failingSinceMs = step.nowMs;
    log(step, "warn", "journal-failed", `The journal cannot be written, new generations wait for it: ${message}`);
  }
  journal.failure = message;
  step.changed = true;
}
