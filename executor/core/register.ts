import { emit, type Step } from "./step.ts";

/** Registers on all open streams. */
export function registerAgain(step: Step): void {
  const { active, trying } = step.state.link;
  for (const connection of [active, trying]) {
    if (connection !== undefined) emit(step, { type: "register", connection: connection.id });
  }
}
