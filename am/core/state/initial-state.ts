import type { JobSpec, RoleSpec } from "../../../src/job/spec.ts";
import { stagesOf } from "../../../src/job/stages.ts";
import type { GangState } from "./gang.ts";
import type { RoleState, TaskPhase, TaskRecord } from "./records.ts";
import type { CoreState, Identity } from "./state.ts";

/** A job of which nothing has happened yet: every task waits. */
export function initialState(spec: JobSpec, identity: Identity): CoreState {
  const stages = stagesOf(spec.roles);
  return {
    applicationId: identity.applicationId,
    amHost: identity.amHost,
    amContainerId: identity.amContainerId,
    attempt: identity.attempt,
    startedAtMs: identity.startedAtMs,
    phase: "starting",
    early: [],
    lastGeneration: 0,
    gangs: stages.map((_, position) => newGang(position)),
    groupDeadlines: {},
    untracked: [],
    tasks: spec.roles.flatMap((role, position) =>
      Array.from({ length: role.instances }, (_, index) => newTask(role, position, index)),
    ),
    roles: spec.roles.map((role) =>
      newRole(
        role,
        stages.findIndex(({ roles }) => roles.includes(role.name)),
      ),
    ),
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
    },
  };
}

function newGang(position: number): GangState {
  return {
    position,
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
    hold: {
      deadline: undefined,
      returns: 0,
      askAgainAtMs: 0,
      pausedAtMs: 0,
      returnedMiB: 0,
      isContended: false,
      isVain: false,
    },
  };
}

function newTask(role: RoleSpec, position: number, index: number): TaskRecord {
  return {
    id: `${role.name}:${index}`,
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

function newRole(role: RoleSpec, gang: number): RoleState {
  return {
    name: role.name,
    gang,
    counts: countPhases(role.instances),
    firstWaiting: 0,
  };
}

/** Counts with every task waiting. */
function countPhases(waiting: number): Record<TaskPhase, number> {
  return {
    waiting,
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
}
