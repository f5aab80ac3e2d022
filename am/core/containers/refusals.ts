import { endedBecause } from "../../../src/job/outcome.ts";
import type { OutcomeReason } from "../../../src/job/reasons/outcomes.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import type { JobSpec, RoleSpec } from "../../../src/job/spec.ts";
import { finish } from "../job/finish.ts";
import type { Event, NodeView, ResourceAmount } from "../state/events.ts";
import { log, roleOf, type Step } from "../state/step.ts";
import { labelFits } from "./placement.ts";

/** Not only nodes change what YARN gives: a queue's own maximum may rise. */
const ASK_AGAIN_MS = 60_000;

/**
 * YARN refuses containers of a role's size. Beyond the configured maximum it always will. Otherwise the nodes that are registered now are
 * too small (ClusterNodeTracker#getMaxAllowedAllocation), perhaps because the only large one restarts: they are asked for again when
 * another comes.
 */
export function askTooLarge(step: Step, event: Extract<Event, { type: "ask-too-large" }>): void {
  const { role, message, allowed, configured } = event;
  const position = step.spec.roles.findIndex(({ name }) => name === role);
  const said = step.state.asks[position];
  if (said === undefined) {
    return;
  }
  const never = configured && beyondConfigured(step.spec, roleOf(step, { role: position }), configured);
  if (never !== undefined) {
    finish(step, endedBecause("failed", never));
    return;
  }
  if (said.refusal === undefined) {
    const words = `YARN gives no container as large as a ${role}'s at present; they are asked for again when a larger node registers: ${message}`;
    log(step, "warn", "ask-too-large", words);
  }
  said.outstanding = 0;
  said.hinted = false;
  said.hintsExhausted = false;
  said.refusal = { untilMs: step.nowMs + ASK_AGAIN_MS, ...(allowed === undefined ? {} : { allowed }) };
  step.changed = true;
}

/** Whether a role's containers are not asked for, as they would be refused. */
export function isRefused({ state, nowMs }: Pick<Step, "state" | "nowMs">, position: number): boolean {
  return (state.asks[position]?.refusal?.untilMs ?? 0) > nowMs;
}

/** When what was refused is asked for again. */
export function askAgainTimes({ state }: Pick<Step, "state">): (number | undefined)[] {
  return state.asks.map(({ refusal }) => refusal?.untilMs);
}

/** Nodes have come or changed: what they are large enough for is asked for again. */
export function reconsiderRefusals(step: Step, nodes: readonly NodeView[]): void {
  for (const [position, said] of step.state.asks.entries()) {
    const role = roleOf(step, { role: position });
    if (said.refusal !== undefined && nodes.some((node) => isLargeEnough(node, role))) {
      said.refusal = { ...said.refusal, untilMs: step.nowMs };
    }
  }
}

function isLargeEnough(node: NodeView, { resource, nodeLabel }: RoleSpec): boolean {
  const { total } = node;
  if (!node.usable || !labelFits(node, nodeLabel)) {
    return false;
  }
  return (
    total === undefined ||
    (resource.memoryMiB <= total.memoryMiB &&
      resource.vcores <= total.vcores &&
      Object.entries(resource.others).every(([type, asked]) => asked <= (total.others[type] ?? 0)))
  );
}

/** What of the role's containers no node could give; a type that the maximum does not name is not limited. */
function beyondConfigured(
  spec: JobSpec,
  { name, resource }: RoleSpec,
  { memoryMiB, vcores, others }: ResourceAmount,
): OutcomeReason | undefined {
  if (resource.memoryMiB > memoryMiB) {
    const setting = settingOf(spec, `tony.${name}.memory`);
    return { code: "memory-beyond-cluster", setting, askedMiB: resource.memoryMiB, mostMiB: memoryMiB };
  }
  if (resource.vcores > vcores) {
    const setting = settingOf(spec, `tony.${name}.vcores`);
    return { code: "cores-beyond-cluster", setting, asked: resource.vcores, most: vcores };
  }
  for (const [type, asked] of Object.entries(resource.others)) {
    const most = others[type];
    if (most !== undefined && asked > most) {
      return { code: "resource-beyond-cluster", role: name, type, asked, most };
    }
  }
  return undefined;
}
