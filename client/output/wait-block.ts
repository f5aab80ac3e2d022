import type { JobStatus, RoleStatus, TaskStatus, Wait } from "../../src/job/status.ts";
import { formatClock, formatResource, formatWholeSeconds } from "./format.ts";
import type { WaitBlock } from "./output.ts";

/** What a person sees while a job waits. Undefined while nothing is waited for, or not for as long as `shortestShownMs`. */
export function waitBlock(
  status: JobStatus,
  head: string,
  nowMs: number,
  shortestShownMs = 1_500,
): WaitBlock | undefined {
  const waits = status.waits.filter(({ sinceMs }) => nowMs - sinceMs >= shortestShownMs);
  const [first] = waits;
  if (first === undefined) return undefined;
  const state = `${first.what} (${status.roles.map((role) => `${role.name} ${countsOf(role)}`).join(", ")})`;
  return {
    lines: [
      head,
      ...status.roles.flatMap((role) => roleLines(role, status.tasks)),
      ...waits.flatMap((wait) => waitLines(wait, nowMs)),
      `  Ctrl-C ends the job · close the terminal and it runs on: tony-ts status ${status.applicationId}`,
    ],
    cause: first.cause,
    line: `waiting ${formatWholeSeconds(nowMs - first.sinceMs)} for ${state}`,
    change: state,
    facts: [...first.reasons, ...(first.remedy === undefined ? [] : [`→ ${first.remedy}`])],
  };
}

/** What a person sees while the ResourceManager is silent. */
export function managerWait(silentMs: number, reason: string): WaitBlock {
  const cause = "the ResourceManager";
  const line = `The ResourceManager has not answered for ${formatWholeSeconds(silentMs)}; still trying, the job itself may be fine`;
  return { lines: [`${line}: ${reason}`], cause, line, change: cause, facts: [reason] };
}

function roleLines(role: RoleStatus, tasks: readonly TaskStatus[]): string[] {
  const resource = formatResource(role);
  const label = role.nodeLabel === undefined ? "" : ` · label ${role.nodeLabel}`;
  const own = tasks.filter(({ task, port }) => task.startsWith(`${role.name}:`) && port !== undefined);
  const places =
    own.length === 0 || own.length > 3 ? "" : ` · ${own.map(({ host, port }) => `${host}:${port}`).join(" ")}`;
  return [`  ${role.name.padEnd(9)} ${countsOf(role).padEnd(19)} ${resource}${label}${places}`];
}

/** The furthest that the role as a whole has come: `2 of 4 allocated`. */
function countsOf({ instances, allocated, registered, running, ended }: RoleStatus): string {
  if (ended > 0 && running + ended >= instances) return `${running} running, ${ended} ended`;
  if (allocated < instances) return `${allocated} of ${instances} allocated`;
  if (registered < instances || running === 0) return `${registered} of ${instances} registered`;
  return running < instances ? `${running} of ${instances} running` : `${instances} running`;
}

function waitLines({ what, sinceMs, reasons, remedy, endsAtMs }: Wait, nowMs: number): string[] {
  return [
    `  ${what}, waiting ${formatWholeSeconds(nowMs - sinceMs)}`,
    ...reasons.map((reason, index) => `            ${index === 0 ? "why: " : "     "}${reason}`),
    ...(remedy === undefined ? [] : [`            → ${remedy}`]),
    ...(endsAtMs === undefined ? [] : [`            until ${formatClock(endsAtMs)} at the latest`]),
  ];
}
