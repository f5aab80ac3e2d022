import { endedBecause } from "../../src/job/outcome.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { repeatAsks, updateAsks } from "./containers/asks.ts";
import { countContainerTime } from "./containers/container-time.ts";
import { containersAllocated } from "./containers/containers.ts";
import { leavingNodes } from "./containers/kept-off.ts";
import { headroomChanged, nodesChanged, preemptionNotice, serviceAnnounced } from "./containers/notices.ts";
import { transferred } from "./containers/transfers.ts";
import { nodesLeave } from "./executors/departures.ts";
import { launchFailed, launchSucceeded } from "./executors/launches.ts";
import { executorLost } from "./executors/links.ts";
import { childPlace } from "./executors/places.ts";
import { childExited, childStarted } from "./executors/programs.ts";
import { childProgress } from "./executors/progress.ts";
import { executorRegistered } from "./executors/registration.ts";
import { executorHeard } from "./executors/silence.ts";
import { containerCompleted } from "./failures/losses.ts";
import { noteValue } from "./failures/trial-failures.ts";
import { closeVerdicts } from "./failures/verdict.ts";
import { watchRest } from "./gang/completeness.ts";
import { sendPrepare, startGang, startTask, startWhenReady } from "./gang/generation.ts";
import { watchHold, watchRoom } from "./gang/hold.ts";
import { continueRestart } from "./gang/restart.ts";
import { beginStages, beginTrials, serveFromKept, succeedStages, succeedTask } from "./gang/stages.ts";
import { dropCheckpoints, removeCheckpoints } from "./gang/trial-checkpoints.ts";
import { stopTrial } from "./gang/trial-stops.ts";
import { chooseParameters, promoteTrials, trialProposed } from "./gang/trials.ts";
import { registered } from "./job/begin.ts";
import { askUnplaced, constraintsRefused } from "./job/constrained.ts";
import { finishWhenDone } from "./job/done.ts";
import { awaitsJournal, isEarly } from "./job/early.ts";
import { carryOutEnd, continueFinish, finish, shutDown, unregistered } from "./job/finish.ts";
import { watchGroups } from "./job/group-limits.ts";
import { recovered, recoveredLate } from "./job/recovery.ts";
import { finishAtGoal, proposalsFailed } from "./job/search-end.ts";
import { askTooLarge } from "./job/too-large.ts";
import { takeDurable } from "./journal/barrier.ts";
import { journalFailed, journalWritten, writeJournal } from "./journal/journal.ts";
import { isOfTasks, leadOfGang } from "./policies/trials.ts";
import { notePause } from "./state/deadlines.ts";
import type { Effect } from "./state/effects.ts";
import type { Event } from "./state/events.ts";
import { initialState } from "./state/initial-state.ts";
import type { CoreState, Held, Identity } from "./state/state.ts";
import { begunGangs, type Defects, findTask, newStep, type Step } from "./state/step.ts";
import { askForWakeUp, wakeUp } from "./wake-up.ts";

/** The decisions of one job: events go in, effects come out. */
export interface Core {
  /** Deterministic: no I/O, clock or randomness. Effects must be carried out in their order; their results come back as events. */
  step(event: Event, nowMs: number): Effect[];
  /** Plain data, owned and changed by the core; others only read it. */
  readonly state: CoreState;
  readonly spec: JobSpec;
}

export interface CoreOptions {
  /** The state of another core, from which this one goes on. */
  readonly state?: CoreState;
  /** What happens when the core finds a defect in itself; by default it throws. */
  readonly defects?: Defects;
  /** A snapshot of the journal as text: all of it, unless its reader needs less. */
  readonly textOf?: Step["textOf"];
}

/**
 *    the job:  starting ──────────────► under-way ──────────────────► finishing ─────────────────────────► over
 *                  am-registered            all gangs done, no budget,    journaling → stopping →
 *                  (later attempt:          stop, time                    unregistering
 *                   recovered)
 *
 *    a gang:   ahead ──► gathering ──► running ──► done       once the job finishes: over
 *            those before    ▲  every task  │  tracked tasks done
 *            it are done     │  registered, │
 *                            │  spec pushed │ task failed
 *        all programs        │              ▼
 *        stopped             └─ restarting ◄─ ending
 *                                 the next generation is open
 *
 *    a task:   waiting → allocated → launched → registered → starting → running → succeeded | failed
 *                 ▲                                 ▲                      ├──► stopping → stopped
 *                 │ container lost                  │ executor healthy     └──► lost
 *                 └── next generation ── preparing ─┘
 *
 * Every move is in docs/states.md, made from the tables in state/.
 *
 * A core that goes on from another one's `state`, written as JSON and read back, decides what that one would have decided.
 *
 * Every event is first noted by its own handler; `settle` then draws the consequences for the job as a whole, so that no handler needs
 * to know what else its change makes possible.
 */
export function createCore(spec: JobSpec, identity: Identity, options: CoreOptions = {}): Core {
  const { state = initialState(spec, identity), defects = "throw", textOf } = options;
  const step = newStep(spec, identity, state, defects, textOf);
  return {
    spec,
    state,
    step(event, nowMs) {
      if (state.phase === "over") {
        return [];
      }
      countContainerTime(step, nowMs);
      step.nowMs = nowMs;
      step.effects = [];
      step.changed = false;
      step.roomChanged = false;
      hear(step, event);
      settle(step);
      if (step.changed) {
        step.effects.push({ type: "publish-status" });
      }
      return step.effects;
    },
  };
}

/** An event that came too early waits, and is handled later in its order. */
function hear(step: Step, event: Event): void {
  if (isEarly(step, event)) {
    step.state.early.push(event);
    return;
  }
  const early = event.type === "recovered" ? step.state.early.splice(0) : [];
  note(step, event);
  for (const one of early) {
    note(step, one);
  }
}

function note(step: Step, event: Event): void {
  switch (event.type) {
    case "am-registered":
      registered(step, event);
      break;
    case "recovered":
      recovered(step, event);
      nodesLeave(step, leavingNodes(step));
      break;
    case "containers-recovered-late":
      recoveredLate(step, event.containers);
      break;
    case "nodes-changed":
      nodesChanged(step, event.nodes);
      if (!awaitsJournal(step)) {
        nodesLeave(step, event.nodes);
      }
      break;
    case "headroom-changed":
      headroomChanged(step, event.available);
      break;
    case "containers-allocated":
      containersAllocated(step, event.containers);
      break;
    case "container-completed":
      containerCompleted(step, event);
      dropCheckpoints(step);
      break;
    case "preemption-notice":
      preemptionNotice(step, event);
      break;
    case "launch-succeeded":
      launchSucceeded(step, event.containerId);
      break;
    case "launch-failed":
      launchFailed(step, event);
      break;
    case "executor-registered":
      executorRegistered(step, event);
      break;
    case "executor-silent":
    case "executor-back":
      executorHeard(step, event);
      break;
    case "executor-lost":
      executorLost(step, event);
      break;
    case "child-started":
      childStarted(step, event);
      break;
    case "child-exited":
      childExited(step, event);
      break;
    case "child-progress":
      childProgress(step, event);
      break;
    case "child-place":
      childPlace(step, event);
      break;
    case "transfer":
      transferred(step, event);
      break;
    case "service-announced":
      serviceAnnounced(step, event);
      break;
    case "wake-up":
      wakeUp(step);
      break;
    case "paused":
      notePause(step);
      break;
    case "stop-requested":
      finish(step, endedBecause("killed", { code: "stop-requested", words: event.reason }));
      break;
    case "trial-proposed":
      trialProposed(step, event);
      break;
    case "proposals-failed":
      proposalsFailed(step, event);
      break;
    case "resource-manager-resynced":
      repeatAsks(step);
      break;
    case "resource-manager-shutdown":
      shutDown(step, event.reason);
      break;
    case "ask-refused":
      finish(step, endedBecause("failed", { code: "ask-refused", message: event.message }));
      break;
    case "constraints-refused":
      constraintsRefused(step, event.message);
      break;
    case "ask-unplaced":
      askUnplaced(step, event);
      break;
    case "ask-too-large":
      askTooLarge(step, event);
      break;
    case "journal-written":
      journalWritten(step, event.sequence);
      break;
    case "journal-failed":
      journalFailed(step, event.sequence, event.message);
      break;
    case "unregistered":
      unregistered(step, event.isPutDown);
      break;
  }
}

/** What waited for the journal is now written there. */
function happen(step: Step, held: Held): void {
  switch (held.what) {
    case "prepare":
      sendPrepare(step, held);
      break;
    case "start-task":
      startTask(step, held);
      break;
    case "start-gang":
      startGang(step, held);
      break;
    case "stop-trial":
      stopTrial(step, held);
      break;
    case "task-done":
      noteValue(step, findTask(step, held.task));
      succeedTask(step, held.task);
      break;
    case "drop-checkpoints":
      removeCheckpoints(step, held.task);
      break;
    case "stage-done":
      noteValue(step, leadOfGang(step, { position: held.gang }));
      beginStages(step);
      succeedStages(step);
      break;
    case "end":
      carryOutEnd(step);
      break;
    case "transfer":
      // `continueFinish` waits for it.
      break;
  }
}

function settle(step: Step): void {
  if (step.state.phase === "over") {
    return;
  }
  for (const gang of begunGangs(step)) {
    closeVerdicts(step, gang);
    continueRestart(step, gang);
  }
  if (step.state.phase === "under-way") {
    watchGroups(step);
    finishAtGoal(step);
    finishWhenDone(step);
    succeedStages(step);
  }
  for (const gang of begunGangs(step)) {
    watchRest(step, gang);
    startWhenReady(step, gang);
  }
  chooseParameters(step);
  for (const held of takeDurable(step)) {
    happen(step, held);
  }
  if (isOfTasks(step)) {
    promoteTrials(step);
  } else {
    beginTrials(step);
  }
  serveFromKept(step);
  continueFinish(step);
  for (const gang of begunGangs(step)) {
    if (step.roomChanged) {
      watchRoom(step, gang);
    }
    watchHold(step, gang);
  }
  updateAsks(step);
  writeJournal(step);
  askForWakeUp(step);
}
