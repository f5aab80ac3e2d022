import type { FrameworkJob, FrameworkProblem } from "./framework.ts";

const MODE = "tony.application.distributed-mode";

/** Refuses a job whose programs start before the others are there. */
export function gangOnly({ distributedMode }: FrameworkJob, framework: string): FrameworkProblem[] {
  if (distributedMode === "gang") return [];
  const message = `= fcfs starts programs before the others are there, and ${framework} needs their addresses: take it out`;
  return [{ severity: "error", key: MODE, message }];
}

/** Refuses a job in which a role, of which there is to be one task, has none or several. */
export function exactlyOne({ roles }: FrameworkJob, role: string, what: string): FrameworkProblem[] {
  const instances = roles.find(({ name }) => name === role)?.instances ?? 0;
  if (instances === 1) return [];
  return [{ severity: "error", key: `tony.${role}.instances`, message: `must be 1, not ${instances}: it is ${what}` }];
}
