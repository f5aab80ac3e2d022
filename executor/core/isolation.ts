import type { MasterMessage } from "../../src/api/messages.ts";
import { ISOLATION } from "./isolation-moves.ts";
import { registerAgain } from "./register.ts";
import type { ExecutorState, ProgramState } from "./state.ts";
import { emit, follow, log, type Step } from "./step.ts";

/** Whether a message confirms that the task still belongs to this container: requests for logs and sessions, and tokens, do not. */
const CONFIRMS_TASK: Readonly<Record<MasterMessage["body"]["type"], boolean>> = {
  welcome: true,
  refuse: true,
  prepare: true,
  "start-child": true,
  "stop-child": true,
  "resume-child": true,
  "signal-child": true,
  "acknowledge-exit": true,
  exit: true,
  "make-room": true,
  "tell-place": true,
  unknown: true,
  "tail-log": false,
  "tail-credit": false,
  "replace-tokens": false,
  "serve-session": false,
  "end-session": false,
};

/**
 * Neither an ApplicationMaster nor the staging folder has been reached for long enough that the task may run in another container by now
 * (docs/makers/decisions/0056-executors-cut-off.md). Registers again: on a stream that is not welcomed yet the executor has registered a running
 * program, and the ApplicationMaster must learn that it is suspended in order to have it resumed.
 */
export function isolate(step: Step, silentMs: number): void {
  const { state } = step;
  follow(step, ISOLATION, state.isolation, "silent-too-long");
  const who = `Neither the ApplicationMaster nor the staging folder was reached for ${Math.round(silentMs / 1000)} s`;
  emit(step, { type: "hold-uploads", why: `${who} (tony.task.isolation-timeout).` });
  const running = state.programs.filter(({ runs }) => runs);
  const what = running.length > 0 ? "the program is suspended" : "nothing is uploaded";
  log(step, "warn", "isolated", `${who}: ${what} until one of them answers (tony.task.isolation-timeout).`);
  for (const program of running) suspend(step, program);
  registerAgain(step);
}

/** The ApplicationMaster gave an order. Before it orders a program to be resumed, it was told how long that was suspended. */
export function hearOrder(step: Step, { generation, body }: MasterMessage): void {
  if (!CONFIRMS_TASK[body.type] || (body.type === "exit" && body.reason.code === "replaced")) return;
  if (follow(step, ISOLATION, step.state.isolation, "order-heard")) emit(step, { type: "allow-uploads" });
  if (body.type !== "resume-child") return;
  goOn(step, "the ApplicationMaster");
  const program = step.state.programs.find((one) => one.generation === generation);
  if (program !== undefined) program.suspendedMs = 0;
}

/** The container is still its task's. @param who says so */
export function goOn(step: Step, who: string): void {
  const { state } = step;
  const wasHeld = state.isolation.phase === "isolated";
  if (!follow(step, ISOLATION, state.isolation, "task-confirmed")) return;
  if (wasHeld) emit(step, { type: "allow-uploads" });
  for (const program of state.programs.filter(({ suspendedAtMs }) => suspendedAtMs !== undefined)) {
    endSuspension(step, program);
    emit(step, { type: "resume", generation: program.generation });
    log(step, "info", "resumed", `The program is resumed: ${who} says that the container is still its task's.`);
  }
}

/** A program that starts while nobody is reached is suspended at once. Of programs that have ended only the last one is kept. */
export function programStarted(step: Step, generation: number): void {
  const { state } = step;
  const program: ProgramState = { generation, runs: true, suspendedMs: 0 };
  state.programs = [...state.programs.filter(({ runs }) => runs), program];
  if (state.isolation.phase === "isolated") suspend(step, program);
}

export function programEnded(step: Step, generation: number): void {
  const program = step.state.programs.find((one) => one.generation === generation);
  if (program === undefined) return;
  program.runs = false;
  endSuspension(step, program);
}

/**
 * How long a program was suspended, as far as the ApplicationMaster has not been told. At least 1 for a program that is suspended now: 0 says
 * that it was not.
 */
export function suspendedMs({ programs }: Pick<ExecutorState, "programs">, generation: number, nowMs: number): number {
  const program = programs.find((one) => one.generation === generation);
  return program === undefined ? 0 : untoldMs(program, nowMs);
}

function untoldMs({ suspendedMs, suspendedAtMs }: ProgramState, nowMs: number): number {
  return suspendedMs + (suspendedAtMs === undefined ? 0 : Math.max(1, Math.round(nowMs - suspendedAtMs)));
}

function suspend(step: Step, program: ProgramState): void {
  if (program.suspendedAtMs !== undefined) return;
  program.suspendedAtMs = step.nowMs;
  emit(step, { type: "suspend", generation: program.generation });
}

function endSuspension({ nowMs }: Step, program: ProgramState): void {
  program.suspendedMs = untoldMs(program, nowMs);
  program.suspendedAtMs = undefined;
}
