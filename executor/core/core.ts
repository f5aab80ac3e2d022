import { absenceDeadlines, looked } from "./absence.ts";
import type { Effect } from "./effects.ts";
import type { Event } from "./events.ts";
import { programEnded, programStarted } from "./isolation.ts";
import { begin, called, close, ended, found, hear, linkDeadlines } from "./link.ts";
import type { AbsenceLimits, MasterAddress } from "./master.ts";
import { registerAgain } from "./register.ts";
import { type ExecutorState, initialState } from "./state.ts";
import type { Moment, Step } from "./step.ts";

/** An executor's decisions. A core made from the state of another decides the same. */
export interface ExecutorCore {
  readonly state: ExecutorState;
  step(event: Event, moment: Moment): readonly Effect[];
  /** When it is to be woken; undefined: nothing is awaited. */
  readonly wakeAtMs: number | undefined;
}

export function createExecutorCore(master: MasterAddress, limits: AbsenceLimits): ExecutorCore {
  return executorCoreOf(initialState(master, limits));
}

export function executorCoreOf(state: ExecutorState): ExecutorCore {
  return {
    state,
    step: (event, moment) => {
      const step: Step = { state, effects: [], ...moment };
      decide(step, event);
      return step.effects;
    },
    get wakeAtMs() {
      return firstDeadline(state)?.[0];
    },
  };
}

function decide(step: Step, event: Event): void {
  const { state } = step;
  // Whatever it still hears is about a job that goes on without it.
  if (state.link.phase === "closed") return;
  switch (event.type) {
    case "begun":
      begin(step);
      break;
    case "woken":
      wakeUp(step);
      break;
    case "message":
      hear(step, event);
      break;
    case "ended":
      ended(step, event.connection, event.cause);
      break;
    case "called":
      called(step, event.master);
      break;
    case "looked": {
      const master = looked(step, event.absence, event.news);
      if (master !== undefined) found(step, master);
      break;
    }
    case "limits":
      state.limits = event.limits;
      break;
    case "changed":
      registerAgain(step);
      break;
    case "program-started":
      programStarted(step, event.generation);
      break;
    case "program-ended":
      programEnded(step, event.generation);
      break;
    case "ending":
      state.isEnding = true;
      break;
    case "closing":
      close(step);
      break;
  }
}

type Due = [number, (step: Step) => void];

/** The earliest deadline; of two at the same time the one listed first. */
function firstDeadline(state: ExecutorState): Due | undefined {
  return [...linkDeadlines(state), ...absenceDeadlines(state)]
    .filter((one): one is Due => one[0] !== undefined)
    .reduce<Due | undefined>((first, one) => (first === undefined || one[0] < first[0] ? one : first), undefined);
}

/** Handles what is due in the order of its time: a deadline that an earlier one cancels is not due any more. */
function wakeUp(step: Step): void {
  for (
    let due = firstDeadline(step.state);
    due !== undefined && due[0] <= step.nowMs;
    due = firstDeadline(step.state)
  ) {
    due[1](step);
  }
}
