import { expect, test } from "@jest/globals";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import { UnreadTasks } from "../../../client/logs/unread-tasks.ts";
import { ApiError } from "../../../src/api/errors.ts";
import { recordedContext } from "../support.ts";

const noExecutor = new ApiError("it has no executor at present", { code: "API_FAILED" });

function told(unread: UnreadTasks): string {
  const context = recordedContext({});
  unread.tell(new LogPrinter(context.output));
  return context.err.text;
}

test("tasks whose programs have not started are named, and are no error", () => {
  const unread = new UnreadTasks();
  for (const task of ["worker:0", "worker:1", "worker:2", "ps:0"]) unread.add(task, "waiting", noExecutor);
  expect(told(unread)).toMatch(/^no program runs yet of worker:0 to worker:2, ps:0\n$/);
  expect(told(new UnreadTasks())).toBe("");
});

test("what a program printed and cannot be read is an error, once all that can be is printed", () => {
  const unread = new UnreadTasks();
  unread.add("worker:0", "failed", noExecutor);
  unread.add("worker:1", "waiting", noExecutor);
  expect(() => told(unread)).toThrow(noExecutor);
});

test("an AM that does not answer has no task's output", () => {
  const gone = new ApiError("no connection", { code: "API_UNREACHABLE" });
  expect(() => new UnreadTasks().add("worker:0", "waiting", gone)).toThrow(gone);
});
