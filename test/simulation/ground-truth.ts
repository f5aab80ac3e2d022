import type { Effect } from "../../am/core/state/effects.ts";
import { inTrial } from "../../src/job/search/trial-tasks.ts";
import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import { isOneStage } from "../../src/job/stages.ts";
import { parseTaskId } from "../../src/job/task.ts";
import type { ExecutorModel } from "./executor-model.ts";
import type { JournalStore } from "./journal-store.ts";
import type { World } from "./world.ts";

/** What must hold in the world itself at every moment, whatever the core believes. */

/** Nothing that a later attempt must know is done before the journal holds it. */
export function checkDurability(journal: JournalStore, effects: readonly Effect[]): string[] {
  return effects.flatMap((effect) => {
    if (effect.type !== "send" || (effect.message.type !== "prepare" && effect.message.type !== "start-child")) {
      return [];
    }
    const { type, generation } = effect.message;
    const { lastGeneration } = journal.stored;
    return generation > lastGeneration
      ? [`${effect.to.task} is told to ${type} in generation ${generation}, the journal holds ${lastGeneration}`]
      : [];
  });
}

/** Every container that YARN has given to the ApplicationMaster is either in its state or was given back. */
export function checkContainers({ application, core, master }: World): string[] {
  if (master.isUnheard) {
    return [];
  }
  const problems: string[] = [];
  for (const [id, { state, surrendered }] of application.containers) {
    const isOurs = (state === "delivered" || state === "running") && !application.hidden.has(id);
    if (isOurs && !surrendered && core.state.containers[id] === undefined) {
      problems.push(`container ${id} is leaked: YARN has it, the core knows nothing of it`);
    }
  }
  return problems;
}

/** Whether the program lives and restarts with the others of its stage. */
export function isInGang({ spec, witness }: World, { task }: ExecutorModel): boolean {
  const role = memberRole(spec, task);
  return role !== undefined && !(role.tracking === "untracked" && witness.mayBeDone(role, trialOf(spec, task)));
}

/** The number of the task's trial; 0 where trials are not gangs. */
export function trialOf(spec: JobSpec, task: string): number {
  const name = parseTaskId(task);
  return spec.trials === undefined || name === undefined ? 0 : inTrial(spec, name).number;
}

/**
 * Whether the program is in its gang and its end is the gang's end. In an elastic role this holds for the first task
 * alone.
 */
export function holdsGang(world: World, executor: ExecutorModel): boolean {
  return isInGang(world, executor) && !isJoiner(world.spec, executor.task);
}

/** The elastic role of a task: its tasks meet at the first one, and the others come and go. */
export function elasticRole(spec: JobSpec, task: string): RoleSpec | undefined {
  const role = memberRole(spec, task);
  return role?.minInstances === undefined ? undefined : role;
}

/** Whether the other tasks of its role go on without this one. */
export function isJoiner(spec: JobSpec, task: string): boolean {
  return elasticRole(spec, task) !== undefined && parseTaskId(task)?.index !== 0;
}

/** The role of a task that restarts with its gang as long as the gang is not done; undefined for any other task. */
export function memberRole({ roles, distributedMode }: JobSpec, task: string): RoleSpec | undefined {
  const role = roles.find(({ name }) => task.startsWith(`${name}:`));
  const isMember = role?.restartPolicy === "gang" && role.tracking !== "sidecar" && distributedMode === "gang";
  return isMember ? role : undefined;
}

/** Whether two programs live and restart together. */
export function areOneGang(world: World, executor: ExecutorModel, other: ExecutorModel): boolean {
  const [one = "", another = ""] = [executor, other].map(({ task }) => parseTaskId(task)?.role);
  const together = isInGang(world, executor) && isInGang(world, other);
  const isOneTrial = trialOf(world.spec, executor.task) === trialOf(world.spec, other.task);
  return together && isOneTrial && isOneStage(world.spec.roles, one, another);
}
