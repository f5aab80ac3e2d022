import { expect, test } from "@jest/globals";
import { budgetFor, formatBudgets } from "../../../client/output/budgets.ts";
import { generationTable } from "../../../client/output/job-tables.ts";
import type { Budgets } from "../../../src/job/status.ts";
import { aJobStatus, noonishMs, outOfMemory } from "../job-status.ts";

const shared = { program: { used: 1, limit: 2 }, infrastructure: { used: 0, limit: 10 } };
const budgets: Budgets = { ...shared, roles: [{ role: "worker", used: 3, limit: 3 }] };
const { roles } = aJobStatus();

test("restarts of roles that have their own are told apart from the others'", () => {
  expect(formatBudgets({ budgets: shared, roles })).toBe(
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

test("each generation's end counts beside those that the same budget paid for", () => {
  const ended = ["worker:1", "ps:0", "worker:0"].map((task, index) => ({
    generation: index + 1,
    startedAtMs: noonishMs,
    endedBy: outOfMemory({ class: "program", task, atMs: noonishMs + index }),
  }));
  const generations = [...ended, { generation: 4, startedAtMs: noonishMs }];
  const table = generationTable(aJobStatus({ budgets, generations })).join("\n");
  expect(table).toMatch(/worker: 1 of 3 used[\s\S]*restarts: 1 of 2 used[\s\S]*worker: 2 of 3 used/);
});

test("a restart that was not charged uses up nothing of what the next one is told of", () => {
  const preempted = { code: "container-preempted", task: "worker:1", host: "127.0.0.12" } as const;
  const ends = [
    outOfMemory({ class: "infrastructure", atMs: noonishMs, reason: preempted }),
    outOfMemory({ class: "infrastructure", atMs: noonishMs + 1_000 }),
    outOfMemory({ class: "infrastructure", atMs: noonishMs + 2_000 }),
  ];
  const ended = ends.map((endedBy, index) => ({ generation: index + 1, startedAtMs: noonishMs, endedBy }));
  const generations = [...ended, { generation: 4, startedAtMs: noonishMs }];
  const rows = generationTable(aJobStatus({ budgets: shared, generations })).slice(1);
  expect(rows.map((row) => / {2,}([^ ].*?) {2,}–$/.exec(row)?.[1]?.split(/ {2,}/).at(-1))).toEqual([
    "preemption, not counted",
    "infrastructure restarts: 1 of 10 used",
    "infrastructure restarts: 2 of 10 used",
    "–",
  ]);
});
