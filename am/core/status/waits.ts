import { add } from "../../../src/job/amounts.ts";
import type { DelayReason, WaitReason } from "../../../src/job/reasons/waits.ts";
import { amountWords, settingOf } from "../../../src/job/reasons/words.ts";
import { spokenNameIn } from "../../../src/job/search/trial-tasks.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import type { Wait } from "../../../src/job/status.ts";
import { type WaitFacts, waitOf } from "../../../src/job/wait.ts";
import { containerWait } from "../containers/container-wait.ts";
import { LOOK_EVERY_MS } from "../gang/hold.ts";
import { awaitedBy, trackedOf } from "../policies/completion.ts";
import { startsWithGang } from "../policies/restart.ts";
import { isOfTasks, trialsToBegin } from "../policies/trials.ts";
import { dueMsOf } from "../state/deadlines.ts";
import type { GangState } from "../state/gang.ts";
import { isSpecOut } from "../state/gang-moves.ts";
import type { RoleState, TaskPhase, TaskRecord } from "../state/records.ts";
import type { CoreState } from "../state/state.ts";
import { inJob, roleOf, rolesOf } from "../state/step.ts";
import { ALIVE } from "../state/task-moves.ts";
import { endsJob } from "../state/verdict-moves.ts";

interface Job {
  readonly spec: JobSpec;
  readonly state: CoreState;
}

/** What the job waits for, most important first, each with its reasons and what ends it. */
export function waitsOf(job: Job, nowMs: number): Wait[] {
  return factsOf(job, nowMs).map((facts) => {
    const { reason, delays = [] } = facts;
    const told = delays.map((delay) => spokenDelay(job, delay));
    return { ...waitOf({ ...facts, reason: spoken(job, reason), delays: told }), reason, delays };
  });
}

/** In words, the tasks of a search are trials. */
function spoken({ spec }: Job, reason: WaitReason): WaitReason {
  if (reason.code !== "executors" && reason.code !== "programs") {
    return reason;
  }
  return { ...reason, tasks: reason.tasks.map((id) => spokenNameIn(spec, id)) };
}

function spokenDelay({ spec }: Job, delay: DelayReason): DelayReason {
  return delay.code === "end-unexplained"
    ? { ...delay, tasks: delay.tasks.map((id) => spokenNameIn(spec, id)) }
    : delay;
}

function factsOf(job: Job, nowMs: number): WaitFacts[] {
  const { state } = job;
  if (state.phase === "starting") {
    return [{ reason: { code: "registration" }, sinceMs: state.startedAtMs }];
  }
  if (state.phase === "under-way") {
    const begun = state.gangs.filter(({ phase }) => phase !== "ahead");
    const ahead = state.gangs.filter(({ phase }) => phase === "ahead");
    return [
      ...begun.flatMap((gang) => gangWaits(job, gang, nowMs)),
      ...groupWaits(job),
      ...(job.spec.trials === undefined ? ahead.map((gang) => stageWait(job, gang)) : []),
      ...keptWaits(job),
    ];
  }
  return state.phase === "finishing" ? [finishWait(job)] : [];
}

function gangWaits(job: Job, gang: GangState, nowMs: number): WaitFacts[] {
  const ofRoles = rolesOf(job, gang).flatMap(([position, role]) => roleWaits(job, gang, position, role, nowMs));
  const ofAll = [...departureWaits(job, gang), ...verdictWaits(job, gang), ...graceWaits(job, gang, nowMs)];
  return [...ofRoles, ...startWaits(job, gang, nowMs), ...ofAll];
}

/** A stage whose turn has not come. */
function stageWait(job: Job, gang: GangState): WaitFacts {
  return {
    reason: { code: "stage", roles: rolesOf(job, gang).map(([, { name }]) => name) },
    delays: [{ code: "stage-before", roles: awaitedBy(job, gang) }],
    sinceMs: job.state.startedAtMs,
  };
}

function roleWaits(job: Job, gang: GangState, position: number, role: RoleState, nowMs: number): WaitFacts[] {
  const generation = gang.generations.at(-1);
  const sinceMs = generation?.startedAtMs ?? job.state.startedAtMs;
  const waits: WaitFacts[] = [];
  // In a search only those that may run: the others get their turn when these have ended.
  const missing = Math.min(role.counts.waiting, trialsToBegin(job, inJob(job, position)));
  if (missing > 0) {
    const since = waitingSince(job, position, sinceMs);
    const wait = { ...containerWait({ ...job, nowMs }, position, missing), ...joinersReason(job, position) };
    waits.push({ ...wait, sinceMs: since });
  }
  const starting = tasksIn(job, position, ["allocated", "launched"]);
  if (starting.length > 0) {
    waits.push(executorsWait(job, role.name, starting));
  }
  if (role.counts.stopping > 0) {
    const stopping = tasksIn(job, position, ["stopping"]);
    const trialsToldAtMs = stopping.flatMap(
      ({ containerId }) => job.state.containers[containerId]?.deadlines["trial-stop"]?.sinceMs ?? [],
    );
    waits.push({
      reason: { code: "programs", role: role.name, tasks: stopping.map(({ id }) => id) },
      delays: [{ code: "time-to-stop", graceMs: job.spec.timeouts.stopGraceMs }],
      sinceMs: trialsToldAtMs.length > 0 ? Math.min(...trialsToldAtMs) : (generation?.endedAtMs ?? sinceMs),
    });
  }
  return waits;
}

/** Since when containers are awaited. In a search most tasks wait for their turn, not for containers. */
function waitingSince(job: Job, position: number, begunAtMs: number): number {
  const { sinceMs } = job.state.asks[inJob(job, position)] ?? {};
  if (isOfTasks(job) && sinceMs !== undefined) {
    return sinceMs;
  }
  return Math.min(...tasksIn(job, position, ["waiting"]).map(({ waitingSinceMs = begunAtMs }) => waitingSinceMs));
}

/** Why tasks of an elastic role without a container are waited for while the others already run. */
function joinersReason(job: Job, position: number): Partial<WaitFacts> {
  const { name: role, instances, minInstances: least } = roleOf(job, { role: position });
  if (least === undefined || startsWithGang(job, { role: position })) {
    return {};
  }
  const tasks = tasksIn(job, position, ["waiting"]).map(({ id }) => id);
  const running = tasksIn(job, position, ALIVE).length;
  return { reason: { code: "joiners", role, tasks, running, instances, least } };
}

/** Counted from the container that was given first: by YARN, or by a task of the stage before. */
function executorsWait({ spec, state }: Job, role: string, starting: readonly TaskRecord[]): WaitFacts {
  const awaited = starting.flatMap(({ containerId }) => {
    const { allocatedAtMs, handedOver, deadlines } = state.containers[containerId] ?? {};
    const deadline = deadlines?.launch ?? deadlines?.rejoin;
    return allocatedAtMs === undefined ? [] : [{ givenAtMs: handedOver ? deadline?.sinceMs : allocatedAtMs, deadline }];
  });
  const sinceMs = Math.min(...awaited.flatMap(({ givenAtMs }) => givenAtMs ?? []));
  const ends = awaited.flatMap(({ deadline }) => (deadline === undefined ? [] : [dueMsOf(state, deadline)]));
  return {
    reason: { code: "executors", role, tasks: starting.map(({ id }) => id) },
    delays: [{ code: "files-on-their-way" }],
    sinceMs,
    endsAtMs: ends.length === 0 ? sinceMs + spec.timeouts.launchMs : Math.min(...ends),
  };
}

/** What holds a complete gang back. */
function startWaits({ spec, state }: Job, gang: GangState, nowMs: number): WaitFacts[] {
  const waits: WaitFacts[] = [];
  const { hold, generations } = gang;
  if (hold.askAgainAtMs > nowMs) {
    waits.push({
      reason: { code: "pause-of-requests" },
      delays: [
        hold.isVain
          ? { code: "held-nothing", everyMs: LOOK_EVERY_MS }
          : hold.returnedMiB === 0
            ? { code: "gangs-before" }
            : { code: "gang-incomplete", times: hold.returns },
      ],
      sinceMs: hold.pausedAtMs,
      endsAtMs: hold.askAgainAtMs,
    });
  }
  if (hold.deadline !== undefined && !hold.isVain) {
    waits.push({
      reason: { code: "gang", setting: settingOf(spec, "tony.container.hold-timeout") },
      delays: [heldMeanwhile(state, gang, nowMs)],
      sinceMs: hold.deadline.sinceMs,
      endsAtMs: dueMsOf(state, hold.deadline),
    });
  }
  const { restDeadline } = gang;
  if (restDeadline !== undefined && dueMsOf(state, restDeadline) > nowMs) {
    waits.push({
      reason: { code: "rest", setting: settingOf(spec, "tony.container.rest-timeout") },
      sinceMs: restDeadline.sinceMs,
      endsAtMs: dueMsOf(state, restDeadline),
    });
  }
  if (gang.phase === "gathering" && gang.startNotBeforeMs > nowMs) {
    waits.push({
      reason: { code: "pause-of-restart" },
      delays: [{ code: "restarts", times: generations.length - 1, why: gang.restartReason }],
      sinceMs: generations.at(-1)?.startedAtMs ?? nowMs,
      endsAtMs: gang.startNotBeforeMs,
    });
  }
  if (!isSpecOut(gang) && gang.phase !== "done" && state.journal.failure !== "") {
    waits.push({
      reason: { code: "journal" },
      delays: [{ code: "journal-failed", message: state.journal.failure }],
      fix: { code: "mend-hdfs" },
      sinceMs: state.journal.failingSinceMs,
    });
  }
  return waits;
}

/** What an incomplete gang costs while it waits. */
function heldMeanwhile(
  { containers, roles }: CoreState,
  { position, hold, generations }: GangState,
  nowMs: number,
): DelayReason {
  const begunAtMs = generations.at(-1)?.startedAtMs ?? 0;
  const held = Object.values(containers).filter(
    ({ phase, role }) => phase === "held" && roles[role]?.gang === position,
  );
  const amount = held.map(({ resource }) => resource).reduce(add, { memoryMiB: 0, vcores: 0, others: {} });
  const mibMs = held.reduce(
    (sum, one) => sum + one.resource.memoryMiB * (nowMs - Math.max(begunAtMs, one.allocatedAtMs)),
    0,
  );
  const cost = { containers: held.length, amount: amountWords(amount), memoryMiBSeconds: Math.round(mibMs / 1000) };
  return { code: "held-meanwhile", ...cost, contended: hold.isContended };
}

/** Roles that still run after the end of a group. */
function groupWaits({ spec, state }: Job): WaitFacts[] {
  return spec.groupLimits.flatMap(({ role, group, limitMs, atLimit }, position) => {
    const deadline = state.groupDeadlines[position];
    if (deadline === undefined) {
      return [];
    }
    const setting = settingOf(spec, `tony.application.dependency.${role}.timeout.after.${group}`);
    return {
      reason: { code: "role", role, failsJob: atLimit === "fail" },
      delays: [{ code: "group-ended", group, role, limitMs, setting }],
      sinceMs: deadline.sinceMs,
      endsAtMs: dueMsOf(state, deadline),
    };
  });
}

/** Tasks that run on after the chief, or an evaluator after the others. */
function graceWaits(job: Job, gang: GangState, nowMs: number): WaitFacts[] {
  const { spec } = job;
  const { phase, graceEndsAtMs } = gang;
  if (phase !== "running" || graceEndsAtMs <= nowMs) {
    return [];
  }
  const awaited = new Set(trackedOf(job, gang).map(([role]) => role));
  const others = rolesOf(job, gang).filter(([position]) => awaited.has(roleOf(job, { role: position })));
  return [
    {
      reason: {
        code: "others",
        tasks: others.flatMap(([position]) => tasksIn(job, position, ALIVE).map(({ id }) => id)),
        setting: settingOf(spec, "tony.application.after-chief-grace"),
      },
      sinceMs: graceEndsAtMs - spec.timeouts.afterChiefMs,
      endsAtMs: graceEndsAtMs,
    },
  ];
}

/** Containers that a search keeps for trials that may begin or go on. */
function keptWaits({ spec, state }: Job): WaitFacts[] {
  const kept = Object.values(state.containers).flatMap(({ deadlines: { idle } }) => idle ?? []);
  if (kept.length === 0) {
    return [];
  }
  return [
    {
      reason: {
        code: "trial",
        containers: kept.length,
        setting: settingOf(spec, "tony.search.keep-idle-ms"),
      },
      sinceMs: Math.min(...kept.map(({ sinceMs }) => sinceMs)),
      endsAtMs: Math.min(...kept.map((idle) => dueMsOf(state, idle))),
    },
  ];
}

/** Programs that still run on nodes which leave the cluster, and should save their state before. */
function departureWaits({ state }: Job, gang: GangState): WaitFacts[] {
  const departures = Object.values(state.containers).flatMap(
    ({ task, role, host, notice, deadlines: { departure } }) =>
      departure === undefined || notice === undefined || state.roles[role]?.gang !== gang.position
        ? []
        : [{ task, host, sinceMs: notice.atMs, endsAtMs: dueMsOf(state, departure) }],
  );
  if (departures.length === 0) {
    return [];
  }
  return [
    {
      reason: { code: "departure", tasks: departures.map(({ task }) => task) },
      delays: [{ code: "checkpoint-awaited", hosts: [...new Set(departures.map(({ host }) => host))] }],
      sinceMs: Math.min(...departures.map(({ sinceMs }) => sinceMs)),
      endsAtMs: Math.min(...departures.map(({ endsAtMs }) => endsAtMs)),
    },
  ];
}

function verdictWaits({ state }: Job, gang: GangState): WaitFacts[] {
  return gang.verdicts.filter(endsJob).flatMap(({ unaccounted, endings, deadline }): WaitFacts[] => {
    if (deadline === undefined) {
      return [];
    }
    const ended = Object.values(endings).filter(({ containerId }) => unaccounted[containerId] === true);
    const others = Object.keys(unaccounted).length - ended.length;
    const delays: DelayReason[] = [
      ...(others === 0 ? [] : [{ code: "tasks-unaccounted", tasks: others } as const]),
      ...(ended.length === 0 ? [] : [{ code: "end-unexplained", tasks: ended.map(({ task }) => task) } as const]),
    ];
    return [{ reason: { code: "verdict" }, delays, sinceMs: deadline.sinceMs, endsAtMs: dueMsOf(state, deadline) }];
  });
}

function finishWait({ spec, state }: Job): WaitFacts {
  const reasons = {
    none: { code: "end" },
    journaling: { code: "outcome-journal" },
    stopping: { code: "programs-end", uploads: spec.carrier !== undefined },
    unregistering: { code: "unregistration" },
  } as const;
  const { finish, finishSinceMs, finishDeadline } = state;
  return {
    reason: reasons[finish],
    sinceMs: finishSinceMs,
    endsAtMs: finishDeadline && dueMsOf(state, finishDeadline),
  };
}

function tasksIn({ state }: Job, position: number, phases: readonly TaskPhase[]): TaskRecord[] {
  return state.tasks.filter((task) => task.role === position && phases.includes(task.phase));
}
