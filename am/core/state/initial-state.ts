import { writtenNumber } from "../../../src/job/program-metrics.ts";
import { pausedRung, pausingOf } from "../../../src/job/search/promotion.ts";
import { trialOfLine } from "../../../src/job/search/trial-line.ts";
import { leadOfTrial } from "../../../src/job/search/trial-tasks.ts";
import type { Pausing, TrialLine } from "../../../src/job/search/trials.ts";
import type { JobSpec, RoleSpec } from "../../../src/job/spec.ts";
import { stagesOf } from "../../../src/job/stages.ts";
import { type GangState, NO_HOLD } from "./gang.ts";
import type { TaskPhase, TaskRecord } from "./records.ts";
import type { CoreState, Identity } from "./state.ts";

const NO_TIME = { heldMs: 0, startMs: 0, handOverMs: 0, barrierMs: 0, afterLastMs: 0 };

/** A job in which nothing has happened yet: every task waits. */
export function initialState(spec: JobSpec, identity: Identity): CoreState {
  const stages = stagesOf(spec.roles);
  const { search, trials = 1 } = spec;
  const roles = Array.from({ length: trials }, (_, trial) =>
    spec.roles.map((role) => {
      const stage = stages.findIndex((one) => one.roles.includes(role.name));
      return { role, gang: trial * stages.length + stage, first: trial * role.instances };
    }),
  ).flat();
  const tasks = roles.flatMap(({ role, first }, position) =>
    Array.from({ length: role.instances }, (_, index) => newTask(role, position, index, first)),
  );
  const gangs = Array.from({ length: trials }, (_, trial) =>
    stages.map(({ roles: names }, stage) => {
      const positions = [...spec.roles.entries()].filter(([, { name }]) => names.includes(name));
      return newGang(
        trial * stages.length + stage,
        positions.map(([position]) => trial * spec.roles.length + position),
      );
    }),
  ).flat();
  const pausing = search && pausingOf(search, spec.trials ?? tasks.length);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const [number, line] of (search?.before ?? []).entries()) {
    const task = byId.get(leadOfTrial(spec, number));
    if (task !== undefined) {
      recall(task, line, search?.metric ?? "", pausing);
    }
    const gang = spec.trials === undefined ? undefined : gangs[number];
    if (task !== undefined && gang !== undefined) {
      gang.checkpoint = task.checkpoint;
      delete task.checkpoint;
      task.trialOver = task.phase !== "waiting";
      if (task.trialOver) {
        gang.phase = "done";
        for (const other of tasks.filter(({ role, id }) => id !== task.id && gang.roles.includes(role))) {
          other.phase = "stopped";
        }
      }
    }
  }
  return {
    applicationId: identity.applicationId,
    amHost: identity.amHost,
    amContainerId: identity.amContainerId,
    attempt: identity.attempt,
    startedAtMs: identity.startedAtMs,
    phase: "starting",
    takeovers: [],
    early: [],
    lastGeneration: 0,
    gangs,
    groupDeadlines: {},
    untracked: [],
    tasks,
    roles: roles.map(({ role, gang, first }, position) => ({
      name: role.name,
      first,
      gang,
      counts: countPhases(tasks.filter((task) => task.role === position)),
      firstWaiting: 0,
    })),
    asks: spec.roles.map(() => ({ outstanding: 0, hinted: false, hintsExhausted: false, refusal: undefined })),
    hintsDeadline: undefined,
    containers: {},
    ended: {},
    unclaimed: spec.roles.map(() => 0),
    nodes: {},
    headroom: undefined,
    counted: "memory",
    resourceTypes: [],
    heard: 0,
    unheard: 0,
    blame: {},
    leaving: {},
    unfetched: {},
    judgedLives: {},
    services: [],
    outcome: undefined,
    finish: "none",
    finishSinceMs: 0,
    finishDeadline: undefined,
    journal: {
      sequence: 0,
      inFlight: 0,
      durableSequence: 0,
      dirty: false,
      writtenAtMs: 0,
      generationSequence: 0,
      apart: {},
      failure: "",
      failingSinceMs: 0,
    },
    held: {},
    wakeUp: { atMs: 0, containersMs: 0 },
    pause: { endedAtMs: 0, graceMs: 0 },
    usage: {
      memoryMiBMs: 0,
      vcoreMs: 0,
      gpuMs: 0,
      memoryMiB: 0,
      vcores: 0,
      gpus: 0,
      countedAtMs: identity.startedAtMs,
      ...(spec.search !== undefined && { time: { ...NO_TIME, countedAtMs: identity.startedAtMs } }),
    },
  };
}

function newGang(position: number, roles: readonly number[]): GangState {
  return {
    position,
    roles,
    phase: "ahead",
    begunAtMs: 0,
    generation: 0,
    startNotBeforeMs: 0,
    restartReason: "",
    graceEndsAtMs: 0,
    verdicts: [],
    stopDeadline: undefined,
    tolerated: [],
    firstExit: undefined,
    suspensions: [],
    generations: [],
    charges: [],
    checkpoint: undefined,
    hold: { ...NO_HOLD },
  };
}

function newTask(role: RoleSpec, position: number, index: number, first: number): TaskRecord {
  return {
    id: `${role.name}:${first + index}`,
    role: position,
    index,
    phase: "waiting",
    generation: 0,
    containerId: "",
    host: "",
    port: 0,
    startedAtMs: 0,
    endedAtMs: 0,
    exit: "",
    restarts: 0,
    restartReason: "",
    step: 0,
    checkpointStep: 0,
    machineFailures: 0,
  };
}

/**
 * Restores a trial of an earlier search as it was then; an interrupted one waits, with its parameters and checkpoint.
 */
function recall(task: TaskRecord, line: TrialLine, metric: string, pausing: Pausing | undefined): void {
  const trial = trialOfLine(line);
  const { state, value, step = 0, reports = [] } = trial;
  const { params, why = "", error = "", checkpoint, checkpointStep = 0, startedAtMs = 0, endedAtMs = 0 } = line;
  task.trialParameters = params;
  if (checkpoint !== undefined) {
    task.checkpoint = { path: checkpoint, step: checkpointStep, atMs: endedAtMs };
  }
  if (state === "running") {
    return;
  }
  Object.assign(task, { phase: PHASE_OF[state], step, startedAtMs, endedAtMs });
  if (value !== undefined) {
    task.trialValue = writtenNumber(value);
    if (Number.isFinite(value)) {
      task.metrics = { [metric]: value };
    }
  }
  if (reports.length > 0) {
    task.trialReports = reports.map((report) => ({ ...report, value: writtenNumber(report.value) }));
  }
  if (state === "stopped") {
    task.trialStop = why || "an earlier search stopped it";
  }
  if (state === "paused") {
    task.trialPause = why || "an earlier search left it at a rung";
    if (pausing !== undefined) {
      task.trialRung = pausedRung(pausing, trial);
    }
  }
  if (state === "failed") {
    task.trialFailure = { words: error || why || "it failed in an earlier search" };
  }
}

const PHASE_OF = {
  completed: "succeeded",
  stopped: "stopped",
  paused: "stopped",
  failed: "failed",
  interrupted: "waiting",
} as const;

function countPhases(tasks: readonly TaskRecord[]): Record<TaskPhase, number> {
  const counts = {
    waiting: 0,
    allocated: 0,
    launched: 0,
    preparing: 0,
    registered: 0,
    starting: 0,
    running: 0,
    stopping: 0,
    succeeded: 0,
    failed: 0,
    stopped: 0,
    lost: 0,
  };
  for (const { phase } of tasks) {
    counts[phase] += 1;
  }
  return counts;
}
