import { countTasks } from "../../../src/job/spec.ts";
import { haltOf } from "../policies/trials.ts";
import type { GangState } from "../state/gang.ts";
import type { RoleState, TaskRecord } from "../state/records.ts";
import type { CoreState } from "../state/state.ts";
import { gangOf, type Step } from "../state/step.ts";
import { AFTER_END } from "../state/task-moves.ts";
import { waiting } from "./barrier.ts";

/** The number of files beside the journal that hold ended trials at most, not counting those of trials that paused and went on. */
const MOST_PARTS = 64;

/** The lists of the state in which a trial has records; a trial of one task has only its task. */
type Lists = Pick<CoreState, "tasks"> & Partial<Pick<CoreState, "gangs" | "roles">>;

/** What a snapshot holds of the trials. */
export interface WrittenTrials extends Lists {
  /** Where the other trials that have ended are: the sequences of their files. */
  readonly parts?: readonly number[];
  /** The tasks of those trials, as runs within their role: its name, and the first and the last index. */
  readonly over?: readonly (readonly [role: string, from: number, to: number])[];
}

/** The records of one trial in the state. */
interface TrialRecords {
  readonly number: number;
  readonly tasks: readonly TaskRecord[];
  readonly roles: readonly RoleState[];
  /** Absent for a trial of a single task. */
  readonly gang?: GangState;
}

/**
 * What a snapshot holds of the trials, and what is written beside it. It leaves out trials that do not run, each of which is written beside it
 * once, unless it goes on after a pause; and trials that have not begun. Of the latter, trials of one task are all like the last one that the
 * snapshot holds; others are as the job's spec has them.
 */
export function trialsToWrite(
  step: Step,
  sequence: number,
): { readonly written: Partial<WrittenTrials>; readonly part?: Lists } {
  const { spec, state } = step;
  if (spec.search === undefined) {
    return { written: {} };
  }
  const { apart } = state.journal;
  const left = trialsLeft(step);
  const ended = left.filter((trial) => isOver(step, trial));
  const part = ended.length < (spec.trials ?? state.tasks.length) / MOST_PARTS ? [] : ended;
  for (const { number } of part) {
    apart[number] = sequence;
  }
  const own = left.filter(({ number }) => apart[number] === undefined);
  const there = spec.trials === undefined ? withoutLike(own, state.tasks.at(-1)) : own;
  const parts = [...new Set(Object.values(apart))].sort((a, b) => a - b);
  const beside = parts.length > 0 && { parts, over: runsOf(step) };
  return { written: { ...listsOf(there), ...beside }, ...(part.length > 0 && { part: listsOf(part) }) };
}

/** The trials of a snapshot, including those that it left out. @param own the trials of a job in which nothing has happened */
export function allTrials(
  { spec, state: own }: Pick<Step, "spec" | "state">,
  { tasks, gangs, roles, outcome }: Pick<CoreState, "tasks" | "gangs" | "roles" | "outcome">,
): Pick<CoreState, "tasks" | "gangs" | "roles"> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  if (spec.trials === undefined) {
    const last = tasks.at(-1);
    const likeLast = (task: TaskRecord) => ({ ...task, ...last, id: task.id, index: task.index });
    return { tasks: own.tasks.map((task) => byId.get(task.id) ?? likeLast(task)), gangs, roles };
  }
  const byPosition = new Map(gangs.map((gang) => [gang.position, gang]));
  const nameOf = ({ name, first }: RoleState) => `${name}:${first}`;
  const byName = new Map(roles.map((role) => [nameOf(role), role]));
  return {
    tasks: own.tasks.map((task) => byId.get(task.id) ?? task),
    gangs: own.gangs.map((one) => {
      const gang = byPosition.get(one.position) ?? one;
      return outcome === undefined ? gang : { ...gang, phase: "over" };
    }),
    roles: own.roles.map((role) => byName.get(nameOf(role)) ?? role),
  };
}

/** The snapshot was not written, nor was the part beside it. */
export function forgetPart({ state }: Step, sequence: number): void {
  const { apart } = state.journal;
  for (const [number, written] of Object.entries(apart)) {
    if (written === sequence) {
      delete apart[number];
    }
  }
}

/** Trials that are not beside a snapshot, or have gone on since; of gangs only those that differ from the job's spec. */
function trialsLeft(step: Step): TrialRecords[] {
  const { spec, state } = step;
  if (spec.trials === undefined) {
    const left = state.tasks.filter((task) => isLeft(step, task.index, AFTER_END.includes(task.phase)));
    return left.map((task) => ({ number: task.index, tasks: [task], roles: [] }));
  }
  const [tasks, roles] = [countTasks({ roles: spec.roles }), spec.roles.length];
  const recordsOf = (gang: GangState): TrialRecords => {
    const { position: number } = gang;
    const ofTrial = <T>(all: readonly T[], each: number) => all.slice(number * each, (number + 1) * each);
    return { number, gang, tasks: ofTrial(state.tasks, tasks), roles: ofTrial(state.roles, roles) };
  };
  const left = state.gangs.filter(({ position, phase }) =>
    isLeft(step, position, phase === "done" || phase === "over"),
  );
  return left.map(recordsOf).filter((trial) => hasBegun(step, trial));
}

/** A trial that was written beside a snapshot and is no longer at rest is written again. */
function isLeft({ state }: Step, number: number, isAtRest: boolean): boolean {
  const { apart } = state.journal;
  if (!isAtRest) {
    delete apart[number];
  }
  return apart[number] === undefined;
}

function listsOf(trials: readonly TrialRecords[]): Lists {
  const tasks = trials.flatMap((trial) => trial.tasks);
  const gangs = trials.flatMap(({ gang = [] }) => gang);
  return gangs.length === 0 ? { tasks } : { tasks, gangs, roles: trials.flatMap(({ roles }) => roles) };
}

/** Whether the trial will not change any more, unless it goes on after a pause. */
function isOver(step: Step, { number, tasks, gang }: TrialRecords): boolean {
  const [lead] = tasks;
  const isAtRest = ({ phase, containerId }: TaskRecord) =>
    AFTER_END.includes(phase) && step.state.containers[containerId] === undefined;
  if (gang !== undefined) {
    // The roles of the first trial hold what is known of all trials' containers.
    const isDone = number > 0 && tasks.some(({ trialOver }) => trialOver) && gang.stopDeadline === undefined;
    return isDone && tasks.every(isAtRest) && waiting(step, { what: "stage-done", gang: gang.position }) === undefined;
  }
  if (lead === undefined) {
    return false;
  }
  const isDone = lead.phase === "succeeded" || haltOf(lead) !== undefined || lead.trialFailure !== undefined;
  // The cause of its last restart may still turn out.
  const isJudged = gangOf(step, lead).verdicts.every(({ scope }) => scope !== lead.id);
  return isDone && isJudged && isAtRest(lead) && waiting(step, { what: "task-done", task: lead.id }) === undefined;
}

/** The trials of one task that have begun, and one more, if there is one, that stands for the remaining ones. */
function withoutLike(trials: readonly TrialRecords[], last: TaskRecord | undefined): readonly TrialRecords[] {
  const begun = trials.findLastIndex(({ tasks }) => tasks.some((task) => last === undefined || !isLike(task, last)));
  return trials.slice(0, begun + 2);
}

/** Whether neither has begun. */
function isLike(task: TaskRecord, last: TaskRecord): boolean {
  const isAhead = ({ phase, trialParameters, host }: TaskRecord) =>
    phase === "waiting" && trialParameters === undefined && host === "";
  const isSame = task.generation === last.generation && task.waitingSinceMs === last.waitingSinceMs;
  return isAhead(task) && isAhead(last) && isSame && task.restarts === last.restarts;
}

/** Whether a trial that is a gang differs from the job's spec. */
function hasBegun({ spec }: Step, { number, gang, tasks, roles }: TrialRecords): boolean {
  const isUntouched = tasks.every(({ trialParameters }) => trialParameters === undefined) && gang?.generation === 0;
  return (
    number === 0 || !isUntouched || roles.some(({ counts }, role) => counts.waiting !== spec.roles[role]?.instances)
  );
}

function runsOf({ state, spec }: Step): [string, number, number][] {
  const runs: [number, number][] = [];
  for (const number of Object.keys(state.journal.apart).map(Number)) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === number - 1) {
      run[1] = number;
    } else {
      runs.push([number, number]);
    }
  }
  return spec.roles.flatMap(({ name, instances }) => {
    const ofTrial = spec.trials === undefined ? 1 : instances;
    return runs.map(([from, to]): [string, number, number] => [name, from * ofTrial, (to + 1) * ofTrial - 1]);
  });
}
