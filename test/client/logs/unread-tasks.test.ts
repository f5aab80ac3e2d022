import { expect, test } from "@jest/globals";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import { UnreadTasks } from "../../../client/logs/unread-tasks.ts";
import { ApiError } from "../../../src/api/errors.ts";
import type { TaskState } from "../../../src/job/status.ts";
import { recordedContext } from "../support.ts";

const noExecutor = new ApiError("it has no executor at present", { code: "API_FAILED" });

function unread(states: Readonly<Record<string, TaskState>>, shown = (task: string) => task): UnreadTasks {
  const tasks = new UnreadTasks(shown);
  for (const [task, state] of Object.entries(states)) tasks.add({ task, state }, noExecutor);
  return tasks;
}

function told(tasks: UnreadTasks, someRead = false): string {
  const context = recordedContext({});
  tasks.tell(new LogPrinter(context.output), someRead);
  return context.err.text;
}

test("tasks whose programs have not started are named, and are no error", () => {
  const early = unread({ "worker:0": "waiting", "worker:1": "allocated", "worker:2": "launched", "ps:0": "waiting" });
  expect(told(early)).toBe("no program runs yet of worker:0 to worker:2, ps:0\n");
  expect(told(unread({}))).toBe("");
});

test("tasks whose executors have gone are named beside what the others printed", () => {
  expect(told(unread({ "worker:0": "succeeded", "worker:1": "waiting" }), true)).toBe(
    "no program runs yet of worker:1\nnot all of the log of worker:0 could be read: try again, or when the job has ended\n",
  );
});

test("are an error where no other one could be read", () => {
  const failed = unread({ "worker:0": "failed", "worker:1": "waiting" });
  failed.add({ task: "worker:2", state: "failed" }, new ApiError("another reason", { code: "API_FAILED" }));
  expect(() => told(failed)).toThrow(noExecutor);
});

test("are called what the person called them", () => {
  const early = unread({ "worker:30": "waiting" }, () => "trial:30/worker:0");
  expect(told(early)).toBe("no program runs yet of trial:30/worker:0\n");
});

test("an AM that does not answer has no task's output", () => {
  const gone = new ApiError("no connection", { code: "API_UNREACHABLE" });
  expect(() => unread({}).add({ task: "worker:0", state: "waiting" }, gone)).toThrow(gone);
});
