import { restartsWithGang } from "../policies/restart.ts";
import type { Ending, Suspension } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { gangOf, noteDurable, type Step } from "../state/step.ts";
import { seen } from "./ending-facts.ts";
import { Strength } from "./strength.ts";

/** An executor reports that it was cut off and had suspended its program for so long; it is kept as long as others may fail of it. */
export function noteSuspension(step: Step, task: TaskRecord, container: ContainerRecord, suspendedMs: number): void {
  // Only those that start and end together are each other's peers.
  if (!restartsWithGang(step, task)) {
    return;
  }
  const { nowMs } = step;
  const { suspensions } = gangOf(step, task);
  const { id, generation } = task;
  const { host } = container;
  const others = suspensions.filter((other) => other.task !== id && mayExplain(step, other, nowMs));
  const fromMs = nowMs - suspendedMs;
  const suspension = { task: id, containerId: container.id, host, generation, fromMs, toMs: nowMs };
  suspensions.splice(0, suspensions.length, ...others, suspension);
  noteDurable(step);
}

/** That a node was cut off, where a task of its generation lost the connection to its peer by that: its own node, if that was cut off. */
export function cutOffBefore(step: Step, { suspensions }: GangState, ending: Ending): Ending | undefined {
  if (ending.strength !== Strength.peerLost) {
    return undefined;
  }
  const possible = suspensions.filter(
    (suspension) => suspension.generation === ending.generation && mayExplain(step, suspension, ending.seenAtMs),
  );
  const suspension = possible.find(({ task }) => task === ending.task) ?? possible[0];
  return suspension && cutOffEnding(suspension, step.spec.timeouts.isolationMs);
}

/** Its connections were lost that long before its program was suspended; after it was resumed its peers have as long to notice. */
function mayExplain({ spec }: Step, { fromMs, toMs }: Suspension, atMs: number): boolean {
  const { isolationMs } = spec.timeouts;
  return fromMs - isolationMs <= atMs && atMs <= toMs + isolationMs;
}

/** A program that was suspended while its executor was cut off; `isolationMs`: after how long it is. Its node came back, and is not blamed. */
function cutOffEnding(suspension: Suspension, isolationMs: number): Ending {
  const { task, containerId, host, generation, fromMs, toMs } = suspension;
  return {
    ...{ task, containerId, host, generation },
    ...seen(fromMs - isolationMs),
    source: "core",
    strength: Strength.cutOff,
    class: "infrastructure",
    machine: false,
    reason: { code: "node-cut-off", task, host, suspendedMs: toMs - fromMs },
    exit: "",
    lines: [],
  };
}
