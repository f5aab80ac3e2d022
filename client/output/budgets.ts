import { budgetWords } from "../../src/job/reasons/words.ts";
import type { Budget, Budgets, Cause, JobStatus } from "../../src/job/status.ts";

/** The budget that pays for a failure: that of the task's role, where the role has its own, or the job's. */
export function budgetFor(budgets: Budgets, { class: failureClass, task = "" }: Cause): Budget & { role?: string } {
  const own = budgets.roles?.find(({ role }) => task.startsWith(`${role}:`));
  return failureClass === "program" && own !== undefined ? own : budgets[failureClass];
}

/** `program restarts: 1 of 2 used, infrastructure restarts: 0 of 10 used`; roles with budgets of their own are listed separately */
export function formatBudgets({ budgets, roles }: Pick<JobStatus, "budgets" | "roles">): string {
  const { program, infrastructure, roles: own = [] } = budgets;
  const others = own.length === 0 ? program : { ...program, role: "other roles" };
  const shared = own.length === roles.length && own.length > 0 ? [] : [others];
  const words = [...own, ...shared].map((budget) => budgetWords("program", budget));
  return [...words, budgetWords("infrastructure", infrastructure)].join(", ");
}
