import type { RuleReason } from "../../../src/job/reasons/outcomes.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import { discard } from "../containers/containers.ts";
import { excludedHosts, isExcluded, keepOff } from "../containers/kept-off.ts";
import { labelFits } from "../containers/placement.ts";
import { unmeetable } from "../containers/unmeetable.ts";
import { budgetOf } from "../gang/charges.ts";
import { toleratesFailure } from "../policies/completion.ts";
import { isNeverRestarted } from "../policies/restart.ts";
import type { NodeView } from "../state/events.ts";
import type { Ending, NodeBlame, Payer, Verdict } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { findTask, log, noteDurable, roleOf, type Step } from "../state/step.ts";
import { isCounted, Strength } from "./endings.ts";

/** A task that ran this long in between has failed anew: earlier failures of its machines are forgotten. */
const HEALTHY_RUN_MS = 600_000;

/** How tasks of one generation ended, by task. */
type Endings = Verdict["endings"];

/** Takes one restart from the gang's budget for this failure; undefined when none is left. */
export function charge(step: Step, gang: GangState, root: Ending): Payer | undefined {
  if (!isLeft(step, gang, root)) {
    return undefined;
  }
  const payer = payerOf(step, root);
  gang.charges.push({ ...payer, atMs: step.nowMs });
  noteDurable(step);
  return payer;
}

export function isLeft(step: Step, gang: GangState, root: Ending): boolean {
  const { used, limit } = budgetOf(step, gang, payerOf(step, root), step.nowMs);
  return used < limit;
}

/** Where people are told of another task than the one whose end is the root, or of none, that task pays, or none. */
export function payerOf(step: Step, { class: failureClass, task, named = { task } }: Ending): Payer {
  const record = failureClass === "program" ? findTask(step, named.task ?? "") : undefined;
  const role = record && roleOf(step, record);
  return role?.retryCount === undefined ? { class: failureClass } : { class: failureClass, role: role.name };
}

/** The rule that no restart is left, or that none was allowed, with the key that allows more. */
export function spentRule(step: Step, gang: GangState, root: Ending): RuleReason {
  const payer = payerOf(step, root);
  const { limit, windowMs } = budgetOf(step, gang, payer, step.nowMs);
  const within = windowMs === undefined ? {} : { windowMs };
  return { code: "budget-spent", ...payer, limit, ...within, setting: settingOf(step.spec, keyOf(payer)) };
}

function keyOf({ class: failureClass, role }: Payer): string {
  if (failureClass === "infrastructure") {
    return "tony.failure.infrastructure-retries";
  }
  return `tony.${role ?? "am"}.retry-count`;
}

/**
 * The blame ladder counts machine failures only: first the container is given up, then its node is excluded for the rest of the job, then the
 * job fails. A program's own bug blames no machine.
 */
export function blame(step: Step, ending: Ending): void {
  const task = findTask(step, ending.task);
  if (ending.refused && task !== undefined) {
    task.machineFailures++;
  }
  if (!ending.machine) {
    return;
  }
  noteDurable(step);
  const { failure } = step.spec;
  const node = blameOf(step, ending.host);
  if (task !== undefined) {
    if (task.startedAtMs > 0 && ending.atMs - task.startedAtMs >= HEALTHY_RUN_MS) {
      task.machineFailures = 0;
      node.failures = 0;
    }
    task.machineFailures++;
  }
  const container = step.state.containers[ending.containerId];
  if (container !== undefined) {
    container.machineFailures++;
    if (container.machineFailures >= failure.blame.container && container.phase !== "terminating") {
      discard(step, container, "its machine failed");
    }
  }
  node.failures++;
  if (node.failures >= failure.blame.node && !node.excluded && mayExclude(step, ending.host)) {
    node.excluded = true;
    log(
      step,
      "warn",
      "node-excluded",
      `${ending.host} is kept off for the rest of the job: ${node.failures} failures.`,
      {
        host: ending.host,
      },
    );
    keepOff(step);
  }
}

/** A file that a second node fails to fetch is itself at fault; undefined while a node may be. */
export function fileAtFault(step: Step, { resource, host }: Ending): RuleReason | undefined {
  if (resource === undefined) {
    return undefined;
  }
  step.state.unfetched[resource] ??= host;
  const first = step.state.unfetched[resource];
  return first === host ? undefined : { code: "file-at-fault", firstHost: first };
}

/** Later evidence showed that the machine was not at fault. */
export function pardon(step: Step, ending: Ending): void {
  if (!ending.machine) {
    return;
  }
  const task = findTask(step, ending.task);
  if (task !== undefined) {
    task.machineFailures = Math.max(0, task.machineFailures - 1);
  }
  const node = blameOf(step, ending.host);
  node.failures = Math.max(0, node.failures - 1);
  noteDurable(step);
  if (node.excluded && node.failures < step.spec.failure.blame.node) {
    node.excluded = false;
    const words = `${ending.host} may be used again: ${ending.task} had not failed because of it.`;
    log(step, "info", "node-pardoned", words, { host: ending.host });
    keepOff(step);
  }
}

/** Nodes have left: too few may remain without the excluded ones. Those that failed least are used again. */
export function reconsiderExclusions(step: Step): void {
  let host = oneTooMany(step);
  if (host === undefined) {
    return;
  }
  for (; host !== undefined; host = oneTooMany(step)) {
    blameOf(step, host).excluded = false;
    log(step, "info", "node-pardoned", `${host} may be used again: too few other nodes are left.`, { host });
  }
  noteDurable(step);
  keepOff(step);
}

/**
 * The container's executor vanished, its machine was blamed for that, and no verdict waits for YARN's completion status any more: the status
 * shows the true cause.
 */
export function pardonVanished(step: Step, container: ContainerRecord, ending: Ending): void {
  if (container.phase === "terminating" && container.machineFailures > 0 && !ending.machine) {
    pardon(step, { ...ending, machine: true });
  }
}

/** The machines of one task have failed, or refused its launch, so often that another machine will not help. */
export function isExhausted(step: Step, task: TaskRecord, { machine, refused }: Ending): boolean {
  return (machine || refused === true) && task.machineFailures >= step.spec.failure.blame.job;
}

export function exhaustedRule({ spec }: Step, task: TaskRecord, { refused }: Ending): RuleReason {
  const code = refused ? "launches-refused" : "machines-failed";
  return { code, task: task.id, times: task.machineFailures, setting: settingOf(spec, "tony.failure.blame.job") };
}

/**
 * No role may lose more than a third of the nodes that can serve it, nor the last one, nor one without which its gang has no room: a job that
 * excludes what it needs waits for ever.
 */
function mayExclude(step: Step, host: string): boolean {
  const { spec, state } = step;
  const nodes = Object.values(state.nodes);
  const there = nodes.find((node) => node.host === host);
  const isOff = (node: NodeView) => node.host !== host && isExcluded(step, node.host);
  return spec.roles.every(({ nodeLabel }, position) => {
    const eligible = nodes.filter((node) => node.usable && labelFits(node, nodeLabel));
    const concerned = there === undefined || labelFits(there, nodeLabel);
    const off = [...eligible.filter(isOff), ...eligible.filter((node) => node.host === host)];
    return !concerned || (isAtMostAThird(Math.max(off.length, 1), eligible.length) && leavesRoom(step, position, off));
  });
}

/**
 * Where more than a third of a role's nodes is excluded, or the exclusions take the room of its gang: the excluded host that failed least.
 */
function oneTooMany(step: Step): string | undefined {
  const { spec, state } = step;
  if (excludedHosts(step).length === 0) {
    return undefined;
  }
  const usable = Object.values(state.nodes).filter((node) => node.usable);
  const failures = ({ host }: NodeView) => state.blame[host]?.failures ?? 0;
  for (const [position, { nodeLabel }] of spec.roles.entries()) {
    const eligible = usable.filter((node) => labelFits(node, nodeLabel));
    const excluded = eligible.filter((node) => isExcluded(step, node.host));
    if (!isAtMostAThird(excluded.length, eligible.length) || !leavesRoom(step, position, excluded)) {
      return excluded.sort((a, b) => failures(a) - failures(b))[0]?.host;
    }
  }
  return undefined;
}

/**
 * Whether the usable nodes without these could hold what the role needs together. Also true where even all of them could not: then these
 * change nothing.
 */
function leavesRoom(step: Step, position: number, off: readonly NodeView[]): boolean {
  const usable = Object.values(step.state.nodes).filter((node) => node.usable);
  const left = usable.filter((node) => !off.includes(node));
  return unmeetable(step, position, left) === undefined || unmeetable(step, position, usable) !== undefined;
}

function isAtMostAThird(some: number, all: number): boolean {
  return some * 3 <= all;
}

function blameOf(step: Step, host: string): NodeBlame {
  step.state.blame[host] ??= { failures: 0, excluded: false };
  return step.state.blame[host];
}

/** No restart can follow, whatever budget is left. */
export function isFinal(step: Step, gang: GangState, root: Ending, endings: Endings = {}): boolean {
  return finalRule(step, gang, root, endings) !== undefined;
}

/** Whether the job cannot go on once the task has failed. */
export function cannotBeLost(step: Step, task: TaskRecord): boolean {
  return isNeverRestarted(step, task) && !toleratesFailure(step, task);
}

/** Whether the job ends with this failure, whether or not others are done: a failure in a role that `stop-on-failure-jobtypes` names. */
export function mustNotFail(step: Step, task: TaskRecord, ending: Ending): boolean {
  return roleOf(step, task).stopOnFailure && ending.class === "program" && isCounted(ending);
}

/**
 * The rule by which no restart follows, whatever budget is left: that of the root, or of a task that failed with it and is never restarted.
 */
function finalRule(step: Step, gang: GangState, root: Ending, endings: Endings): RuleReason | undefined {
  const rule = ruleOfRoot(step, gang, root);
  if (rule !== undefined) {
    return rule;
  }
  const lost = lostAmong(step, endings);
  return lost && neverRestartedRule(step, lost);
}

/** The last of the ended tasks without which the job cannot go on. */
function lostAmong(step: Step, endings: Endings): TaskRecord | undefined {
  // Few jobs have such a role; this avoids scanning the endings of a large generation each time one is added.
  if (!step.spec.roles.some(({ restartPolicy }) => restartPolicy === "none")) {
    return undefined;
  }
  return Object.values(endings)
    .filter(isCounted)
    .flatMap(({ task }) => findTask(step, task) ?? [])
    .findLast((task) => cannotBeLost(step, task));
}

function ruleOfRoot(step: Step, gang: GangState, root: Ending): RuleReason | undefined {
  const task = findTask(step, root.task);
  if (task === undefined) {
    return undefined;
  }
  const role = roleOf(step, task);
  if (mustNotFail(step, task, root)) {
    const setting = settingOf(step.spec, "tony.application.stop-on-failure-jobtypes");
    return { code: "role-must-not-fail", role: role.name, setting };
  }
  if (isExhausted(step, task, root)) {
    return exhaustedRule(step, task, root);
  }
  if (isNeverRestarted(step, task)) {
    return neverRestartedRule(step, task);
  }
  return step.spec.search === undefined ? repeatedStartFailure(gang, root) : undefined;
}

function neverRestartedRule(step: Step, task: TaskRecord): RuleReason {
  const { name } = roleOf(step, task);
  return { code: "never-restarted", role: name, setting: settingOf(step.spec, `tony.${name}.restart-policy`) };
}

/** Why the job cannot go on after this root cause. */
export function endingRule(step: Step, gang: GangState, root: Ending, endings: Endings): RuleReason {
  return finalRule(step, gang, root, endings) ?? spentRule(step, gang, root);
}

/**
 * The start failure of a whole generation: that of its root cause, if every program that ended by itself failed in the same way and none had
 * done a step. Programs that lost a connection or were stopped had no time to meet it.
 */
export function sharedStartFailure(
  { state }: Step,
  root: Ending,
  endings: Readonly<Record<string, Ending>>,
): string | undefined {
  if (root.startFailure === undefined) {
    return undefined;
  }
  const alike = Object.values(endings).every(
    ({ strength, startFailure }) => strength < Strength.exit || startFailure === root.startFailure,
  );
  const stepless = state.tasks.every(({ generation, step }) => generation !== root.generation || step === 0);
  return alike && stepless ? root.startFailure : undefined;
}

/** Why no third start follows when two generations in a row failed in the same way at their start; undefined where they did not. */
export function repeatedStartFailure({ generations }: GangState, root: Ending): RuleReason | undefined {
  const position = generations.findIndex(({ generation }) => generation === root.generation);
  const [before, present] = [generations[position - 1], generations[position]];
  if (root.startFailure === undefined || present?.startFailure !== root.startFailure) {
    return undefined;
  }
  if (before?.startFailure !== root.startFailure) {
    return undefined;
  }
  return { code: "same-failure-at-start", generation: present.generation, before: before.generation };
}
