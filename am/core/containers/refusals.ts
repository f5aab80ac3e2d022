import { fits } from "../../../src/job/fits.ts";
import type { RoleSpec } from "../../../src/job/spec.ts";
import type { NodeView } from "../state/events.ts";
import type { AskRefusal, RoleAsk } from "../state/records.ts";
import { roleOf, type Step } from "../state/step.ts";
import { labelFits } from "./placement.ts";

/** Not only nodes change what YARN allocates: a queue's own maximum may rise. */
const ASK_AGAIN_MS = 60_000;
/** The end of any container may free a place that a constraint allows. */
const PLACE_AGAIN_MS = 10_000;

/**
 * The role's containers are refused for now: they are not asked for again for a while, or until a node comes that is large enough.
 * @returns whether this is new
 */
export function noteRefusal(step: Step, said: RoleAsk, why: Omit<AskRefusal, "untilMs">): boolean {
  const isNew = said.refusal === undefined;
  said.outstanding = 0;
  said.hinted = false;
  said.hintsExhausted = false;
  said.refusal = { ...why, untilMs: step.nowMs + (why.unplaced ? PLACE_AGAIN_MS : ASK_AGAIN_MS) };
  step.changed = true;
  return isNew;
}

/** Whether a role's containers are not asked for, because they would be refused. */
export function isRefused({ state, nowMs }: Pick<Step, "state" | "nowMs">, position: number): boolean {
  return (state.asks[position]?.refusal?.untilMs ?? 0) > nowMs;
}

/** When refused containers are asked for again. */
export function askAgainTimes({ state }: Pick<Step, "state">): (number | undefined)[] {
  return state.asks.map(({ refusal }) => refusal?.untilMs);
}

/** Nodes have come or changed: containers for which they are large enough are asked for again. */
export function reconsiderRefusals(step: Step, nodes: readonly NodeView[]): void {
  for (const [position, said] of step.state.asks.entries()) {
    const role = roleOf(step, { role: position });
    if (said.refusal !== undefined && nodes.some((node) => isLargeEnough(node, role))) {
      said.refusal = { ...said.refusal, untilMs: step.nowMs };
    }
  }
}

function isLargeEnough(node: NodeView, { resource, nodeLabel }: RoleSpec): boolean {
  const { usable, total } = node;
  return usable && labelFits(node, nodeLabel) && (total === undefined || fits(resource, total));
}
