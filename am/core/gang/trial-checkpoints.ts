import { keyWords } from "../../../src/job/reasons/words.ts";
import { surplusTrials } from "../../../src/job/search/kept-checkpoints.ts";
import { whenDurable } from "../journal/barrier.ts";
import { begun, trialOf } from "../policies/trials.ts";
import type { TaskRecord } from "../state/records.ts";
import { emit, findTask, gangOf, log, noteDurable, type Step, tasksOf } from "../state/step.ts";

/**
 * Stored checkpoints are removed once nobody needs them: those of trials that have ended for good and are not among the best. By then such
 * a trial has no container left that could still store a checkpoint or report a value, and the journal knows before they are removed. What
 * is left at the end of a search is removed when everything has stopped.
 */
export function dropCheckpoints(step: Step): void {
  const { search, carrier } = step.spec;
  if (search?.keepCheckpoints === undefined || carrier?.checkpoints === undefined) {
    return;
  }
  const { outcome, finish } = step.state;
  const trials = begun(step);
  for (const number of surplusTrials(search, trials.map(trialOf), outcome?.reason.code === "trials-ended")) {
    const lead = trials[number];
    const isFinal = outcome === undefined ? lead && !hasContainer(step, lead) : finish === "unregistering";
    if (lead !== undefined && lead.checkpointsDropped === undefined && isFinal) {
      drop(step, lead, number);
    }
  }
}

function drop(step: Step, lead: TaskRecord, number: number): void {
  lead.checkpointsDropped = true;
  delete lead.checkpoint;
  if (step.spec.trials !== undefined) {
    gangOf(step, lead).checkpoint = undefined;
  }
  // The trial may have been written beside the snapshots.
  delete step.state.journal.apart[number];
  noteDurable(step);
  step.changed = true;
  if (step.state.outcome === undefined) {
    whenDurable(step, { what: "drop-checkpoints", task: lead.id });
  }
  const why = `trials that are kept are better (${keyWords(step, "tony.search.keep-checkpoints")})`;
  log(step, "info", "checkpoints-dropped", `The checkpoints of ${lead.id} are removed: ${why}.`, { task: lead.id });
}

/** The journal knows. */
export function removeCheckpoints(step: Step, id: string): void {
  const lead = findTask(step, id);
  if (lead?.checkpointsDropped !== undefined) {
    emit(step, { type: "remove-checkpoints", tasks: tasksOfTrial(step, lead) });
  }
}

/** An earlier attempt may have died before it had removed them. */
export function removeCheckpointsAgain(step: Step): void {
  const tasks = droppedTasks(step);
  if (tasks.length > 0) {
    emit(step, { type: "remove-checkpoints", tasks });
  }
}

/** The tasks whose checkpoints nobody needs any more. */
export function droppedTasks(job: Pick<Step, "spec" | "state">): string[] {
  return begun(job).flatMap((lead) => (lead.checkpointsDropped === undefined ? [] : tasksOfTrial(job, lead)));
}

function tasksOfTrial(job: Pick<Step, "spec" | "state">, lead: TaskRecord): string[] {
  return job.spec.trials === undefined ? [lead.id] : tasksOf(job, gangOf(job, lead)).map(({ id }) => id);
}

function hasContainer({ spec, state }: Step, { id, role }: TaskRecord): boolean {
  const gang = state.roles[role]?.gang;
  return Object.values(state.containers).some((one) =>
    spec.trials === undefined ? one.task === id : state.roles[one.role]?.gang === gang,
  );
}
