import type { Verdict } from "../../am/core/state/failures.ts";
import type { CoreState } from "../../am/core/state/state.ts";
import type { FailureClass } from "../../src/job/status.ts";
import { parseTaskId } from "../../src/job/task.ts";
import type { Fault } from "./faults/fault.ts";
import { untoldDepartures } from "./judge-machines.ts";
import type { Cause } from "./witness.ts";
import type { World } from "./world.ts";

/**
 * Checks that the budgets' charges match what really happened: at most one for each life that had such a cause and, where nothing hid the
 * cause, at least one for each such life that was followed by another. No program's failure was without consequence.
 */
export function judgeBudgets(world: World, faults: readonly Fault[]): string[] {
  const many = (["program", "infrastructure"] as const).flatMap((of) => judgeCharges(world, faults, of));
  return [...many, ...judgeRoles(world, faults), ...judgeConsequences(world, faults)];
}

/** No failure of one role is charged to another: each role that pays for itself had as many failures as it was charged. */
function judgeRoles(world: World, faults: readonly Fault[]): string[] {
  const charges = world.core.state.gangs.flatMap((gang) => gang.charges);
  return world.spec.roles.flatMap(({ name }) => {
    // As for the whole job: what was still being judged when the outcome was decided stays charged as it was.
    const open = openVerdicts(world.core.state).filter((verdict) => verdict.charged?.role === name);
    const charged = charges.filter(({ role }) => role === name).length - open.length;
    const most = world.witness.mostCharges("program", (task) => task.startsWith(`${name}:`)) + guesses(world, faults);
    return charged > most ? [`${charged} failures are charged to ${name}, whose programs failed ${most} times`] : [];
  });
}

function judgeCharges(world: World, faults: readonly Fault[], of: FailureClass): string[] {
  const { core, witness } = world;
  const charged = chargedTo(of, core.state);
  // What was still being judged when the outcome was decided stays charged as it was, because nothing depends on it any more.
  const counted = charged - openVerdicts(core.state).filter((verdict) => verdict.charged?.class === of).length;
  const causes = witness.causes(of);
  if (counted > witness.mostCharges(of) + guesses(world, faults)) {
    return [`${counted} ${of} failures are counted, ${causes.length} happened: ${causes.map(lifeWords).join(", ")}`];
  }
  // Where no budget was left, nothing was charged and the job failed. A trial that has no restart left fails alone.
  const isJob = world.spec.trials === undefined;
  const isCharged = isJob && world.outcome?.result !== "failed" && isPlain(world, faults);
  const restarted = isCharged ? restartedLives(world, of) : [];
  return charged < restarted.length
    ? [`${charged} ${of} failures are counted, and there were restarts after: ${restarted.map(lifeWords).join(", ")}`]
    : [];
}

/**
 * How many charges may be of the wrong class. A guess is charged for each container whose exit status was not heard: either YARN reported
 * it to an attempt that died before its journal recorded it, or nobody could wait so long for it. The same holds for containers on a node
 * whose leaving no attempt was told of, and for peers lost to an exit with 0 when a node had just been cut off. An executor that could
 * not be told about the next attempt is lost to it without a fault of its own.
 */
export function guesses(world: World, faults: readonly Fault[]): number {
  const untold = untoldDepartures(world);
  const there = [...world.executors.values()].filter(({ container }) => untold.includes(container.node));
  const early = world.witness.causes("program").filter(({ isCertain }) => !isCertain);
  const cut = early.filter(({ generation }) => world.cuts.mayExplain(generation));
  return world.attempts.lostWords + world.unheard.count + there.length + cut.length + unfindable(world, faults);
}

/** How many executors may not have found the next attempt: no call of it reached them, and the staging folder could not be read. */
export function unfindable(world: World, faults: readonly Fault[]): number {
  return isStagingClosed(world, faults) ? world.attempts.vainCalls : 0;
}

export function isStagingClosed({ journal }: World, faults: readonly Fault[]): boolean {
  return journal.wasTorn || faults.some(({ closesStaging }) => closesStaging === true);
}

/** The causes of this class whose gang certainly ended by them, and by nothing else. */
function restartedLives({ core, witness }: World, of: FailureClass): readonly Cause[] {
  const isOpen = (one: number) => openVerdicts(core.state).some(({ generation }) => generation === one);
  const isOther = (one: number) => witness.causes().some((cause) => cause.generation === one && cause.class !== of);
  return witness
    .causes(of)
    .filter(({ isMember, isCertain }) => isMember && isCertain)
    .filter((cause) => cause.generation < presentOf(core.state, cause))
    .filter(({ generation }) => !isOpen(generation) && !isOther(generation));
}

/** A program's failure ends the life in which it failed. */
function judgeConsequences(world: World, faults: readonly Fault[]): string[] {
  const { core, witness, spec, outcome } = world;
  // What fails after the chief is done changes nothing, and the failure of a trial ends only that trial.
  const hasChief = spec.roles.some(({ chief }) => chief === "all");
  if (outcome?.result !== "succeeded" || !isPlain(world, faults) || hasChief || spec.trials !== undefined) {
    return [];
  }
  return witness
    .causes("program")
    .filter(({ isMember, isCertain }) => isMember && isCertain)
    .filter((cause) => cause.generation === presentOf(core.state, cause) && !witness.endedUntold(cause))
    .map(({ task, generation }) => `${task} failed in generation ${generation}, and the job succeeded in it`);
}

/** The generation in which the task's gang lives, or lived last. */
function presentOf({ roles, gangs }: CoreState, { task }: Cause): number {
  const { role: name, index } = parseTaskId(task) ?? { role: "", index: 0 };
  const role = roles.findLast((one) => one.name === name && one.first <= index);
  return gangs[role?.gang ?? -1]?.generation ?? 0;
}

function lifeWords({ task, generation }: Cause): string {
  return `${task} in generation ${generation}`;
}

/** How many restarts of the whole job were charged to a class. */
export function chargedTo(failureClass: FailureClass, { gangs }: CoreState): number {
  return gangs.flatMap(({ charges }) => charges).filter((charge) => charge.class === failureClass).length;
}

/** The verdicts that were still open when the outcome was decided. */
export function openVerdicts({ gangs }: CoreState): Verdict[] {
  return gangs.flatMap(({ verdicts }) => verdicts);
}

/** Whether everything that happens is noticed at once, and each failure counts. */
function isPlain({ spec, weather, unheard, attempts: { surrenders } }: World, faults: readonly Fault[]): boolean {
  const isNoticed = unheard.count === 0 && faults.every(({ deafens, recovers }) => !deafens && !recovers);
  const { launchFailures, lostNodeAnswers } = weather;
  return (
    isNoticed && launchFailures + lostNodeAnswers === 0 && surrenders === 0 && spec.failure.onWorkerFailure === "fail"
  );
}
