import type { JobSpec, RoleSpec } from "../../../src/job/spec.ts";
import type { CoreState, Identity, RoleState, TaskPhase, TaskRecord } from "./state.ts";

/** A job of which nothing has happened yet: every task waits. */
export function initialState(spec: JobSpec, identity: Identity): CoreState {
  return {
    applicationId: identity.applicationId,
    amHost: identity.amHost,
    amContainerId: identity.amContainerId,
    attempt: identity.attempt,
    startedAtMs: identity.startedAtMs,
    phase: "starting",
    early: [],
    generation: 0,
    lastGeneration: 0,
    started: false,
    startIntended: 0,
    everStarted: false,
    startNotBeforeMs: 0,
    restartReason: "",
    graceEndsAtMs: 0,
    tasks: spec.roles.flatMap((role, position) =>
      Array.from({ length: role.instances }, (_, index) => newTask(role, position, index)),
    ),
    roles: spec.roles.map(newRole),
    containers: {},
    ended: {},
    unclaimed: spec.roles.map(() => 0),
    nodes: {},
    headroom: undefined,
    maximum: undefined,
    counted: "memory",
    resourceTypes: [],
    brokenLinks: 0,
    blame: {},
    unfetched: {},
    verdicts: [],
    tolerated: [],
    firstExit: undefined,
    judgedLives: {},
    generations: [],
    used: { program: 0, infrastructure: 0 },
    checkpoint: undefined,
    services: [],
    outcome: undefined,
    finish: "none",
    finishByMs: 0,
    finishExpired: false,
    journal: {
      sequence: 0,
      inFlight: 0,
      durableSequence: 0,
      dirty: false,
      writtenAtMs: 0,
      inFlightGeneration: 0,
      durableGeneration: 0,
      inFlightStart: 0,
      durableStart: 0,
      inFlightOutcome: false,
      durableOutcome: false,
      failure: "",
    },
    gang: { waitingSinceMs: 0, returns: 0, askAgainAtMs: 0 },
    usage: { memoryMiBMs: 0, vcoreMs: 0, memoryMiB: 0, vcores: 0, countedAtMs: identity.startedAtMs },
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

function newRole(role: RoleSpec): RoleState {
  return {
    name: role.name,
    counts: countPhases(role.instances),
    firstWaiting: 0,
    outstanding: 0,
    hinted: false,
    hintsExhausted: false,
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
