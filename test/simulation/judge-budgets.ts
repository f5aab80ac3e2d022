import type { Verdict } from "../../am/core/state/failures.ts";
import type { CoreState } from "../../am/core/state/state.ts";
import type { FailureClass } from "../../src/job/status.ts";
import type { Fault } from "./faults/fault.ts";
import type { ProgramCause } from "./witness.ts";
import type { World } from "./world.ts";

/**
 * What the budget of programs was charged is what programs really did: at most once for each life that had such a cause, and where
 * nothing else went wrong in a job that succeeded, at least once for each that was followed by another. None was without consequence.
 */
export function judgeBudgets(world: World, faults: readonly Fault[]): string[] {
  const { core, witness } = world;
  // What was still being judged when the outcome was decided stays charged as it was: nothing hangs on it any more.
  const unsettled = openVerdicts(core.state).filter(({ charged }) => charged === "program").length;
  const charged = chargedTo("program", core.state);
  const counted = charged - unsettled;
  const most = witness.programCauses.size;
  // What YARN told an attempt that died before its journal said so cannot be known again, and a guess is charged instead.
  if (counted > most + world.attempts.lostWords) {
    return [
      `${counted} program failures are counted, ${most} happened: ${[...witness.programCauses.keys()].join(", ")}`,
    ];
  }
  const paid = chargedTo("infrastructure", core.state);
  if (paid > 0 && faults.every(({ isFree }) => isFree === true) && !launchesFail(world)) {
    return [`${paid} failures of the infrastructure are counted, and there were preemptions only`];
  }
  if (world.outcome?.result !== "succeeded" || !isPlain(world, faults)) {
    return [];
  }
  const certain = [...witness.programCauses.values()].filter(({ isMember, isCertain }) => isMember && isCertain);
  const presentOf = ({ task }: ProgramCause) => {
    const role = core.state.roles.find(({ name }) => task.startsWith(`${name}:`));
    return core.state.gangs[role?.gang ?? -1]?.generation ?? 0;
  };
  // What was still being judged when the outcome was decided may be charged to another class.
  const isOpen = (one: number) => openVerdicts(core.state).some(({ generation }) => generation === one);
  const restarted = certain.filter((cause) => cause.generation < presentOf(cause) && !isOpen(cause.generation));
  if (charged < restarted.length) {
    const lives = restarted.map(({ task, generation }) => `${task} in generation ${generation}`).join(", ");
    return [`${charged} program failures are counted, and there were restarts after: ${lives}`];
  }
  // What fails after the chief is done changes nothing.
  const lost = world.spec.roles.some(({ chief }) => chief === "all")
    ? []
    : certain.filter((cause) => cause.generation === presentOf(cause) && !witness.endedUntold(cause));
  return lost.map(({ task, generation }) => `${task} failed in generation ${generation}, and the job succeeded in it`);
}

/** How many restarts of the whole job a class paid for. */
export function chargedTo(failureClass: FailureClass, { gangs }: CoreState): number {
  return gangs.flatMap(({ charges }) => charges).filter((charge) => charge.class === failureClass).length;
}

/** What was still being judged when the outcome was decided. */
export function openVerdicts({ gangs }: CoreState): Verdict[] {
  return gangs.flatMap(({ verdicts }) => verdicts);
}

/** Nothing happened but to programs, and each of their failures counts. */
function isPlain({ spec, weather, attempts: { surrenders } }: World, faults: readonly Fault[]): boolean {
  const ofPrograms = faults.every(({ class: of, deafens, mutes, recovers }) => {
    return of !== "infrastructure" && deafens !== true && mutes !== true && recovers !== true;
  });
  return ofPrograms && !launchesFail({ weather }) && surrenders === 0 && spec.failure.onWorkerFailure === "fail";
}

function launchesFail({ weather: { launchFailures, lostNodeAnswers } }: Pick<World, "weather">): boolean {
  return launchFailures > 0 || lostNodeAnswers > 0;
}
