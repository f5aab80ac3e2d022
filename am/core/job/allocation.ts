import { endedBecause } from "../../../src/job/outcome.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import { awaitedWords, type WaitFacts } from "../../../src/job/wait.ts";
import { containerWait } from "../containers/container-wait.ts";
import type { GangState } from "../state/gang.ts";
import { wasSpecOut } from "../state/gang-moves.ts";
import type { TaskPhase } from "../state/records.ts";
import { rolesOf, type Step, tasksOf } from "../state/step.ts";
import { isUnderWay } from "./begin.ts";
import { finish } from "./finish.ts";

const UNREGISTERED: readonly TaskPhase[] = ["waiting", "allocated", "launched", "preparing"];

/**
 * When every task of a gang must have registered, counted from the first attempt's start for a gang that waits for no other. A gang
 * that has enough to start will do so soon.
 */
export function allocationDueMs({ spec, state }: Step, gang: GangState): number | undefined {
  const { allocationMs } = spec.timeouts;
  const { phase, begunAtMs, restDeadline } = gang;
  // A trial may wait for others, which run.
  const isFirst = phase === "gathering" && !(spec.trials === undefined ? [gang] : state.gangs).some(wasSpecOut);
  const isBeingAllocated = isFirst && restDeadline === undefined && isUnderWay(state);
  return allocationMs === undefined || !isBeingAllocated ? undefined : begunAtMs + allocationMs;
}

export function allocationOverdue(step: Step, gang: GangState): void {
  const late = rolesOf(step, gang).map(([position, { name }]) => lateOf(step, position, name));
  const limitMs = step.spec.timeouts.allocationMs ?? 0;
  const setting = settingOf(step.spec, "tony.container.allocation.timeout");
  const tasks = tasksOf(step, gang).length;
  const missing = late.reduce((sum, role) => sum + role.missing, 0);
  const awaited = late.flatMap((role) => role.awaited);
  finish(step, endedBecause("failed", { code: "allocation-too-long", missing, tasks, limitMs, setting, awaited }));
}

/**
 * How many tasks of a role have not registered, and what they wait for: containers, with the reasons why these do not come, or
 * executors.
 */
function lateOf(step: Step, position: number, name: string): { missing: number; awaited: string[] } {
  const late = step.state.tasks.filter(({ role, phase }) => role === position && UNREGISTERED.includes(phase));
  const waiting = late.filter(({ phase }) => phase === "waiting").length;
  const starting = late.filter(({ phase }) => phase !== "waiting").map(({ id }) => id);
  const awaited: Pick<WaitFacts, "reason" | "delays">[] = [
    ...(waiting > 0 ? [containerWait(step, position, waiting)] : []),
    ...(starting.length > 0 ? [{ reason: { code: "executors", role: name, tasks: starting } as const }] : []),
  ];
  return { missing: late.length, awaited: awaited.map(awaitedWords) };
}
