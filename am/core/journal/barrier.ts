import type { Held } from "../state/state.ts";
import { noteDurable, type Step } from "../state/step.ts";

type Without<T> = T extends unknown ? Omit<T, "sequence"> : never;

/**
 * The single barrier before anything that must not happen until the journal holds the decision: it waits in the state for the snapshot
 * that holds it, by default the next one. A later attempt finds it there, and repeats what may not have happened.
 */
export function whenDurable(step: Step, held: Without<Held>, sequence?: number): void {
  const { state } = step;
  if (sequence === undefined) {
    noteDurable(step);
  }
  const name = nameOf(held);
  // Deleted first, so that what is decided anew becomes the latest.
  delete state.held[name];
  state.held[name] = { ...held, sequence: sequence ?? nextSequence(state) };
}

/** Identifies something that waits: what it is, and whose. */
type Named = { readonly what: Held["what"]; readonly task?: string; readonly gang?: number };

/** The same name for the same step of the same task or gang: the last decision counts. */
function nameOf({ what, task, gang }: Named): string {
  return `${what} ${task ?? gang ?? ""}`;
}

/** What waits under that name, if anything does. */
export function waiting({ state }: Step, named: Named): Held | undefined {
  return state.held[nameOf(named)];
}

/** Number of the first snapshot that holds what is decided now. */
export function nextSequence({ journal }: Step["state"]): number {
  return journal.sequence + 1;
}

/** Takes out what need not wait any more, oldest first. */
export function takeDurable({ state }: Step): Held[] {
  const durable = Object.values(state.held).filter(({ sequence }) => sequence <= state.journal.durableSequence);
  for (const held of durable) {
    delete state.held[nameOf(held)];
  }
  return durable;
}

/** It is no longer to happen, and a later attempt must not believe that it did. */
export function withdraw(step: Step, named: Named): void {
  const { state } = step;
  const name = nameOf(named);
  if (state.held[name] !== undefined) {
    delete state.held[name];
    noteDurable(step);
  }
}

/** Whether something waits for a snapshot that has not been handed out yet. */
export function isAwaited({ held, journal }: Step["state"]): boolean {
  return Object.values(held).some(({ sequence }) => sequence > journal.sequence);
}
