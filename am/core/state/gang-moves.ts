import { machine } from "../../../src/moves.ts";
import type { GenerationRecord } from "./failures.ts";
import { type GangPhase, type GangState, NO_HOLD } from "./gang.ts";
import { follow, type Row } from "./machine.ts";
import type { Step } from "./step.ts";

const PHASES = {
  ahead: "it waits for roles that must be done first, or is a trial without room yet; no container is requested",
  gathering: "containers are requested and launched, executors register",
  running: "the cluster spec has been sent",
  ending: "a task has failed: programs are being stopped, and whether another generation follows is not decided yet",
  restarting: "the next generation is open, and programs of the one before are still being stopped",
  done: "its tracked tasks are done, other tasks may run on until the job ends; or it is a trial that has ended or pauses",
  over: "the job's outcome is decided, none of its tasks starts any more",
} satisfies Record<GangPhase, string>;

/** Everything that may happen to a gang, in the order of its life. */
const ROWS = [
  { on: "turn-comes", from: ["ahead"], to: "gathering", durable: true, does: "begin" },
  { on: "spec-sent", from: ["gathering"], to: "running", durable: true, does: "startGang" },
  { on: "start-presumed", from: ["gathering"], to: "running", durable: false, does: "resumeStart" },
  { on: "first-task-starts", from: ["gathering"], to: "running", durable: true, does: "noteTaskStart" },
  { on: "task-failed", from: ["running", "ending"], to: "ending", durable: false, does: "tearDown" },
  { on: "task-failed", from: ["gathering", "restarting"], to: "restarting", durable: false, does: "tearDown" },
  { on: "generation-opened", from: ["ending", "restarting"], to: "restarting", durable: true, does: "openNext" },
  { on: "generation-opened", from: ["gathering"], to: "gathering", durable: true, does: "openNext" },
  { on: "generation-opened", from: ["ahead"], to: "ahead", durable: true, does: "openNext" },
  { on: "all-stopped", from: ["restarting"], to: "gathering", durable: false, does: "continueRestart" },
  {
    on: "tracked-tasks-done",
    from: ["gathering", "running", "ending", "restarting"],
    to: "done",
    durable: true,
    does: "endStage",
  },
  { on: "trial-goes-on", from: ["done"], to: "restarting", durable: true, does: "resumeTrial" },
  {
    on: "job-ends",
    from: ["ahead", "gathering", "running", "ending", "restarting", "done"],
    to: "over",
    durable: true,
    does: "finish",
  },
] as const satisfies readonly Row<GangPhase>[];

type GangMove = (typeof ROWS)[number]["on"];

export const GANG = machine<GangPhase, GangMove>({ name: "gang", phases: PHASES, groups: {}, rows: ROWS });

/** The only way to change a gang's phase. How it held containers until it ran says nothing about its next start. */
export function moveGang(step: Step, gang: GangState, on: GangMove): void {
  const to = follow(step, GANG, gang, `gang ${gang.position}`, on);
  if (to === undefined) {
    return;
  }
  step.changed = true;
  if (to === "running") {
    Object.assign(gang.hold, NO_HOLD);
  }
}

/** Whether its programs are being stopped so that it may start again. */
export function isRestarting({ phase }: Pick<GangState, "phase">): boolean {
  return phase === "ending" || phase === "restarting";
}

/** Whether the cluster spec of its present generation has been sent. */
export function isSpecOut({ generations }: Pick<GangState, "generations">): boolean {
  return generations.at(-1)?.specAtMs !== undefined;
}

/** The present generation, while its tasks gather. */
export function gatheringGeneration({ generations }: Pick<GangState, "generations">): GenerationRecord | undefined {
  const present = generations.at(-1);
  return present?.specAtMs === undefined && present?.runningAtMs === undefined ? present : undefined;
}

/** Whether a cluster spec was sent in some generation. */
export function wasSpecOut({ generations }: Pick<GangState, "generations">): boolean {
  return generations.some(({ specAtMs }) => specAtMs !== undefined);
}
