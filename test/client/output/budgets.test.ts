import { expect, test } from "@jest/globals";
import { budgetFor, formatBudgets } from "../../../client/output/budgets.ts";
import type { Budgets } from "../../../src/job/status.ts";
import { aJobStatus, outOfMemory } from "../job-status.ts";

const shared = { program: { used: 1, limit: 2 }, infrastructure: { used: 0, limit: 10 } };
const budgets: Budgets = { ...shared, roles: [{ role: "worker", used: 3, limit: 3 }] };
const { roles } = aJobStatus();

test("restarts of roles that have their own are told apart from the others'", () => {
  expect(formatBudgets({ budgets: shared, roles })).toBe(
    "program restarts: 1 of 2 used, infrastructure restarts: 0 of 10 used",
  );
  expect(formatBudgets({ budgets: shared, roles: [] })).toBe(
    "program restarts: 1 of 2 used, infrastructure restarts: 0 of 10 used",
  );
  expect(formatBudgets({ budgets, roles: [...roles, ...roles] })).toBe(
    "program restarts of worker: 3 of 3 used, program restarts of other roles: 1 of 2 used, infrastructure restarts: 0 of 10 used",
  );
  expect(formatBudgets({ budgets, roles: roles.slice(0, 1) })).toBe(
    "program restarts of worker: 3 of 3 used, infrastructure restarts: 0 of 10 used",
  );
});

test("a failure is the budget's that pays for it", () => {
  expect(budgetFor(budgets, outOfMemory({ class: "program", task: "worker:1" }))).toBe(budgets.roles?.[0]);
  expect(budgetFor(budgets, outOfMemory({ class: "program", task: "ps:0" }))).toBe(budgets.program);
  expect(budgetFor(budgets, outOfMemory({ class: "program", task: "coworker:0" }))).toBe(budgets.program);
  expect(budgetFor(budgets, outOfMemory({ class: "infrastructure", task: "worker:1" }))).toBe(budgets.infrastructure);
});
