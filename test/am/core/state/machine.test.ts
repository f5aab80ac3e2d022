import { describe, expect, test } from "@jest/globals";
import { createCore } from "../../../../am/core/core.ts";
import { nextPhase } from "../../../../am/core/state/machine.ts";
import { type Defects, newStep } from "../../../../am/core/state/step.ts";
import { moveTask, TASK } from "../../../../am/core/state/task-moves.ts";
import { machine, mayMove } from "../../../../src/moves.ts";
import { jobSpec, role } from "../../../simulation/job.ts";

const spec = jobSpec([role("worker", 1)]);
const identity = {
  applicationId: "application_1_0001",
  attempt: 1,
  amHost: "n0",
  amContainerId: "c0",
  startedAtMs: 0,
  nodeHeartbeatMs: 1_000,
};

function stepOf(defects: Defects) {
  const step = newStep(spec, identity, createCore(spec, identity).state, defects);
  const [task] = step.state.tasks;
  if (task === undefined) {
    throw new Error("a job without tasks");
  }
  return { step, task };
}

describe("a move", () => {
  test("changes the phase, and the journal where its row says so", () => {
    const { step, task } = stepOf("throw");
    moveTask(step, task, "container-given");
    expect(task.phase).toBe("allocated");
    expect(step.state.roles[0]?.counts).toMatchObject({ waiting: 0, allocated: 1 });
    expect(step.state.journal.dirty).toBe(false);
    moveTask(step, task, "container-given-back");
    expect(task.phase).toBe("waiting");
    expect(step.state.journal.dirty).toBe(true);
  });

  test("that is ignored changes nothing", () => {
    const { step, task } = stepOf("throw");
    moveTask(step, task, "job-ends");
    moveTask(step, task, "job-ends");
    expect(task.phase).toBe("stopped");
    expect(step.state.journal.dirty).toBe(false);
    expect(mayMove(TASK, "stopped", "job-ends")).toBe(false);
  });

  test("without a row throws in tests", () => {
    const { step, task } = stepOf("throw");
    expect(() => moveTask(step, task, "program-runs")).toThrow(
      "The table of task has no row for program-runs in waiting (worker:0)",
    );
    expect(mayMove(TASK, task.phase, "program-runs")).toBe(false);
  });

  test("without a row is logged once in production, and changes nothing", () => {
    const { step, task } = stepOf("log");
    moveTask(step, task, "program-runs");
    moveTask(step, task, "program-runs");
    moveTask(step, task, "stop-overdue");
    expect(task.phase).toBe("waiting");
    expect(step.changed).toBe(false);
    expect(step.effects).toMatchObject([
      { type: "log", level: "error", event: "defect" },
      { type: "log", level: "error", event: "defect" },
    ]);
  });
});

test("a table answers each event in a phase once", () => {
  const row = { on: "go", from: ["red", "green"], to: "green", durable: true, does: "drive" } as const;
  const lamp = { name: "lamp", phases: { red: "", green: "" }, groups: {} };
  expect(() => machine({ ...lamp, rows: [row, { ...row, from: ["red"] }] })).toThrow("two rows of the table of lamp");
  const { step } = stepOf("throw");
  expect(nextPhase(step, machine({ ...lamp, rows: [row] }), { id: "1", phase: "red" }, "go")).toBe("green");
});
