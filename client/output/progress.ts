import { costWords } from "../../src/job/cost.ts";
import { unreadWords } from "../../src/job/feeds/feed-lines.ts";
import { idleRemedy, idleWords } from "../../src/job/idle.ts";
import { amountWords, budgetWords, countWords, gpuHoursWords, memoryHoursWords } from "../../src/job/reasons/words.ts";
import { saidOfTask, saidWithinTrial, spokenName } from "../../src/job/search/trial-tasks.ts";
import { searchLine } from "../../src/job/search/words.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type {
  Cause,
  GenerationSummary,
  JobOutcome,
  JobStatus,
  RoleStatus,
  TaskState,
  TaskStatus,
} from "../../src/job/status.ts";
import { budgetFor } from "./budgets.ts";
import { peakWords } from "./use-words.ts";

/** One line of a job's progress, such as `worker 2/2 allocated`, with its details. */
export interface Milestone {
  readonly what: string;
  readonly details: string;
}

/**
 * What happened to a job between two of its states, in the order in which it happens; `before` is absent at first.
 * @param handedOver the last state that an earlier attempt of the AM reported: the next attempt learns of the programs again one
 * by one
 */
export function milestones(before: JobStatus | undefined, after: JobStatus, handedOver?: JobStatus): Milestone[] {
  const stage = stageBegun(before, after);
  const ofRoles = (isOfStage: boolean) =>
    // For a search the counts of trials say more.
    (after.search === undefined ? after.roles : [])
      .filter(({ name }) => (stage?.roles?.includes(name) ?? false) === isOfStage)
      .flatMap((role) => roleMilestones(before, role, after, handedOver));
  return [
    ...masterMilestones(before, after),
    ...correctedCauses(before, after),
    ...(stage === undefined ? restartMilestones(before, after) : []),
    ...ofRoles(false),
    ...(stage === undefined ? [] : [stageMilestone(stage)]),
    ...ofRoles(true),
    ...(after.search === undefined ? taskMilestones : trialMilestones)(before, after),
    ...serviceMilestones(before, after),
    ...idleMilestones(before, after),
    ...feedMilestones(before, after, handedOver),
  ];
}

function masterMilestones(before: JobStatus | undefined, after: JobStatus): Milestone[] {
  if (before === undefined || before.attempt === after.attempt) return [];
  const what = `AM restarted on ${after.amHost}`;
  return [{ what, details: `attempt ${after.attempt}; the ${after.search === undefined ? "tasks" : "trials"} run on` }];
}

/** The first generation of a further stage, if one has just begun. */
function stageBegun(before: JobStatus | undefined, after: JobStatus): GenerationSummary | undefined {
  if (before === undefined || after.generation <= before.generation) return undefined;
  const begun = after.generations.find(({ generation }) => generation === after.generation);
  const isFirst = begun?.roles !== undefined && !after.generations.some((one) => isRestartOf(one, begun));
  return isFirst ? begun : undefined;
}

function stageMilestone({ generation, roles = [] }: GenerationSummary): Milestone {
  return { what: `stage of ${roles.join(", ")} begins`, details: `generation ${generation}` };
}

function restartMilestones(before: JobStatus | undefined, after: JobStatus): Milestone[] {
  if (before === undefined || after.generation <= before.generation) return [];
  const begun = after.generations.find(({ generation }) => generation === after.generation);
  const ended = begun && after.generations.findLast((one) => isRestartOf(one, begun));
  if (ended?.endedBy === undefined) return [{ what: restarting(after), details: "restarted" }];
  const what = isExplained(ended.endedBy)
    ? followedBy(ended.generation, ended.endedBy, after)
    : `generation ${ended.generation} ended:`;
  return [{ what, details: causeWords(ended.endedBy, after) }];
}

/** A restart is only announced where the budget allows any: by YARN's final word the job may be over in a moment. */
function followedBy(ended: number, cause: Cause, after: JobStatus): string {
  return budgetFor(after.budgets, cause).limit > 0 ? restarting(after) : `generation ${ended} ended because:`;
}

function restarting({ generation }: JobStatus): string {
  return `restarting (generation ${generation}):`;
}

/** Includes the cost, once it is known. */
function causeWords(cause: Cause, { budgets }: JobStatus): string {
  return isExplained(cause)
    ? `${cause.summary} · ${budgetWords(cause.class, budgetFor(budgets, cause))}`
    : cause.summary;
}

/** Until YARN says why the container ended, or the time for that is over, the cause's class is a guess; so is whether another generation follows. */
function isExplained({ reason }: Cause): boolean {
  return reason.code !== "told-to-end" && !("awaited" in reason && reason.awaited === true);
}

/** Restarts that were reported with a cause, for which stronger evidence has shown another cause since. */
function correctedCauses(before: JobStatus | undefined, after: JobStatus): Milestone[] {
  const earlierOnes = before?.generations ?? [];
  const restarted = earlierOnes.filter((one) => earlierOnes.some((later) => isRestartOf(one, later)));
  const told = new Map(restarted.map(({ generation, endedBy }) => [generation, endedBy]));
  return after.generations.flatMap(({ generation, endedBy }) => {
    const earlier = told.get(generation);
    if (endedBy === undefined || earlier === undefined || earlier.summary === endedBy.summary) return [];
    return [{ what: correctionOf(generation, earlier, endedBy, after), details: causeWords(endedBy, after) }];
  });
}

/** The restart is reported with its explained cause, unless the job has ended or runs again by then. */
function correctionOf(generation: number, earlier: Cause, endedBy: Cause, after: JobStatus): string {
  if (isExplained(earlier)) return `generation ${generation}, cause corrected:`;
  if (!isExplained(endedBy)) return `generation ${generation} ended:`;
  const restarts = after.outcome === undefined && after.state !== "running" && after.state !== "finishing";
  return restarts ? followedBy(generation, endedBy, after) : `generation ${generation} ended because:`;
}

/** Whether a later generation is another one of the same stage. */
function isRestartOf(earlier: GenerationSummary, later: GenerationSummary): boolean {
  return earlier.generation < later.generation && earlier.roles?.join() === later.roles?.join();
}

function roleMilestones(
  before: JobStatus | undefined,
  role: RoleStatus,
  after: JobStatus,
  handedOver: JobStatus | undefined,
): Milestone[] {
  const tasks = after.tasks.filter(({ task }) => task.startsWith(`${role.name}:`));
  if (tasks.some(isUnstarted)) return [];
  const earlier = before?.roles.find(({ name }) => name === role.name);
  const complete = `${role.name} ${role.instances}/${role.instances}`;
  // Programs that still run, or are being stopped, are no news; nor is a container that was kept.
  const again = started(role) >= role.instances && isStartedAgain(before, tasks);
  const runs = again || isNews(earlier, role, started);
  if (runs && (isHandedOver(handedOver, tasks) || isOfBefore(role, tasks, after))) return [];
  if (runs)
    return [{ what: `${complete} running`, details: [...specSent(after, tasks), ...resumed(after)].join(" · ") }];
  if (isNews(earlier, role, ({ allocated }) => allocated))
    return [{ what: `${complete} allocated`, details: placesOf(tasks) }];
  return [];
}

/** Programs that start independently of each other get no spec, nor does one that runs in the AM's container. */
function specSent({ amContainerId, distributedMode }: JobStatus, tasks: readonly TaskStatus[]): string[] {
  const inMaster = amContainerId !== undefined && tasks.some(({ containerId }) => containerId === amContainerId);
  return distributedMode === "fcfs" || inMaster ? [] : ["cluster spec sent"];
}

/** Where the current generation resumed: known for certain once its programs are started. */
function resumed({ generations }: JobStatus): string[] {
  const from = generations.at(-1)?.resumedFrom;
  return from === undefined ? [] : [`resumes from step ${from.step}`];
}

/** Whether the role's count is complete now, and was not before. */
function isNews(before: RoleStatus | undefined, after: RoleStatus, count: (role: RoleStatus) => number): boolean {
  return count(after) >= after.instances && (before === undefined || count(before) < before.instances);
}

/** Whether one of the tasks runs another program than the known one. */
function isStartedAgain(before: JobStatus | undefined, tasks: readonly TaskStatus[]): boolean {
  const known = new Map(before?.tasks.map(({ task, startedAtMs }) => [task, startedAtMs]));
  return tasks.some(({ task, startedAtMs }) => {
    const earlierMs = known.get(task);
    return earlierMs !== undefined && startedAtMs !== undefined && startedAtMs !== earlierMs;
  });
}

/** Whether the earlier attempt knew these very programs. */
function isHandedOver(handedOver: JobStatus | undefined, tasks: readonly TaskStatus[]): boolean {
  const known = new Map(handedOver?.tasks.map(({ task, startedAtMs }) => [task, startedAtMs]));
  return tasks.every(({ task, startedAtMs }) => startedAtMs !== undefined && known.get(task) === startedAtMs);
}

/** A job that ended while its last generation was gathering shows the programs of the previous one, which its outcome is about. */
function isOfBefore({ name }: RoleStatus, tasks: readonly TaskStatus[], { outcome, generations }: JobStatus): boolean {
  const last = generations.findLast(({ roles = [name] }) => roles.includes(name));
  if (outcome === undefined || last === undefined) return false;
  return tasks.some(({ startedAtMs = last.startedAtMs }) => startedAtMs < last.startedAtMs);
}

/** Tasks that failed or were restarted alone while the others go on. */
function taskMilestones(before: JobStatus | undefined, after: JobStatus): Milestone[] {
  if (before === undefined || after.state !== "running" || before.generation !== after.generation) return [];
  const earlier = new Map(before.tasks.map((task) => [task.task, task]));
  return after.tasks.flatMap((task) => {
    const known = earlier.get(task.task);
    if (known === undefined) return [];
    if (task.restarts > known.restarts)
      return [{ what: `${task.task} started again`, details: task.restartReason ?? "" }];
    if (task.restartReason !== undefined && task.restartReason !== known.restartReason)
      return [{ what: `${task.task} had ended because:`, details: task.restartReason }];
    if (isFailed(task) && !isFailed(known))
      return [
        { what: `${task.task} failed`, details: `exit ${exitOf(task)} on ${task.host ?? "–"}; the others go on` },
      ];
    return [];
  });
}

/**
 * Trials that were restarted, and trials that failed; a trial's lead task holds what is known of it. Going on after a rung is normal, and
 * not reported.
 */
function trialMilestones(before: JobStatus | undefined, after: JobStatus): Milestone[] {
  const earlier = new Map(before?.tasks.map((task) => [task.task, task]));
  return after.tasks.flatMap((task) => {
    const known = earlier.get(task.task);
    if (known === undefined) return [];
    const [name = ""] = spokenName(after, task.task).split("/");
    const told = (what: string, why = "") => {
      return [{ what: `${name.replace(":", " ")} ${what}`, details: saidWithinTrial(after, why) }];
    };
    if (task.restarts > known.restarts) return told("started again", task.restartReason);
    if (goesOnWithout(known, task)) return told("goes on without a checkpoint:", "it starts over");
    if (task.trial?.state === "failed") return known.trial?.state === "failed" ? [] : told("failed", task.trial.why);
    return isCorrected(known, task) ? told("had ended because:", task.restartReason) : [];
  });
}

/** Whether a trial's restart has turned out to have another cause. A trial that continues after a rung has started a new life. */
function isCorrected({ trial, restarts, restartReason, startedAtMs }: TaskStatus, after: TaskStatus): boolean {
  const isSameLife = trial?.state === "running" && (startedAtMs === undefined || startedAtMs === after.startedAtMs);
  return isSameLife && restarts > 0 && after.restartReason !== restartReason;
}

/** A trial that paused at a rung and goes on without a known checkpoint. */
function goesOnWithout({ trial: before }: TaskStatus, { trial }: TaskStatus): boolean {
  return before?.state === "paused" && trial?.state === "running" && trial.checkpoint === undefined;
}

function isFailed({ state }: TaskStatus): boolean {
  return state === "failed" || state === "lost";
}

function exitOf({ exit, state }: TaskStatus): string {
  return exit ?? state;
}

/** Ended, or told to stop, before its program was started, as in a job that is killed while it waits, or when its container is. */
function isUnstarted({ state, startedAtMs }: TaskStatus): boolean {
  return startedAtMs === undefined && UNSTARTED.has(state);
}

/** A program that succeeded was started, even where its start was not reported. */
const UNSTARTED: ReadonlySet<TaskState> = new Set(["running", "stopped", "lost", "failed"]);

/** Tasks whose program was started: a quick one may have ended before it was seen running. */
function started({ running, ended }: RoleStatus): number {
  return running + ended;
}

function placesOf(tasks: readonly TaskStatus[]): string {
  return firstOf(tasks.map(({ task, host }) => `${task} ${host ?? "–"}`));
}

/** The tasks whose failure was tolerated. */
function failedWords(failed: readonly TaskStatus[]): string[] {
  return failed.length === 0 ? [] : [`failed: ${firstOf(failed.map((task) => `${task.task} (exit ${exitOf(task)})`))}`];
}

function firstOf(words: readonly string[]): string {
  const shown = words.slice(0, 4);
  return words.length > 4 ? `${shown.join(" · ")} · and ${words.length - 4} more` : shown.join(" · ");
}

function serviceMilestones(before: JobStatus | undefined, after: JobStatus): Milestone[] {
  const known = new Set(before?.services.map(({ url }) => url));
  return after.services
    .filter(({ url }) => !known.has(url))
    .map(({ name, url }) => ({ what: name === "tensorboard" ? "TensorBoard" : name, details: url }));
}

function idleMilestones(before: JobStatus | undefined, { applicationId, idle }: JobStatus): Milestone[] {
  if (idle === undefined || before?.idle !== undefined) return [];
  return [{ what: "the job is idle:", details: `${idleWords(idle)} → ${idleRemedy(applicationId)}` }];
}

/** A split that is left out, and a feed that is read to its end, are reported once; a later attempt of the AM repeats both in its status. */
function feedMilestones(
  before: JobStatus | undefined,
  { feeds = [] }: JobStatus,
  handedOver: JobStatus | undefined,
): Milestone[] {
  const known = [before, handedOver].flatMap((status) => status?.feeds ?? []);
  return feeds.flatMap((feed) => {
    const earlier = known.filter(({ name }) => name === feed.name);
    const told = new Set(earlier.flatMap(({ failures }) => failures.map(({ split }) => split)));
    const leftOut = feed.failures.filter(({ split }) => !told.has(split));
    const isNewlyRead =
      feed.epoch === feed.epochs && earlier.length > 0 && earlier.every((one) => one.epoch < feed.epoch);
    return [
      ...leftOut.map(({ split, path, reason }) => ({
        what: `feed ${feed.name} leaves out split ${split}:`,
        details: reason.includes(path) ? reason : `${path}: ${reason}`,
      })),
      ...(isNewlyRead ? [{ what: `feed ${feed.name} is read`, details: "" }] : []),
    ];
  });
}

/** The last line of a job that succeeded: `2 of 3 tasks exited 0 · failed: worker:1 (exit 1) · 0 restarts · 0.007 GiB·h`. */
export function successDetails(status: JobStatus, { summary }: Pick<JobOutcome, "summary">): string {
  const stages = new Set(status.generations.map(({ roles = [] }) => roles.join())).size;
  const restarts = status.generations.length - stages + status.tasks.reduce((sum, task) => sum + task.restarts, 0);
  const { usage } = status;
  return [
    saidOfTask(status, summary),
    ...(status.search === undefined ? failedWords(status.tasks.filter(isFailed)) : []),
    ...unreadWords(status),
    countWords(restarts, "restart"),
    memoryHoursWords(usage.memoryMiBSeconds),
    ...gpuHoursWords(usage.gpuSeconds),
    ...(usage.cost === undefined ? [] : [`cost ${costWords(usage.cost)}`]),
    ...peakWords(status),
  ].join(" · ");
}

/** Describes a job by its roles; a search by its settings and the roles of one trial. */
export function describeJob({ roles, search, trials }: JobSpec): string {
  if (search === undefined) return describeRoles(roles);
  // With trials of one task each, the role's count is that of all trials.
  const ofTrial = trials === undefined ? roles.map((role) => ({ ...role, instances: 1 })) : roles;
  return `${searchLine(search)} · ${describeRoles(ofTrial)}`;
}

/** `worker × 2 (1 GiB, 1 core)` for each role. */
export function describeRoles(
  roles: readonly {
    readonly name: string;
    readonly instances: number;
    readonly resource: Parameters<typeof amountWords>[0];
  }[],
): string {
  return roles.map((role) => `${role.name} × ${role.instances} (${amountWords(role.resource)})`).join(", ");
}
