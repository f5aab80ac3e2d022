import { errorCode } from "../../src/hadoop/errors.ts";
import type { TaskState, TaskStatus } from "../../src/job/status.ts";
import { taskSpans } from "../../src/job/task.ts";
import type { LogPrinter } from "./log-printer.ts";

/**
 * Tasks whose output cannot be read now: those without a program yet, and those whose executor has just ended, such as the executor of an
 * ended trial.
 */
export class UnreadTasks {
  readonly #shown: (task: string) => string;
  readonly #early: string[] = [];
  readonly #lost: string[] = [];
  #problem: unknown;

  /** @param shown the name of a task for the person who asked */
  constructor(shown: (task: string) => string) {
    this.#shown = shown;
  }

  /** @throws the error when it means that no task's output can be read */
  add({ task, state }: Pick<TaskStatus, "task" | "state">, error: unknown): undefined {
    if (errorCode(error) !== "API_FAILED") throw error;
    if (beforeProgram.has(state)) this.#early.push(this.#shown(task));
    else {
      this.#lost.push(this.#shown(task));
      this.#problem ??= error;
    }
  }

  /**
   * It is no error that nothing was printed yet, nor that some of the tasks cannot be read.
   * @param someRead whether any task could be read
   * @throws why a task could not be read, where none could
   */
  tell(printer: LogPrinter, someRead: boolean): void {
    if (this.#early.length > 0) printer.remark(`no program runs yet of ${taskSpans(this.#early)}`);
    if (this.#problem !== undefined && !someRead) throw this.#problem;
    if (this.#lost.length > 0)
      printer.remark(
        `not all of the log of ${taskSpans(this.#lost)} could be read: try again, or when the job has ended`,
      );
  }
}

const beforeProgram: ReadonlySet<TaskState> = new Set(["waiting", "allocated", "launched"]);
