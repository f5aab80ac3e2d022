import { machine } from "../../../src/moves.ts";
import { follow, type Row } from "./machine.ts";
import type { FinishStage, JobPhase } from "./state.ts";
import type { Step } from "./step.ts";

const PHASES = {
  starting: "not yet registered with the ResourceManager, or a later attempt still reading its journal",
  "under-way": "its gangs are at work, each in a phase of its own",
  finishing: "the outcome is decided and being carried out",
  over: "the exit effect was sent; nothing happens any more",
} satisfies Record<JobPhase, string>;

const ROWS = [
  { on: "begun", from: ["starting"], to: "under-way", durable: true, does: "beginJob" },
  { on: "outcome-decided", from: ["starting", "under-way"], to: "finishing", durable: true, does: "finish" },
  { on: "unregistered", from: ["finishing"], to: "over", durable: false, does: "unregistered" },
  {
    on: "attempt-over",
    from: ["starting", "under-way", "finishing"],
    to: "over",
    durable: false,
    does: "shutDown",
  },
] as const satisfies readonly Row<JobPhase>[];

type JobMove = (typeof ROWS)[number]["on"];

export const JOB = machine<JobPhase, JobMove>({ name: "job", phases: PHASES, groups: {}, rows: ROWS });

/** The only way to change the job's phase. */
export function moveJob(step: Step, on: JobMove): void {
  follow(step, JOB, step.state, step.state.applicationId, on);
}

const STAGES = {
  none: "not ending",
  journaling: "the outcome is being written down",
  stopping: "programs are being stopped",
  unregistering: "the ResourceManager is being told",
} satisfies Record<FinishStage, string>;

const STAGE_ROWS = [
  { on: "outcome-decided", from: ["none"], to: "journaling", durable: true, does: "finish" },
  { on: "outcome-written", from: ["journaling"], to: "stopping", durable: false, does: "carryOutEnd" },
  { on: "all-stopped", from: ["stopping"], to: "unregistering", durable: false, does: "unregister" },
  {
    on: "attempt-changed",
    from: ["journaling", "stopping", "unregistering"],
    to: "journaling",
    durable: false,
    does: "resumeFinish",
  },
] as const satisfies readonly Row<FinishStage>[];

export type StageMove = (typeof STAGE_ROWS)[number]["on"];

export const ENDING = machine<FinishStage, StageMove>({
  name: "ending",
  phases: STAGES,
  groups: {},
  rows: STAGE_ROWS,
});
