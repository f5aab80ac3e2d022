import { amountWords, durationWords } from "../../src/job/reasons/words.ts";
import type { JobStatus, RoleStatus, TaskStatus, Wait } from "../../src/job/status.ts";
import { formatClock } from "./format.ts";
import type { WaitBlock } from "./output.ts";

/** A shorter wait is not worth a look. */
const shortestMs = 1_500;

/** What a person sees while a job waits. Undefined when it waits for nothing, or not as long as `shortestShownMs` yet. */
export function waitBlock(
  status: JobStatus,
  head: string,
  nowMs: number,
  { shortestShownMs = shortestMs, ...hint }: HintOptions & { readonly shortestShownMs?: number } = {},
): WaitBlock | undefined {
  const waits = lasting(status, nowMs, shortestShownMs);
  const [first] = waits;
  if (first === undefined) return undefined;
  const counts = rolesOf(status).map((role) => `${role.name} ${countsOf(role)}`);
  const state = counts.length === 0 ? first.what : `${first.what} (${counts.join(", ")})`;
  return {
    lines: [head, ...linesOf(status, waits, nowMs), ...hintLines(status, hint)],
    cause: first.cause,
    line: `waiting ${durationWords(nowMs - first.sinceMs)} for ${state}`,
    change: state,
    facts: first.reasons,
    remedy: first.remedy,
    until: first.atEnd === undefined ? undefined : endWords(first),
  };
}

/** The progress of every role and what the job waits for; empty while it waits for nothing. */
export function waitingLines(status: JobStatus, nowMs: number): string[] {
  const waits = lasting(status, nowMs, shortestMs);
  return waits.length === 0 ? [] : linesOf(status, waits, nowMs);
}

export interface HintOptions {
  /** Whether the person at this client has asked for the job's end. */
  readonly ending?: boolean;
  /** Whether Ctrl-C ends the job; if not, it only stops following. */
  readonly owns?: boolean;
}

/** What Ctrl-C does while a job is followed. A job that is already ending needs no such hint. */
export function hintLines(
  { applicationId, outcome }: Pick<JobStatus, "applicationId" | "outcome">,
  { ending = false, owns = true }: HintOptions,
): string[] {
  if (ending && outcome === undefined) return ["  Ctrl-C again leaves at once"];
  if (ending) return [`  Ctrl-C again leaves it to end by itself: tony-ts status ${applicationId}`];
  if (outcome !== undefined) return [];
  if (!owns) return [`  Ctrl-C leaves the job running; to end it: tony-ts kill ${applicationId}`];
  return [`  Ctrl-C ends the job · close the terminal and it runs on: tony-ts status ${applicationId}`];
}

/** What a person sees while the ResourceManager is silent. */
export function managerWait(silentMs: number, reason: string): WaitBlock {
  const cause = "the ResourceManager";
  const line = `The ResourceManager has not answered for ${durationWords(silentMs)}; still trying, the job itself may be fine`;
  return { lines: [`${line}: ${reason}`], cause, line, change: cause, facts: [reason] };
}

function lasting({ waits }: JobStatus, nowMs: number, shortestShownMs: number): Wait[] {
  return waits.filter(({ sinceMs }) => nowMs - sinceMs >= shortestShownMs);
}

/** A search's roles count the tasks of all its trials, few of which run at once: the counts of trials say more. */
function rolesOf({ roles, search }: JobStatus): readonly RoleStatus[] {
  return search === undefined ? roles : [];
}

function linesOf(status: JobStatus, waits: readonly Wait[], nowMs: number): string[] {
  return [
    ...rolesOf(status).flatMap((role) => roleLines(role, status.tasks)),
    ...waits.flatMap((wait) => waitLines(wait, nowMs)),
  ];
}

function roleLines(role: RoleStatus, tasks: readonly TaskStatus[]): string[] {
  const resource = amountWords(role);
  const label = role.nodeLabel === undefined ? "" : ` · label ${role.nodeLabel}`;
  const own = tasks.filter(({ task, port }) => task.startsWith(`${role.name}:`) && port !== undefined);
  const places =
    own.length === 0 || own.length > 3 ? "" : ` · ${own.map(({ host, port }) => `${host}:${port}`).join(" ")}`;
  return [`  ${role.name.padEnd(9)} ${countsOf(role).padEnd(19)} ${resource}${label}${places}`];
}

/** The furthest stage that the whole role has reached: `2 of 4 allocated`. */
function countsOf({ instances, allocated, registered, running, ended }: RoleStatus): string {
  if (ended > 0 && running + ended >= instances) return `${running} running, ${ended} ended`;
  if (allocated < instances) return `${allocated} of ${instances} allocated`;
  if (registered < instances || running === 0) return `${registered} of ${instances} registered`;
  return running < instances ? `${running} of ${instances} running` : `${instances} running`;
}

function waitLines(wait: Wait, nowMs: number): string[] {
  const { what, sinceMs, reasons, remedy } = wait;
  const until = endWords(wait);
  return [
    `  waiting ${durationWords(nowMs - sinceMs)} for ${what}`,
    ...reasons.map((reason, index) => `            ${index === 0 ? "why: " : "     "}${reason}`),
    ...(remedy === undefined ? [] : [`            → ${remedy}`]),
    ...(until === undefined ? [] : [`            ${until}`]),
  ];
}

/** How long the wait can last, and what happens then. */
function endWords({ endsAtMs, atEnd }: Wait): string | undefined {
  if (endsAtMs === undefined) return undefined;
  const clock = formatClock(endsAtMs);
  return atEnd === undefined ? `until ${clock} at the latest` : `at ${clock} ${atEnd}`;
}
