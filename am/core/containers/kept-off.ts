import type { NodeView } from "../state/events.ts";
import { emit, type Step } from "../state/step.ts";

/** Hosts excluded for the rest of the job, because too much failed there. */
export function excludedHosts({ state }: Pick<Step, "state">): string[] {
  return Object.entries(state.blame).flatMap(([host, { excluded }]) => (excluded ? [host] : []));
}

/** Whether the host is excluded. */
export function isExcluded({ state }: Pick<Step, "state">, host: string): boolean {
  return state.blame[host]?.excluded === true;
}

/** Whether the host is being taken out of the cluster. */
export function isLeaving({ state }: Pick<Step, "state">, host: string): boolean {
  return state.leaving[host] !== undefined;
}

/** Nodes that this attempt has heard are leaving, perhaps before it had read its journal. */
export function leavingNodes({ state }: Pick<Step, "state">): NodeView[] {
  return Object.values(state.nodes).filter(({ decommissioning }) => decommissioning !== undefined);
}

/** Whether the node was taken out of the cluster: nothing runs there any more. */
export function isGone({ state }: Pick<NodeView, "state">): boolean {
  return state === "DECOMMISSIONED";
}

/** Whether the job wants no containers there. */
export function isKeptOff(step: Pick<Step, "state">, host: string): boolean {
  return isExcluded(step, host) || isLeaving(step, host);
}

/** Tells YARN which hosts to keep off now. */
export function keepOff(step: Step): void {
  emit(step, { type: "blacklist", hosts: keptOffHosts(step) });
}

/** A ResourceManager that has restarted since an earlier attempt sent it the list keeps nothing off. */
export function keepOffAgain(step: Step): void {
  if (keptOffHosts(step).length > 0) {
    keepOff(step);
  }
}

function keptOffHosts(step: Step): string[] {
  return [...new Set([...excludedHosts(step), ...Object.keys(step.state.leaving)])];
}
