import { endedBecause } from "../../../src/job/outcome.ts";
import { durationWords, settingOf } from "../../../src/job/reasons/words.ts";
import type { GroupLimit } from "../../../src/job/spec.ts";
import { hasEnded } from "../policies/completion.ts";
import { deadlineIn, dueMsOf } from "../state/deadlines.ts";
import { gangOf, log, noteDurable, type Step } from "../state/step.ts";
import { finish } from "./finish.ts";

/**
 * The limit of a role that runs on starts with the end of its group, and starts anew where a restart makes the group run
 * again.
 */
export function watchGroups(step: Step): void {
  const { groupDeadlines, outcome } = step.state;
  for (const [position, limit] of step.spec.groupLimits.entries()) {
    if (outcome !== undefined || !runsOnAfterGroup(step, limit)) {
      delete groupDeadlines[position];
    } else if (groupDeadlines[position] === undefined) {
      groupDeadlines[position] = deadlineIn(step, limit.limitMs);
      noteDurable(step);
      const { role, group, limitMs } = limit;
      log(step, "info", "group-ended", `Group ${group} has ended: ${role} may run on for ${durationWords(limitMs)}.`);
    }
  }
}

export function groupLimitsDueMs({ state }: Step): number | undefined {
  const dues = Object.values(state.groupDeadlines).map((deadline) => dueMsOf(state, deadline));
  return dues.length === 0 ? undefined : Math.min(...dues);
}

export function groupLimitsOverdue(step: Step): void {
  const { state, spec } = step;
  for (const [position, limit] of spec.groupLimits.entries()) {
    const deadline = state.groupDeadlines[position];
    if (deadline !== undefined && dueMsOf(state, deadline) <= step.nowMs) {
      delete state.groupDeadlines[position];
      roleOverdue(step, limit);
    }
  }
}

function roleOverdue(step: Step, { role, group, limitMs, atLimit }: GroupLimit): void {
  const key = `tony.application.dependency.${role}.timeout.after.${group}`;
  if (atLimit === "fail") {
    const setting = settingOf(step.spec, key);
    finish(step, endedBecause("failed", { code: "role-outlived-group", role, group, limitMs, setting }));
    return;
  }
  step.state.untracked.push(role);
  noteDurable(step);
  step.changed = true;
  const words = `${role} still runs ${durationWords(limitMs)} after group ${group} has ended: the job does not wait for it any more.`;
  log(step, "warn", "role-untracked", words);
}

/** Whether a role runs on after all of a group have ended, in a generation that runs. */
export function runsOnAfterGroup(step: Pick<Step, "spec" | "state">, { role, roles }: GroupLimit): boolean {
  const { untracked } = step.state;
  const position = step.spec.roles.findIndex(({ name }) => name === role);
  return (
    position >= 0 &&
    gangOf(step, { role: position }).phase === "running" &&
    !untracked.includes(role) &&
    roles.every((name) => ended(step, name)) &&
    !ended(step, role)
  );
}

function ended({ spec, state }: Pick<Step, "spec" | "state">, name: string): boolean {
  return spec.roles.every((role, position) => {
    const counts = state.roles[position];
    return role.name !== name || (counts !== undefined && hasEnded(role, counts));
  });
}
