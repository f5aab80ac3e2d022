import type { ExecutorCore } from "../../executor/core/core.ts";
import type { Effect } from "../../executor/core/effects.ts";
import type { ExecutorState } from "../../executor/core/state.ts";

/** An executor that loses its ApplicationMaster after it had one tries again at once. */
const FIRST_PAUSE_MS = 100;

/** What must hold after every step of an executor's core. */
export class ExecutorWatch {
  readonly #core: ExecutorCore;
  readonly #task: string;
  /** The last attempt that was obeyed. */
  #attempt = 0;

  constructor(core: ExecutorCore, task: string) {
    this.#core = core;
    this.#task = task;
  }

  /**
   * @param open the streams that are not over
   * @returns what went wrong, in words
   */
  check(effects: readonly Effect[], nowMs: number, open: readonly number[]): string[] {
    const { state } = this.#core;
    const { attempt } = state.link.current;
    const before = this.#attempt;
    this.#attempt = Math.max(before, attempt);
    return [
      attempt < before && `obeys attempt ${attempt} after ${before}`,
      ...open.map((id) => !isKnown(state, id) && `has a stream open that it does not know, ${id}`),
      !awaitsSomething(state) && "searches for no ApplicationMaster, and none is connected",
      !isLookedFor(state) && "does not look into the staging folder again",
      state.link.phase === "connected" && state.absence !== undefined && "is absent while it is connected",
      !beginsAfresh(effects, state, nowMs) && "begins its search with the pauses of an earlier one",
      !suspendsRightly(state) && "suspends a program that may run, or lets one run that may not",
      state.link.phase === "closed" && this.#core.wakeAtMs !== undefined && "awaits something after its end",
    ].flatMap((problem) => (problem === false ? [] : [`the executor of ${this.#task} ${problem}`]));
  }
}

function isKnown({ link }: ExecutorState, id: number): boolean {
  return link.active?.id === id || link.trying?.id === id;
}

function awaitsSomething({ link }: ExecutorState): boolean {
  return link.phase !== "searching" || link.trying !== undefined || link.connectAtMs !== undefined;
}

/** Once it was told that its task lives on elsewhere, its state has no absence any more. */
function isLookedFor({ absence }: ExecutorState): boolean {
  return absence === undefined || absence.lookAtMs !== undefined || absence.lookedAtMs !== undefined;
}

function beginsAfresh(effects: readonly Effect[], { link }: ExecutorState, nowMs: number): boolean {
  const isLost = effects.some(({ type }) => type === "left");
  return !isLost || link.connectAtMs === undefined || link.connectAtMs <= nowMs + FIRST_PAUSE_MS;
}

/** In the phase `ordered` a suspended program waits for an order of its own. */
function suspendsRightly({ isolation: { phase }, programs }: ExecutorState): boolean {
  return programs.every(({ runs, suspendedAtMs }) => {
    const isSuspended = suspendedAtMs !== undefined;
    return runs && phase !== "reached" ? isSuspended || phase === "ordered" : !isSuspended;
  });
}
