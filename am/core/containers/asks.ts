import { trialsToBegin } from "../policies/trials.ts";
import { deadlineIn } from "../state/deadlines.ts";
import type { Ask } from "../state/effects.ts";
import type { RoleAsk } from "../state/records.ts";
import { emit, log, type Step } from "../state/step.ts";
import { priorityOf, wantingRoles } from "./containers.ts";
import { placeGang } from "./placement.ts";
import { isRefused } from "./refusals.ts";

/**
 * Brings what is asked of the ResourceManager in line with what tasks wait for. The ResourceManager counts an ask down by itself with
 * every container it gives, so an ask is sent only where the two numbers differ: repeating it would yield containers twice.
 */
export function updateAsks(step: Step): void {
  const changed: number[] = [];
  for (const [position, said] of step.state.asks.entries()) {
    const wanted = wantedOf(step, position);
    if (wanted !== said.outstanding || mayBePending(said, wanted)) {
      changed.push(position);
    }
  }
  if (changed.length > 0) {
    ask(step, changed);
  }
}

/**
 * Nothing is wanted any more, but the ask was sent twice: a container that the ResourceManager was allocating when the second ask
 * arrived may still be pending there, as a claim on the queue that nobody needs.
 */
function mayBePending({ hintsExhausted }: RoleAsk, wanted: number): boolean {
  return wanted === 0 && hintsExhausted;
}

/** After a restart of the ResourceManager: asks again for everything outstanding. */
export function repeatAsks(step: Step): void {
  for (const said of step.state.asks) {
    said.outstanding = -1;
    said.refusal = undefined;
  }
}

/**
 * The number of node heartbeats after which naming hosts is given up. Two where hosts are named for speed; twice that where the role's
 * placement is asked for.
 */
const PATIENCE_HEARTBEATS = { any: 2, chosen: 4 } as const;

/** Whether hosts are named for the role's placement, not for speed. */
function isChosen({ state, spec }: Step, position: number): boolean {
  return state.asks[position]?.hinted === true && spec.roles[position]?.placement !== "any";
}

/** Naming hosts has brought nothing for some node heartbeats: from now on any host will do. */
export function hintsExhausted(step: Step): void {
  const { state } = step;
  state.hintsDeadline = undefined;
  const hinted = state.asks.flatMap(({ hinted, outstanding }, position) =>
    hinted && outstanding > 0 ? [position] : [],
  );
  for (const position of hinted) {
    const said = state.asks[position];
    if (said !== undefined) {
      said.hintsExhausted = true;
    }
  }
  if (hinted.length > 0) {
    ask(step, hinted);
  }
}

/**
 * How many containers a role still lacks and may be given. Containers kept from an earlier attempt whose executors may yet name their
 * task count as had.
 */
function wantedOf(step: Step, position: number): number {
  if (isRefused(step, position)) {
    return 0;
  }
  const waiting = wantingRoles(step, position).reduce(
    (sum, role) => sum + (step.state.roles[role]?.counts.waiting ?? 0),
    0,
  );
  const lacking = waiting - (step.state.unclaimed[position] ?? 0);
  return lacking <= 0 ? 0 : Math.min(lacking, trialsToBegin(step, position));
}

function ask(step: Step, positions: readonly number[]): void {
  const hints = placeGang(
    step,
    positions.map((position) => ({ position, count: wantedOf(step, position) })),
  );
  const asks: Ask[] = [];
  for (const position of positions) {
    const said = step.state.asks[position];
    const spec = step.spec.roles[position];
    if (said === undefined || spec === undefined) {
      continue;
    }
    const count = wantedOf(step, position);
    const { hosts, racks } = hints.get(position) ?? { hosts: [], racks: [] };
    if (count === 0 && said.outstanding === 0 && !mayBePending(said, count)) {
      continue;
    }
    if (count > 0 && said.outstanding === 0) {
      said.sinceMs = step.nowMs;
    }
    said.outstanding = count;
    said.hinted = hosts.length > 0;
    if (count === 0) {
      said.hintsExhausted = false;
    }
    asks.push({
      role: spec.name,
      priority: priorityOf(position),
      resource: spec.resource,
      count,
      ...(spec.nodeLabel === undefined ? {} : { nodeLabel: spec.nodeLabel }),
      ...(spec.constrained === undefined ? {} : { constrained: spec.constrained }),
      hosts,
      racks,
      ...(isChosen(step, position) ? { relaxLocality: false } : {}),
    });
  }
  emit(step, { type: "ask", asks });
  if (step.state.asks.some(({ hinted }) => hinted)) {
    const patience = step.state.asks.some((_, position) => isChosen(step, position)) ? "chosen" : "any";
    step.state.hintsDeadline = deadlineIn(step, PATIENCE_HEARTBEATS[patience] * step.identity.nodeHeartbeatMs);
  }
  const wanted = asks.filter((one) => one.count > 0);
  if (wanted.length > 0) {
    const words = wanted.map((one) => `${one.role} × ${one.count}`).join(", ");
    log(step, "info", "containers-asked", `Asked for containers: ${words}.`);
  }
}
