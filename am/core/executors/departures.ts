import { durationWords } from "../../../src/job/reasons/words.ts";
import { sharedCheckpoint } from "../containers/checkpoints.ts";
import { isLeaving, keepOff } from "../containers/kept-off.ts";
import { giveNotice, sendNotice } from "../containers/notices.ts";
import { reconsiderExclusions } from "../failures/budgets.ts";
import { Strength, seen, where } from "../failures/endings.ts";
import { containerGone } from "../failures/losses.ts";
import { taskFailed } from "../failures/verdict.ts";
import { stopChild } from "../gang/restart.ts";
import { isNeededNoMore, isSidecar } from "../policies/completion.ts";
import { isNeverRestarted, restartPolicyOf, restartsWithGang, takesGangAlong } from "../policies/restart.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitNoMore, awaitOf } from "../state/deadlines.ts";
import type { NodeView } from "../state/events.ts";
import type { Ending } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { containerOf, log, noteDurable, type Step, tasksOf, tenantOf } from "../state/step.ts";

/**
 * Nodes that are taken out of the cluster get no further containers of the job. Programs that run there are told; their tasks start
 * again elsewhere when the next checkpoint is complete, or shortly before the node goes. No budget is charged for that. Of the remaining
 * nodes not too many stay excluded.
 */
export function nodesLeave(step: Step, nodes: readonly NodeView[]): void {
  let changed = false;
  for (const node of nodes) {
    const { host, usable, decommissioning } = node;
    if (decommissioning !== undefined && !isLeaving(step, host)) {
      changed = true;
      const { timeoutMs } = decommissioning;
      step.state.leaving[host] = timeoutMs === undefined ? {} : { atMs: step.nowMs + timeoutMs };
      departAll(step, host);
    } else if (usable && isLeaving(step, host)) {
      changed = true;
      delete step.state.leaving[host];
      stayAll(step, host);
    }
  }
  if (changed) {
    noteDurable(step);
    step.changed = true;
    keepOff(step);
  }
  reconsiderExclusions(step);
}

function departAll(step: Step, host: string): void {
  const { atMs } = step.state.leaving[host] ?? {};
  const when = atMs === undefined ? "" : `, in ${durationWords(atMs - step.nowMs)} at the latest`;
  const master = host === step.state.amHost ? " This ApplicationMaster runs there: another attempt takes over." : "";
  log(step, "warn", "node-leaves", `${host} is being taken out of the cluster${when}.${master}`, { host });
  for (const [container, task] of heldOn(step, host)) {
    if (task.phase === "running") {
      tellOfDeparture(step, container, task);
    } else if (task.phase === "allocated" || task.phase === "launched" || task.phase === "registered") {
      departUnstarted(step, container, task);
    }
  }
}

function stayAll(step: Step, host: string): void {
  log(step, "info", "node-stays", `${host} stays in the cluster.`, { host });
  for (const [container] of heldOn(step, host)) {
    awaitNoMore(container, "departure");
    delete container.notice;
  }
}

function heldOn(step: Step, host: string): [ContainerRecord, TaskRecord][] {
  return Object.values(step.state.containers).flatMap((container) => {
    const task = container.host === host && container.phase === "held" ? tenantOf(step, container) : undefined;
    return task === undefined ? [] : [[container, task] satisfies [ContainerRecord, TaskRecord]];
  });
}

/**
 * A program runs, perhaps only just started, on a node that is leaving: it is told, and told again where it may have missed the notice.
 */
export function tellOfDeparture(step: Step, container: ContainerRecord, task: TaskRecord): void {
  const leaving = step.state.leaving[container.host];
  if (leaving === undefined || task.phase !== "running") {
    return;
  }
  if (container.notice?.cause === "decommissioning") {
    sendNotice(step, container, task, container.notice);
    return;
  }
  const { stopGraceMs } = step.spec.timeouts;
  const notice = { cause: "decommissioning", atMs: step.nowMs } as const;
  if (leaving.atMs === undefined) {
    giveNotice(step, container, task, notice);
    return;
  }
  const endsAtMs = Math.max(step.nowMs, leaving.atMs - stopGraceMs - Bounds.stopMarginMs);
  giveNotice(step, container, task, { ...notice, endsAtMs });
  awaitOf(step, container, "departure", endsAtMs - step.nowMs);
}

/**
 * Nothing runs in the container, and what was saved there is uploaded: another container takes its place. @returns whether its node
 * leaves
 */
export function departUnstarted(step: Step, container: ContainerRecord, task: TaskRecord): boolean {
  if (!isLeaving(step, container.host)) {
    return false;
  }
  containerGone(step, container, departureEnding(step, task, container), "its node leaves the cluster");
  return true;
}

/** A task's checkpoint is complete: the tasks that go on from it need not wait any longer. */
export function departSaved(step: Step, gang: GangState, saved: TaskRecord): void {
  const ofGang = restartsWithGang(step, saved);
  for (const task of ofGang ? tasksOf(step, gang).filter((one) => restartsWithGang(step, one)) : [saved]) {
    const container = containerOf(step, task);
    if (container?.notice?.cause === "decommissioning") {
      depart(step, container, task, sharedCheckpoint(step, task)?.step ?? 0);
    }
  }
}

/** Its node goes soon, whatever its program has saved. */
export function departureOverdue(step: Step, container: ContainerRecord, task: TaskRecord): void {
  depart(step, container, task, 0);
}

function depart(step: Step, container: ContainerRecord, task: TaskRecord, checkpointStep: number): void {
  if (task.phase !== "running" || !startsAgain(step, task)) {
    return;
  }
  awaitNoMore(container, "departure");
  if (takesGangAlong(step, task)) {
    taskFailed(step, task, departureEnding(step, task, container, checkpointStep));
  } else {
    stopChild(step, task, { code: "node-leaves", step: checkpointStep });
  }
}

/** Containers of tasks that are not started again are ended by YARN itself when it takes the node. */
export function startsAgain(step: Step, task: TaskRecord): boolean {
  const isLeftOut = isSidecar(step, task) && restartPolicyOf(step, task) !== "task";
  return !isNeverRestarted(step, task) && !isLeftOut && !isNeededNoMore(step, task);
}

/** A task whose node leaves the cluster starts again elsewhere. `checkpointStep`: see its reason. */
export function departureEnding(
  step: Step,
  task: TaskRecord,
  container: ContainerRecord,
  checkpointStep?: number,
): Ending {
  const saved = checkpointStep === undefined ? {} : { checkpointStep };
  return {
    ...where(task, container),
    ...seen(step.nowMs),
    source: "core",
    strength: Strength.outside,
    class: "infrastructure",
    machine: false,
    reason: { code: "left-node", task: task.id, host: container.host, ...saved },
    exit: "",
    lines: [],
  };
}
