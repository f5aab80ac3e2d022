import { machine } from "../../../src/moves.ts";
import { follow, type Row } from "./machine.ts";
import type { TaskPhase, TaskRecord } from "./records.ts";
import type { Step } from "./step.ts";

/** Phases in which a task's program is not yet started in this life. */
export const BEFORE_START: readonly TaskPhase[] = ["waiting", "allocated", "launched", "preparing", "registered"];
/** Phases in which a program may be running. */
export const ALIVE: readonly TaskPhase[] = ["starting", "running", "stopping"];
/** Phases in which this life is over. */
export const AFTER_END: readonly TaskPhase[] = ["succeeded", "failed", "stopped", "lost"];

/** Before its start, in a container. */
const PLACED: readonly TaskPhase[] = ["allocated", "launched", "preparing", "registered"];

const PHASES = {
  waiting: "has no container and wants one",
  allocated: "has a container whose launch was ordered",
  launched: "the NodeManager accepted the launch; files are localised, the executor starts",
  preparing: "its executor of an earlier generation was told to prepare for this one",
  registered: "its executor holds a port and waits for the cluster spec",
  starting: "the cluster spec is sent",
  running: "its program runs",
  stopping: "its program was told to stop",
  succeeded: "its program ended by itself and succeeded",
  failed: "its program ended by itself and failed; or a sidecar was given up",
  stopped: "its program ended because we stopped it, or it no longer needs one",
  lost: "its container or executor was lost while the program should have run",
} satisfies Record<TaskPhase, string>;

/** Everything that may happen to a task, in the order of its life. */
const ROWS = [
  { on: "container-given", from: ["waiting"], to: "allocated", durable: false, does: "bind" },
  { on: "container-handed-over", from: ["waiting"], to: "allocated", durable: true, does: "handOver" },
  { on: "claimed", from: ["waiting"], to: "launched", durable: false, does: "claim" },
  { on: "launch-accepted", from: ["allocated"], to: "launched", durable: false, does: "launchSucceeded" },
  { on: "executor-ready", from: PLACED, to: "registered", durable: true, does: "ready" },
  {
    on: "executor-behind",
    from: ["allocated", "launched", "preparing"],
    to: "preparing",
    durable: false,
    does: "behind",
  },
  { on: "executor-ahead", from: ["allocated", "launched", ...ALIVE], to: "stopped", durable: false, does: "ahead" },
  {
    on: "executor-ahead",
    from: ["preparing", "registered", ...AFTER_END],
    to: "ignored",
    durable: false,
    does: "ahead",
  },
  { on: "attempt-changed", from: ["registered"], to: "launched", durable: false, does: "awaitRegistrations" },
  { on: "spec-sent", from: ["registered"], to: "starting", durable: true, does: "sendStart" },
  { on: "spec-sent", from: ["starting"], to: "ignored", durable: false, does: "resendStart" },
  { on: "start-presumed", from: ["registered"], to: "starting", durable: false, does: "resumeStart" },
  { on: "start-adopted", from: PLACED, to: "starting", durable: true, does: "adoptStart" },
  { on: "started-by-another", from: PLACED, to: "stopped", durable: false, does: "startedByAnother" },
  { on: "program-runs", from: ["starting"], to: "running", durable: true, does: "started" },
  { on: "stop-ordered", from: ["starting", "running"], to: "stopping", durable: false, does: "stopChild" },
  { on: "program-succeeded", from: ALIVE, to: "succeeded", durable: true, does: "childExited" },
  { on: "program-failed", from: ALIVE, to: "failed", durable: true, does: "childExited" },
  { on: "program-stopped", from: ALIVE, to: "stopped", durable: true, does: "childExited" },
  { on: "program-ended-with-container", from: ALIVE, to: "lost", durable: true, does: "childExited" },
  { on: "nothing-runs", from: ["stopping"], to: "stopped", durable: false, does: "upToDate" },
  { on: "stop-overdue", from: ["stopping"], to: "lost", durable: false, does: "stopOverdue" },
  { on: "container-lost", from: ALIVE, to: "lost", durable: true, does: "lostWhileRunning" },
  { on: "container-lost-in-running-gang", from: PLACED, to: "lost", durable: true, does: "lostBeforeStart" },
  { on: "container-replaced", from: PLACED, to: "waiting", durable: true, does: "lostBeforeStart" },
  { on: "container-lost-at-the-end", from: PLACED, to: "stopped", durable: true, does: "lostBeforeStart" },
  { on: "container-given-back", from: PLACED, to: "waiting", durable: true, does: "giveBack" },
  { on: "given-up", from: BEFORE_START, to: "failed", durable: false, does: "cannotStart" },
  {
    on: "not-needed",
    from: [...BEFORE_START, "starting", ...AFTER_END],
    to: "stopped",
    durable: false,
    does: "dropTask",
  },
  {
    on: "renewed-without-container",
    from: ["waiting", ...AFTER_END],
    to: "waiting",
    durable: false,
    does: "renewTask",
  },
  {
    on: "renewed-in-its-container",
    from: ["preparing", "registered", "succeeded", "failed", "stopped"],
    to: "preparing",
    durable: false,
    does: "renewTask",
  },
  { on: "stage-done", from: BEFORE_START, to: "stopped", durable: true, does: "endStage" },
  { on: "stage-done", from: ["stopping", ...AFTER_END], to: "ignored", durable: false, does: "endStage" },
  { on: "job-ends", from: ["starting", "running"], to: "stopping", durable: false, does: "stopEverything" },
  { on: "job-ends", from: BEFORE_START, to: "stopped", durable: false, does: "stopEverything" },
  { on: "job-ends", from: ["stopping", ...AFTER_END], to: "ignored", durable: false, does: "stopEverything" },
  { on: "job-ends-without-it", from: ALIVE, to: "lost", durable: false, does: "stopEverything" },
  { on: "job-ends-without-it", from: [...PLACED, ...AFTER_END], to: "ignored", durable: false, does: "stopEverything" },
  { on: "end-overdue", from: ALIVE, to: "lost", durable: false, does: "unregister" },
] as const satisfies readonly Row<TaskPhase>[];

/** What happens to a task. */
export type TaskMove = (typeof ROWS)[number]["on"];

export const TASK = machine<TaskPhase, TaskMove>({
  name: "task",
  phases: PHASES,
  groups: { "before its start": BEFORE_START, "in a container": PLACED, alive: ALIVE, "after its end": AFTER_END },
  rows: ROWS,
});

/** The only way to change a task's phase. */
export function moveTask(step: Step, task: TaskRecord, on: TaskMove): void {
  const from = task.phase;
  if (follow(step, TASK, task, task.id, on) === undefined) {
    return;
  }
  const role = step.state.roles[task.role];
  if (role === undefined) {
    throw new RangeError(`no role at position ${task.role}`);
  }
  role.counts[from]--;
  role.counts[task.phase]++;
  if (task.phase === "waiting") {
    role.firstWaiting = Math.min(role.firstWaiting, task.index);
  }
  step.changed = true;
}
