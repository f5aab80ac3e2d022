import { expect, test } from "@jest/globals";
import { readHistoryEvent } from "../../../src/job/history-event.ts";
import { jobSpec, role } from "../../simulation/job.ts";
import { Scenario } from "./scenario.ts";

test("what the core records can be read back as it was meant", () => {
  const scenario = new Scenario(jobSpec([role("worker", 2)]));
  scenario.toRunning();
  scenario.exits("worker:1", { exitCode: 1, errorSummary: "ValueError: no" });
  scenario.stops("worker:0");
  scenario.readyAll();
  scenario.startedAll();
  scenario.exits("worker:0");
  scenario.exits("worker:1");
  scenario.after(60_000);

  const events = scenario.effects.flatMap((effect) => (effect.type === "record" ? [effect.event] : []));
  expect(events.map((event) => readHistoryEvent(JSON.parse(JSON.stringify(event)), "event"))).toEqual(events);
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "task-failed",
      task: "worker:1",
      reason: {
        code: "program-exited",
        task: "worker:1",
        host: expect.any(String),
        exitCode: 1,
        error: "ValueError: no",
      },
    }),
  );
  expect(events.at(-1)).toMatchObject({ type: "job-ended", reason: { code: "tasks-ended", succeeded: 2, tasks: 2 } });
});
