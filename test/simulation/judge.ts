import { Bounds } from "../../am/core/state/bounds.ts";
import { presentGang } from "../../am/core/state/step.ts";
import type { Fault } from "./faults/fault.ts";
import { MASTER_CUT } from "./faults/partitions.ts";
import { EARLY_EXIT, HANG } from "./faults/programs.ts";
import { chargedTo, isStagingClosed, judgeBudgets, openVerdicts, unfindable } from "./judge-budgets.ts";
import { judgeMachines } from "./judge-machines.ts";
import { isOfNaN, isOfSearch, judgeSearchEnd, judgeTrials, promotionsOf } from "./judge-search.ts";
import type { Hang } from "./program.ts";
import type { World } from "./world.ts";

/** How long a stop order and its answer are under way, beside the program's grace. */
const ON_THE_WAY_MS = 1_000;

/** What must be true of the end, given what was done to the job. */
export function judge(world: World, faults: readonly Fault[]): string[] {
  const { core, attempts, weather } = world;
  const { state } = core;
  if (world.problems.length > 0) {
    return [];
  }
  // An attempt that is cut off gives way when its time is up, even if it could soon reach its ResourceManager again.
  if (attempts.surrenders > 0 && weather.lostAnswers === 0 && !faults.includes(MASTER_CUT)) {
    return [`${attempts.surrenders} attempts gave up, and no answer was lost`];
  }
  if (!attempts.areOver) {
    return [`the job never ended: it is ${state.phase}, ${JSON.stringify(state.roles.map(({ counts }) => counts))}`];
  }
  const problems = [
    ...judgeBudgets(world, faults),
    ...judgeTrials(world, faults),
    ...judgeMachines(world),
    ...judgeHangs(world, faults),
    ...judgeEarlyExits(world, faults),
    ...judgeSuspensions(world, faults),
    ...judgeCuts(world, faults),
  ];
  // YARN ends an application that has no attempts left: then nobody is there to say how the job ended.
  return attempts.areUsedUp ? [...problems, ...judgeUsedUp(world, faults)] : [...problems, ...judgeEnd(world, faults)];
}

function judgeUsedUp({ attempts }: World, faults: readonly Fault[]): string[] {
  const someEnded = faults.some(({ recovers }) => recovers === true) || attempts.surrenders > 0;
  return someEnded ? [] : ["the attempts are used up, and none was ended"];
}

/** Judges how the job ended. */
function judgeEnd(world: World, faults: readonly Fault[]): string[] {
  const { outcome, weather, spec } = world;
  if (outcome?.result === "killed") {
    return faults.some(({ ends }) => ends === true)
      ? []
      : [`nobody stopped the job, and it was killed: ${outcome.summary}`];
  }
  const problems = outcome !== undefined && isOfSearch(outcome) ? judgeSearchEnd(world, outcome) : judgeOutcome(world);
  const launchesFail = weather.launchFailures > 0 || weather.lostNodeAnswers > 0;
  const isKept = !launchesFail && world.brokenResumptions === 0 && unfindable(world, faults) === 0;
  const isHarmless = faults.every((fault) => fault.class === undefined) && isKept;
  if (!isHarmless || spec.timeouts.executionMs !== undefined || isLimited(world)) {
    return problems;
  }
  if (outcome?.result !== "succeeded" && !isOfNaN(outcome)) {
    problems.push(`nothing bad happened, and the job ${outcome?.result}: ${outcome?.summary}`);
  }
  const again = [...world.starts].filter(([task, starts]) => starts > 1 + promotionsOf(world, task));
  if (again.length > 0 && !world.witness.hasBegunAgain && !faults.some(({ freezes }) => freezes === true)) {
    problems.push(`nothing bad happened, and programs started more than once: ${JSON.stringify(again)}`);
  }
  return problems;
}

/** Neither the ApplicationMaster's death or standstill alone nor HDFS's outage alone disturbs a program. */
function judgeSuspensions(world: World, faults: readonly Fault[]): string[] {
  const { suspensions, attempts } = world;
  const isSevered = faults.some(({ severs }) => severs === true);
  const isLeaderless = attempts.surrenders > 0 || faults.some(({ recovers, halts }) => recovers ?? halts);
  const mayBe = isSevered || (isLeaderless && isStagingClosed(world, faults));
  return suspensions > 0 && !mayBe ? [`${suspensions} programs were suspended, and somebody could be reached`] : [];
}

/** What a core knows of suspensions that have just ended may die with its ApplicationMaster. */
function judgeCuts({ cuts, core, attempts }: World, faults: readonly Fault[]): string[] {
  const isForgotten = attempts.surrenders > 0 || faults.some(({ recovers }) => recovers === true);
  return isForgotten ? [] : cuts.judge(core);
}

/**
 * Where all programs need each other, no chief's end is the job's, and nothing else went wrong, the root cause is whoever left early and not one
 * that lost the connection.
 */
function judgeEarlyExits({ spec, core, weather }: World, faults: readonly Fault[]): string[] {
  const limited = spec.timeouts.executionMs !== undefined || spec.timeouts.applicationMs !== undefined;
  const onlyThat = faults.every((fault) => fault === EARLY_EXIT) && weather.launchFailures === 0 && !limited;
  const allNeeded = spec.roles.every(
    ({ name, tracking, minInstances, chief }) =>
      tracking === "tracked" && name !== "evaluator" && minInstances === undefined && chief !== "all",
  );
  // Only the machines' clocks say which of two programs ended first.
  if (!onlyThat || !allNeeded || weather.skewMs > 0) {
    return [];
  }
  const generations = core.state.gangs.flatMap((gang) => gang.generations);
  return generations.flatMap(({ generation, endedBy }) => {
    const wrong = endedBy !== undefined && !/exited 0 .* before the others$/.test(endedBy.summary);
    return wrong ? [`generation ${generation} is put down to "${endedBy.summary}", and a program had left early`] : [];
  });
}

/** Whether the job as a whole may fail because something takes too long. */
function isLimited({ spec }: World): boolean {
  const { applicationMs, allocationMs, registrationMs } = spec.timeouts;
  const isBound = [applicationMs, allocationMs, registrationMs].some((limitMs) => limitMs !== undefined);
  return isBound || spec.groupLimits.length > 0 || spec.search?.timeoutMs !== undefined;
}

/** Whether the job failed because one of its programs ran too long; that program may have exited 0 when it was stopped. */
function isOfOverTime({ outcome }: World): boolean {
  return outcome?.cause?.reason.code === "ran-too-long";
}

/** Whether the program that failed the job reported its end only when its executor had already been given up. */
function isHeardTooLate({ outcome, witness }: World): boolean {
  const { task = "", atMs = 0 } = outcome?.cause ?? {};
  return (witness.toldAtMs(task) ?? 0) > atMs;
}

/** The job's outcome is what its programs really did: in their last life, or in one after which no restart was allowed. */
function judgeOutcome(world: World): string[] {
  const { witness, outcome } = world;
  if (outcome?.result === "succeeded" && !witness.mayHaveSucceeded()) {
    return [`the job succeeded, and not all of its programs did: ${outcome.summary}`];
  }
  const cause = world.spec.roles.find(({ name }) => outcome?.cause?.task?.startsWith(`${name}:`) === true);
  if (outcome?.result === "failed" && cause?.tracking === "sidecar") {
    return [`a sidecar's failure ended the job: ${outcome.summary}`];
  }
  const gangs = presentGang(world.core)?.generation ?? 0;
  const present = Math.max(gangs, witness.lastGenerationOf(outcome?.cause?.task ?? ""));
  const ofEarlierLife = (outcome?.cause?.generation ?? present) < present;
  if (
    outcome?.result === "failed" &&
    !isLimited(world) &&
    !isOfOverTime(world) &&
    !ofEarlierLife &&
    !isHeardTooLate(world) &&
    witness.mustHaveSucceeded()
  ) {
    return [`all programs exited 0, and the job failed: ${outcome.summary}`];
  }
  return [];
}

/** A program that hangs is stopped in time, the program's budget pays, and the job fails of nothing else. */
function judgeHangs(world: World, faults: readonly Fault[]): string[] {
  const { progressMs, stopGraceMs } = world.spec.timeouts;
  if (progressMs === undefined) {
    return [];
  }
  const limitMs = progressMs + Bounds.stackDumpMs + stopGraceMs + ON_THE_WAY_MS;
  const timely = faults.every(({ deafens }) => deafens !== true);
  const late = world.hangs.flatMap(({ task, sinceMs, endedAtMs = world.clock.nowMs }) => {
    const hungMs = endedAtMs - sinceMs;
    return timely && hungMs > limitMs ? [`${task} hung for ${hungMs} ms, ${limitMs} are allowed`] : [];
  });
  const { launchFailures, lostNodeAnswers } = world.weather;
  // What ends a trial alone is charged to that trial, unless the trial was not to go on.
  const isOfTrials = world.spec.trials !== undefined;
  const nothingElse = faults.every((fault) => fault === HANG) && launchFailures + lostNodeAnswers === 0 && !isOfTrials;
  return nothingElse ? [...late, ...judgeCharge(world)] : late;
}

/** For lives in which only hangs happened. */
function judgeCharge(world: World): string[] {
  const { spec, outcome, core } = world;
  const problems: string[] = [];
  const ofHang = outcome?.cause?.reason?.code === "program-hung";
  const known = world.hangs.filter((hang) => isCharged(world, hang));
  if (known.length > 0 && chargedTo("program", core.state) === 0 && !ofHang) {
    problems.push(`${known.length} programs were stopped because they hung, and none is counted`);
  }
  const limited = spec.timeouts.executionMs !== undefined || isLimited(world);
  const areTolerated = spec.failure.onWorkerFailure === "tolerate" && outcome?.reason.code === "tasks-ended";
  // A search of which no trial completed: a trial that hangs fails alone.
  const areTrials = outcome?.reason.code === "trials-ended";
  if (outcome?.result === "failed" && !limited && !ofHang && !areTolerated && !areTrials && !isOfNaN(outcome)) {
    problems.push(`programs hung, and the job failed of something else: ${outcome.summary}`);
  }
  return problems;
}

/**
 * Whether the hang had to be charged to a budget: it was stopped in time for that, and its failure is neither ignored nor tolerated and was not
 * still being judged when the chief succeeded.
 */
function isCharged({ core, spec, outcome, witness }: World, { task, noticed, endedAtMs = 0 }: Hang): boolean {
  const role = spec.roles.find(({ name }) => task.startsWith(`${name}:`));
  const inTime = endedAtMs + ON_THE_WAY_MS < (outcome?.endedAtMs ?? 0);
  const isNeeded = role !== undefined && !witness.chiefsHadSucceeded(role, endedAtMs);
  const isOpen = openVerdicts(core.state).some(({ endings }) => endings[task] !== undefined);
  const matters = isNeeded && !isOpen && !witness.mustHaveSucceeded();
  return matters && noticed && inTime && role.tracking !== "sidecar" && spec.failure.onWorkerFailure === "fail";
}
