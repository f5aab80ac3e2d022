import { stagesOf } from "../../../src/job/stages.ts";
import type { GangState } from "../state/gang.ts";
import { type Step, tasksOf } from "../state/step.ts";
import { openGeneration } from "./generation.ts";

/** Asks for the gangs that wait for nobody any more. */
export function beginStages(step: Step): void {
  for (const [position, stage] of stagesOf(step.spec.roles).entries()) {
    const gang = step.state.gangs[position];
    if (gang?.phase === "ahead" && stage.after.every((role) => isBehind(step, role))) {
      begin(step, gang, stage.after.length === 0 ? step.state.startedAtMs : step.nowMs);
    }
  }
}

/** Whether the gang of a role is done. */
function isBehind({ state }: Step, name: string): boolean {
  const role = state.roles.find((one) => one.name === name);
  return role === undefined || state.gangs[role.gang]?.phase === "done";
}

function begin(step: Step, gang: GangState, begunAtMs: number): void {
  gang.begunAtMs = begunAtMs;
  gang.phase = "gathering";
  openGeneration(step, gang);
  for (const task of tasksOf(step, gang)) {
    task.generation = gang.generation;
  }
  step.changed = true;
}
