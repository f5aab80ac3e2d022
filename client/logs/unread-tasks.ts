import { errorCode } from "../../src/hadoop/errors.ts";
import type { TaskState } from "../../src/job/status.ts";
import { taskSpans } from "../../src/job/task.ts";
import type { LogPrinter } from "./log-printer.ts";

/** Tasks whose output cannot be read now: those that have no program yet, and those whose program's log is out of reach. */
export class UnreadTasks {
  readonly #early: string[] = [];
  #problem: unknown;

  /** @throws what says that no task's output can be had */
  add(task: string, state: TaskState, error: unknown): undefined {
    if (errorCode(error) !== "API_FAILED") throw error;
    if (beforeProgram.has(state)) this.#early.push(task);
    else this.#problem ??= error;
  }

  /** That nothing was printed yet is no error. @throws when something was that cannot be read */
  tell(printer: LogPrinter): void {
    if (this.#early.length > 0) printer.remark(`no program runs yet of ${taskSpans(this.#early)}`);
    if (this.#problem !== undefined) throw this.#problem;
  }
}

const beforeProgram: ReadonlySet<TaskState> = new Set(["waiting", "allocated", "launched"]);
