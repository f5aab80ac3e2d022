import { discard } from "./containers.ts";
import type { Ending, NodeBlame, TaskRecord } from "./state.ts";
import { emit, findTask, log, type Step } from "./step.ts";
import { keyWords } from "./words.ts";

/**
 * The blame ladder counts failures of the machine's kind only: first the container is given up, then its node is kept off for the rest
 * of the job, then the job fails. A program's own bug blames no machine.
 */
export function blame(step: Step, ending: Ending): void {
  if (!ending.machine) {
    return;
  }
  const { failure } = step.spec;
  const task = findTask(step, ending.task);
  if (task !== undefined) {
    task.machineFailures++;
  }
  const container = step.state.containers[ending.containerId];
  if (container !== undefined) {
    container.machineFailures++;
    if (container.machineFailures >= failure.blame.container && container.phase !== "leaving") {
      discard(step, container, "its machine failed");
    }
  }
  const node = blameOf(step, ending.host);
  node.failures++;
  if (node.failures >= failure.blame.node && !node.excluded && mayExclude(step)) {
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
    emit(step, { type: "blacklist", hosts: excludedHosts(step) });
  }
}

/** A later word showed that the machine was not at fault. An exclusion stays: the node had failed before as well. */
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
}

export function excludedHosts(step: Step): string[] {
  return Object.entries(step.state.blame).flatMap(([host, { excluded }]) => (excluded ? [host] : []));
}

/** The machines of one task have failed so often that others will not help. */
export function isExhausted(step: Step, task: TaskRecord): boolean {
  return task.machineFailures >= step.spec.failure.blame.job;
}

export function exhaustedWords(step: Step, task: TaskRecord): string {
  const key = keyWords(step, "tony.failure.blame.job");
  return `machines failed ${task.id} ${task.machineFailures} times in a row, which ends the job (${key})`;
}

/** Never more than a third of the nodes, never the last one. */
function mayExclude(step: Step): boolean {
  const usable = Object.values(step.state.nodes).filter((node) => node.usable).length;
  return (excludedHosts(step).length + 1) * 3 <= usable;
}

function blameOf(step: Step, host: string): NodeBlame {
  step.state.blame[host] ??= { failures: 0, excluded: false };
  return step.state.blame[host];
}
