import { beginTermination } from "../containers/containers.ts";
import { joinNext } from "../gang/restart.ts";
import type { GangState } from "../state/gang.ts";
import { isRestarting } from "../state/gang-moves.ts";
import { containerOf, log, type Step, tasksOf } from "../state/step.ts";
import { moveTask } from "../state/task-moves.ts";
import { overdueEnding } from "./stop-endings.ts";
import { lateEvidence } from "./verdict.ts";

/** The time for the gang's programs to stop is up, at a restart or when its stage is done: containers of those that still run are stopped. */
export function stopOverdue(step: Step, gang: GangState): void {
  gang.stopDeadline = undefined;
  if (!isRestarting(gang) && gang.phase !== "done") {
    return;
  }
  const endings = [];
  for (const task of tasksOf(step, gang)) {
    const container = containerOf(step, task);
    if (task.phase === "stopping" && container !== undefined) {
      log(step, "warn", "stop-overdue", `${task.id} did not stop in time: its container is stopped.`, {
        task: task.id,
      });
      endings.push(overdueEnding(step, task, container));
      beginTermination(step, container, "its program did not stop in time", true);
      moveTask(step, task, "stop-overdue");
      joinNext(step, task);
    }
  }
  for (const ending of endings) {
    lateEvidence(step, ending);
  }
}
