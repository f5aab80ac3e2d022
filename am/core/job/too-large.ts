import { endedBecause } from "../../../src/job/outcome.ts";
import type { OutcomeReason } from "../../../src/job/reasons/outcomes.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import type { JobSpec, Resource, RoleSpec } from "../../../src/job/spec.ts";
import { noteRefusal } from "../containers/refusals.ts";
import type { Event } from "../state/events.ts";
import { log, roleOf, type Step } from "../state/step.ts";
import { finish } from "./finish.ts";

/**
 * YARN refuses containers of a role's size. Beyond the configured maximum it always will. Otherwise the nodes registered now are too
 * small (ClusterNodeTracker#getMaxAllowedAllocation), perhaps because the only large one is restarting: the job waits for another.
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
  } else if (noteRefusal(step, said, allowed === undefined ? {} : { allowed })) {
    const words = `YARN gives no container as large as a ${role}'s at present; they are asked for again when a larger node registers: ${message}`;
    log(step, "warn", "ask-too-large", words);
  }
}

/** The resource of a role's containers that no node could give; a type that the maximum does not name is not limited. */
function beyondConfigured(
  spec: JobSpec,
  { name, resource }: RoleSpec,
  { memoryMiB, vcores, others }: Resource,
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
