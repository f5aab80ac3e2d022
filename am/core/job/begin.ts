import { endedBecause } from "../../../src/job/outcome.ts";
import type { OutcomeReason } from "../../../src/job/reasons/outcomes.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import { beginStages } from "../gang/stages.ts";
import type { Event } from "../state/events.ts";
import { moveJob } from "../state/job-moves.ts";
import type { CoreState } from "../state/state.ts";
import { log, record, type Step } from "../state/step.ts";
import { finish } from "./finish.ts";

/**
 * The ResourceManager knows this attempt. The first attempt begins at once; a later one first reads what the earlier one
 * left.
 */
export function registered(step: Step, event: Extract<Event, { type: "am-registered" }>): void {
  const { state } = step;
  state.counted = event.counted;
  state.resourceTypes = event.resourceTypes;
  step.roomChanged = true;
  if (state.phase !== "starting") {
    return;
  }
  const words = `Attempt ${event.attempt} of the ApplicationMaster on ${state.amHost} is registered.`;
  log(step, "info", "am-registered", words, { attempt: event.attempt });
  if (event.attempt === 1) {
    beginJob(step);
  }
}

/** Begins the first generation of a job that has none. */
export function beginJob(step: Step): void {
  const { state, spec } = step;
  const problem = unknownResource(step);
  if (problem !== undefined) {
    finish(step, endedBecause("failed", problem));
    return;
  }
  record(step, { type: "job-started", name: spec.name, tasks: state.tasks.length });
  moveJob(step, "begun");
  beginStages(step);
}

/** When the job has run for as long as it may, counted from the first attempt's start. */
export function applicationDueMs({ spec, state }: Step): number | undefined {
  const { applicationMs } = spec.timeouts;
  return applicationMs === undefined || !isUnderWay(state) ? undefined : state.startedAtMs + applicationMs;
}

export function applicationOverdue(step: Step): void {
  const limitMs = step.spec.timeouts.applicationMs ?? 0;
  const setting = settingOf(step.spec, "tony.application.timeout");
  finish(step, endedBecause("failed", { code: "job-too-long", limitMs, setting }));
}

/** A later attempt knows nothing of the job before it has read the journal, and ends nothing. */
export function isUnderWay({ phase, outcome }: CoreState): boolean {
  return phase !== "starting" && outcome === undefined;
}

/** A resource type that the cluster does not know: YARN would silently drop it. */
function unknownResource({ spec, state }: Step): OutcomeReason | undefined {
  for (const { name, resource } of spec.roles) {
    for (const [type, asked] of Object.entries(resource.others)) {
      if (asked > 0 && !state.resourceTypes.includes(type)) {
        return { code: "resource-unknown", role: name, type, asked };
      }
    }
  }
  return undefined;
}
