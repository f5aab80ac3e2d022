import type { Held } from "../state/state.ts";
import type { Step } from "../state/step.ts";

type Without<T> = T extends unknown ? Omit<T, "sequence"> : never;

/**
 * The one barrier before what must not happen until the journal holds the decision: it waits in the state for the snapshot that has it,
 * by default the next one. A later attempt finds it there, and repeats what may not have happened.
 */
export function whenDurable({ state }: Step, held: Without<Held>, sequence?: number): void {
  if (sequence === undefined) {
    state.journal.dirty = true;
  }
  state.held = state.held.filter((other) => !isSame(held, other));
  state.held.push({ ...held, sequence: sequence ?? nextSequence(state) });
}

/** Something that waits, by what it is and whose. */
type Named = { readonly what: Held["what"]; readonly task?: string; readonly gang?: number };

/** The same step of the same task or gang: what was decided last counts. */
function isSame(held: Named, other: Named): boolean {
  return held.what === other.what && held.task === other.task && held.gang === other.gang;
}

/** Number of the first snapshot that holds what is decided now. */
export function nextSequence({ journal }: Step["state"]): number {
  return journal.sequence + 1;
}

/** Takes out what need not wait any more, oldest first. */
export function takeDurable({ state }: Step): Held[] {
  const { durableSequence } = state.journal;
  const durable = state.held.filter(({ sequence }) => sequence <= durableSequence);
  if (durable.length > 0) {
    state.held = state.held.filter(({ sequence }) => sequence > durableSequence);
  }
  return durable;
}

/** It is not to happen any more, and a later attempt must not believe it did. */
export function withdraw({ state }: Step, named: Named): void {
  const left = state.held.filter((held) => !isSame(named, held));
  if (left.length < state.held.length) {
    state.held = left;
    state.journal.dirty = true;
  }
}

/** Something waits for a snapshot that was not handed out yet. */
export function isAwaited({ held, journal }: Step["state"]): boolean {
  return held.some(({ sequence }) => sequence > journal.sequence);
}
