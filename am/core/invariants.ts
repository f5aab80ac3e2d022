import type { ClusterSpec } from "../../src/job/cluster-spec.ts";
import { inTrial } from "../../src/job/search/trial-tasks.ts";
import { compareValues, hasValue } from "../../src/job/search/trials.ts";
import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import { parseTaskId } from "../../src/job/task.ts";
import { excludedHosts } from "./containers/kept-off.ts";
import { budgetOf } from "./gang/charges.ts";
import { isOutcomeDurable } from "./journal/journal.ts";
import { begun, hasRoom, isLeaving, promotable, trialOf } from "./policies/trials.ts";
import type { Ask, Effect } from "./state/effects.ts";
import type { Event } from "./state/events.ts";
import { NO_HOLD } from "./state/gang.ts";
import type { Deadline } from "./state/records.ts";
import type { CoreState } from "./state/state.ts";
import { askedOf, inJob } from "./state/step.ts";
import { AFTER_END } from "./state/task-moves.ts";

/** What must hold after every step, whatever happened. Each invariant can fail: see test/simulation/mutants.test.ts. */
export interface Invariants {
  /** The violated ones, in words; empty when all hold. */
  check(state: CoreState, effects: readonly Effect[], event: Event): string[];
}

export function createInvariants(spec: JobSpec): Invariants {
  /** The container that was told to start a task's program, by task and generation. */
  const starts = new Map<string, string>();
  const given = new Set<string>();
  /** Parameters of a search's trials, by task. */
  const parameters = new Map<string, string>();
  /** Tasks whose checkpoints were removed. */
  const removed = new Set<string>();
  let generations: readonly number[] = [];
  let attempt = 0;
  let outcomeIsDurable = false;
  let outcome: string | undefined;
  /** What this attempt last told YARN: the roles that want nothing, and the hosts to keep off. */
  const withdrawn = new Set<string>();
  let keptOff: readonly string[] | undefined;
  let decided: readonly unknown[] = [];
  return {
    check(state, effects, event) {
      const problems: string[] = [];
      if (state.phase === "starting") {
        return problems;
      }
      if (state.attempt !== attempt) {
        // Orders of an earlier attempt may have been lost with it: the executors report whether their programs run.
        starts.clear();
        keptOff = undefined;
      }
      // A ResourceManager that knows nothing is told everything.
      if (state.attempt !== attempt || event.type === "resource-manager-resynced") {
        withdrawn.clear();
      }
      checkTenants(state, problems);
      checkUsage(state, problems);
      checkBudgets(spec, state, problems);
      checkTrials(spec, state, problems);
      for (const gang of state.gangs) {
        const before = generations[gang.position] ?? 0;
        if (state.attempt === attempt && gang.generation < before) {
          problems.push(`the generation went back from ${before} to ${gang.generation}`);
        }
        if (
          gang.phase === "running" &&
          Object.entries(NO_HOLD).some(([field, value]) => Reflect.get(gang.hold, field) !== value)
        ) {
          problems.push(`gang ${gang.position} runs, and goes on from ${JSON.stringify(gang.hold)}`);
        }
      }
      if (
        outcome !== undefined &&
        (attempt === state.attempt || outcomeIsDurable) &&
        JSON.stringify(state.outcome) !== outcome &&
        state.outcome?.reason.code !== "not-stored"
      ) {
        problems.push("the outcome changed after it was decided");
      }
      checkResults(state, problems);
      if (state.outcome !== undefined) {
        checkEnded(effects, problems);
      }
      for (const effect of effects) {
        if (effect.type === "send" && effect.message.type === "start-child") {
          checkStart(spec, state, effect, starts, problems, startsGang(effects));
          checkParameters(spec, effect, parameters, problems);
          if (removed.has(effect.to.task)) {
            problems.push(`${effect.to.task} starts, and its checkpoints were removed`);
          }
        }
        if (effect.type === "remove-checkpoints") {
          checkRemoved(spec, state, effect.tasks, problems);
          for (const task of effect.tasks) {
            removed.add(task);
          }
        }
        if (effect.type === "launch") {
          for (const { containerId } of effect.launches) {
            if (given.has(containerId)) {
              problems.push(`${containerId} is launched twice`);
            }
            given.add(containerId);
          }
        }
        if (effect.type === "ask") {
          checkAsks(effect.asks, withdrawn, problems);
        }
        if (effect.type === "blacklist") {
          keptOff = effect.hosts;
        }
      }
      checkKeptOff(state, keptOff, problems);
      outcome = state.outcome === undefined ? undefined : JSON.stringify(state.outcome);
      outcomeIsDurable = isOutcomeDurable(state);
      const now = decisionsOf(state);
      const isWritten = state.journal.dirty || effects.some(({ type }) => type === "journal");
      const isSame = now.length === decided.length && now.every((one, place) => one === decided[place]);
      if (state.attempt === attempt && !isSame && !isWritten) {
        problems.push(`the journal is not to hear of ${JSON.stringify(now)}, which was ${JSON.stringify(decided)}`);
      }
      decided = now;
      attempt = state.attempt;
      generations = state.gangs.map((gang) => gang.generation);
      return problems;
    },
  };
}

/** A task has at most one container, and both agree on it. The counts of phases are right. */
function checkTenants(state: CoreState, problems: string[]): void {
  const held = new Map<string, string>();
  for (const id in state.containers) {
    const container = state.containers[id];
    if (container?.phase === "held") {
      const other = held.get(container.task);
      if (other !== undefined) {
        problems.push(`${container.task} holds two containers, ${other} and ${id}`);
      }
      held.set(container.task, id);
    }
  }
  for (const task of state.tasks) {
    if ((held.get(task.id) ?? "") !== task.containerId) {
      problems.push(`${task.id} says it lives in "${task.containerId}", the books say "${held.get(task.id) ?? ""}"`);
    }
    const needsContainer = task.phase !== "waiting" && task.phase !== "lost";
    const ended = task.phase === "succeeded" || task.phase === "failed" || task.phase === "stopped";
    if (needsContainer && !ended && task.containerId === "") {
      problems.push(`${task.id} is ${task.phase} without a container`);
    }
    if (task.phase === "waiting" && task.containerId !== "") {
      problems.push(`${task.id} waits for a container and has ${task.containerId}`);
    }
  }
  const waits = state.roles.map(() => 0);
  for (const { role, phase } of state.tasks) {
    waits[role] = (waits[role] ?? 0) + Number(phase === "waiting");
  }
  for (const [position, role] of state.roles.entries()) {
    const waiting = waits[position];
    if (waiting !== role.counts.waiting) {
      problems.push(`role ${role.name} counts ${role.counts.waiting} waiting tasks, there are ${waiting}`);
    }
  }
}

/** Usage counts exactly the containers in the state, each once. */
function checkUsage({ usage, containers }: CoreState, problems: string[]): void {
  let memoryMiB = 0;
  let vcores = 0;
  for (const id in containers) {
    memoryMiB += containers[id]?.resource.memoryMiB ?? 0;
    vcores += containers[id]?.resource.vcores ?? 0;
  }
  if (usage.memoryMiB !== memoryMiB || usage.vcores !== vcores) {
    const held = `${memoryMiB} MiB and ${vcores} cores`;
    problems.push(`usage counts ${usage.memoryMiB} MiB and ${usage.vcores} cores, containers have ${held}`);
  }
}

/** What a later attempt learns from the journal alone. That a task joins its gang's generation is found out again. */
function decisionsOf({
  untracked,
  blame,
  leaving,
  unfetched,
  outcome,
  lastGeneration,
  gangs,
  tasks,
}: CoreState): readonly unknown[] {
  const ofGangs = gangs.map(({ generation, charges }) => [generation, charges.length]);
  // Parameters never change once they are set.
  const parameters = tasks.map(({ trialParameters }) => trialParameters);
  return [JSON.stringify([untracked, blame, leaving, unfetched, outcome, lastGeneration, ofGangs]), ...parameters];
}

/** That a role wants nothing any more is said once. */
function checkAsks(asks: readonly Ask[], withdrawn: Set<string>, problems: string[]): void {
  for (const { role, count } of asks) {
    if (count > 0) {
      withdrawn.delete(role);
    } else if (withdrawn.has(role)) {
      problems.push(`no container of ${role} is asked for, again`);
    } else {
      withdrawn.add(role);
    }
  }
}

/** The hosts that YARN is to keep off are those on which the job wants nothing now, each once. */
function checkKeptOff(state: CoreState, told: readonly string[] | undefined, problems: string[]): void {
  if (told === undefined) {
    return;
  }
  const wanted = new Set([...excludedHosts({ state }), ...Object.keys(state.leaving)]);
  if (told.length !== wanted.size || told.some((host) => !wanted.has(host))) {
    problems.push(`YARN keeps off ${told.join(", ")}, the job wants nothing on ${[...wanted].join(", ")}`);
  }
}

/**
 * In a search no more trials have containers than may run at once, and a container whose trial is over gets another trial or goes
 * back.
 */
function checkTrials(spec: JobSpec, state: CoreState, problems: string[]): void {
  const { search } = spec;
  const { phase, containers, tasks, gangs, held } = state;
  if (search === undefined || phase !== "under-way") {
    return;
  }
  const next = state.outcome === undefined && hasRoom({ spec, state }) ? promotable({ spec, state }) : undefined;
  if (next !== undefined && !isLeaving({ spec, state }, next)) {
    problems.push(`${next.id} pauses, is among the best, and there is room for it`);
  }
  const had = Object.values(containers).filter((container) => container.phase === "held");
  // After a takeover a container whose executor has not come back may be gone, and another may have been given in its place.
  const there = had.filter(({ deadlines }) => deadlines.rejoin === undefined);
  const ofEach = spec.trials === undefined ? 1 : spec.roles.reduce((sum, { instances }) => sum + instances, 0);
  if (there.length > search.maxParallel * ofEach) {
    problems.push(`trials have ${there.length} containers, they may have ${search.maxParallel * ofEach}`);
  }
  for (const { id, task, role, deadlines } of had) {
    const tenant = tasks.find((one) => one.id === task);
    const isOver = tenant !== undefined && AFTER_END.includes(tenant.phase);
    const { leave, idle } = deadlines;
    if (idle !== undefined) {
      checkKept(search.keepIdleMs ?? 0, isOver, id, idle, problems);
      if (state.outcome === undefined && hasWaiting(spec, state, role)) {
        problems.push(`${id} is kept while a trial waits for one like it`);
      }
    }
    if (!isOver || leave !== undefined || idle !== undefined) continue;
    const isJudged = gangs.some(({ verdicts }) => verdicts.some(({ scope }) => scope === task));
    const gang = gangs[state.roles[tenant.role]?.gang ?? -1];
    const isOfOthers = spec.trials !== undefined && gang?.phase !== "done";
    const isUnknown = held[`task-done ${task}`] !== undefined || held[`stage-done ${gang?.position}`] !== undefined;
    if (!isJudged && !isOfOthers && !isUnknown) {
      problems.push(`${id} is kept for ${task}, which is over`);
    }
  }
}

/** Whether a task of a trial that has begun waits for a container of a role. */
function hasWaiting(spec: JobSpec, { tasks, roles, gangs }: CoreState, position: number): boolean {
  return tasks.some(({ phase, role, trialParameters }) => {
    const gang = gangs[roles[role]?.gang ?? -1];
    const hasBegun = spec.trials === undefined ? trialParameters !== undefined : gang?.phase !== "ahead";
    const isWanting = hasBegun && gang?.phase !== "over" && gang?.hold.askAgainAtMs === 0;
    return phase === "waiting" && isWanting && inJob({ spec }, role) === inJob({ spec }, position);
  });
}

/** A container that no trial waits for is kept only for a limited time, and runs nothing. */
function checkKept(
  mostMs: number,
  isOver: boolean,
  id: string,
  { sinceMs, dueMs }: Deadline,
  problems: string[],
): void {
  if (dueMs - sinceMs > mostMs) {
    problems.push(`${id} is kept for ${dueMs - sinceMs} ms, ${mostMs} ms are allowed`);
  }
  if (!isOver) {
    problems.push(`${id} is kept for a trial that may begin, and has one`);
  }
}

/** Only checkpoints of trials that have ended are removed, and only while no container may store another one. */
function checkRemoved(spec: JobSpec, state: CoreState, removed: readonly string[], problems: string[]): void {
  const most = spec.search?.keepCheckpoints ?? Number.POSITIVE_INFINITY;
  const trials = begun({ state }).map(trialOf);
  const ended = trials.filter((trial) => trial.state !== "running" && trial.state !== "failed");
  for (const id of removed) {
    const number = numberOf(spec, id) ?? -1;
    const trial = trials[number];
    const isWorthless = trial?.state === "failed" || !hasValue(trial?.value);
    const better = ended.filter(
      (other) => compareValues(spec.search?.direction ?? "minimize", other.value, trial?.value) <= 0,
    );
    if (trial === undefined || trial.state === "running" || trial.state === "paused") {
      problems.push(`the checkpoints of ${id} are removed, which is ${trial?.state}`);
    } else if (!isWorthless && better.filter((other) => other !== trial).length < most) {
      problems.push(`the checkpoints of ${id} are removed, which is among the best ${most}`);
    }
    if (Object.values(state.containers).some(({ task }) => task === id)) {
      problems.push(`the checkpoints of ${id} are removed, which has a container`);
    }
  }
}

/** A trial has parameters, and the same ones whenever it starts. */
function checkParameters(
  spec: JobSpec,
  { to, message }: Extract<Effect, { type: "send" }>,
  parameters: Map<string, string>,
  problems: string[],
): void {
  if (spec.search === undefined || message.type !== "start-child") {
    return;
  }
  const { trialParams = "none" } = message;
  // All tasks of a trial have the same parameters.
  const trial = `trial ${numberOf(spec, to.task)}`;
  const before = parameters.get(trial) ?? trialParams;
  if (trialParams === "none" || trialParams !== before) {
    problems.push(`${to.task} starts with the parameters ${trialParams}, it had ${before}`);
  }
  parameters.set(trial, trialParams);
}

function numberOf(spec: JobSpec, id: string): number | undefined {
  const task = parseTaskId(id);
  return task && inTrial(spec, task).number;
}

/** Missing results fail a job only if their task has any: one that ended in success. */
function checkResults({ outcome, tasks }: CoreState, problems: string[]): void {
  if (outcome?.reason.code !== "not-stored" || outcome.reason.what !== "output") {
    return;
  }
  const id = outcome.reason.task;
  const phase = tasks.find((task) => task.id === id)?.phase;
  if (phase !== "succeeded") {
    problems.push(`the job fails by the results of ${id}, which is ${phase}`);
  }
}

function checkBudgets(spec: JobSpec, state: CoreState, problems: string[]): void {
  for (const gang of state.gangs) {
    for (const charge of gang.charges) {
      const { class: failureClass, role } = charge;
      const { used, limit } = budgetOf({ spec }, gang, charge, gang.charges.at(-1)?.atMs ?? 0);
      if (used > limit) {
        problems.push(`budget ${failureClass} is ${used} of ${limit}`);
      }
      const owner = spec.roles.findIndex(({ name, retryCount }) => name === role && retryCount !== undefined);
      if (role !== undefined && state.roles[owner]?.gang !== gang.position) {
        problems.push(`${role} has no budget in stage ${gang.position}, and pays`);
      }
    }
  }
}

/** Nothing starts once the outcome is decided, whether in this step or before it. */
function checkEnded(effects: readonly Effect[], problems: string[]): void {
  const decision = effects.findIndex((effect) => effect.type === "log" && effect.event === "outcome-decided");
  for (const effect of effects.slice(decision + 1)) {
    if (effect.type === "send" && effect.message.type === "start-child") {
      problems.push(`${effect.to.task} is started after the outcome was decided`);
    }
  }
}

/** A spec never mixes generations, is journaled first, and starts a task once in a generation. */
function checkStart(
  spec: JobSpec,
  state: CoreState,
  effect: Extract<Effect, { type: "send" }>,
  starts: Map<string, string>,
  problems: string[],
  isFirst: boolean,
): void {
  if (effect.message.type !== "start-child") {
    return;
  }
  const { task, containerId } = effect.to;
  const { generation, clusterSpec } = effect.message;
  const earlier = starts.get(`${task} ${generation}`);
  if (earlier !== undefined && earlier !== containerId) {
    problems.push(`${task} is started twice in generation ${generation}, in ${earlier} and ${containerId}`);
  }
  checkJoining(spec, state, effect.to.task, clusterSpec, earlier !== undefined, problems);
  starts.set(`${task} ${generation}`, containerId);
  if (state.journal.durableSequence < state.journal.generationSequence && generation === state.lastGeneration) {
    problems.push(`${task} is started in generation ${generation} before the journal knows of it`);
  }
  const listed = new Map(clusterSpec.tasks.map((address) => [address.task, address]));
  // The remaining tasks of a gang that is done start each on its own.
  const gang = state.gangs.find((one) => one.generation === generation && one.phase !== "done");
  const ofGang = gang?.roles.map((position) => askedOf({ spec }, { role: position }));
  if (ofGang !== undefined && isFirst && spec.trials === undefined) {
    checkEnough(ofGang, listed, problems);
  }
  if (spec.trials !== undefined) {
    checkTrialAlone(spec, state, task, listed, problems);
  }
  for (const member of state.tasks) {
    const role = askedOf({ spec }, member);
    const isGivenUp = role.tracking === "sidecar" && member.phase === "failed";
    if (role.restartPolicy !== "gang" || spec.distributedMode !== "gang" || isGivenUp) {
      continue;
    }
    // Its next life began later in the same step: a takeover hears at once of everything that happened meanwhile.
    if (generation < member.generation) {
      continue;
    }
    const address = listed.get(member.id);
    const isOfGang = gang === undefined || state.roles[member.role]?.gang === gang.position;
    const mayBeMissing = role.minInstances !== undefined && member.index > 0;
    if (mayBeMissing && (address === undefined || member.generation !== generation)) {
      continue;
    }
    if (isOfGang && generation === gang?.generation && (address === undefined || member.generation !== generation)) {
      problems.push(`the spec of generation ${generation} lists ${member.id} of generation ${member.generation}`);
    } else if (address !== undefined && (address.port !== member.port || address.host !== member.host)) {
      problems.push(`the spec of generation ${generation} lists another address of ${member.id} than its own`);
    }
  }
}

/** The programs of a trial are told of all of its own tasks, and of no other trial's. */
function checkTrialAlone(
  spec: JobSpec,
  state: CoreState,
  id: string,
  listed: ReadonlyMap<string, unknown>,
  problems: string[],
): void {
  const gangOfTask = ({ role }: { readonly role: number }) => state.roles[role]?.gang;
  const starts = state.tasks.find((task) => task.id === id);
  for (const task of state.tasks) {
    const isOwn = starts !== undefined && gangOfTask(task) === gangOfTask(starts);
    const mayBeMissing = askedOf({ spec }, task).tracking === "sidecar";
    if (listed.has(task.id) !== isOwn && !(isOwn && mayBeMissing)) {
      problems.push(`${id} is ${isOwn ? "not " : ""}told of ${task.id}, which is ${isOwn ? "" : "not "}of its trial`);
    }
  }
}

/** Whether a cluster spec is sent for the first time; a task that missed it gets what is left of it. */
function startsGang(effects: readonly Effect[]): boolean {
  return effects.some((effect) => effect.type === "log" && effect.event === "cluster-spec-sent");
}

/** A task that joins an elastic role meets those that run, and none joins once one of them has ended well. */
function checkJoining(
  spec: JobSpec,
  state: CoreState,
  id: string,
  { generation, gangGeneration = generation }: ClusterSpec,
  isRepeated: boolean,
  problems: string[],
): void {
  const task = state.tasks.find((one) => one.id === id);
  const role = state.roles[task?.role ?? -1];
  const gang = state.gangs[role?.gang ?? -1];
  if (task === undefined || role === undefined || spec.roles[task.role]?.minInstances === undefined) {
    return;
  }
  if (gangGeneration !== gang?.generation) {
    problems.push(`${id} is to meet generation ${gangGeneration}, the others are of ${gang?.generation}`);
  }
  if (role.counts.succeeded > 0 && !isRepeated) {
    problems.push(`${id} is started, and ${role.counts.succeeded} of its role have ended well`);
  }
}

/** A gang starts only with as many tasks of an elastic role as it needs. */
function checkEnough(roles: readonly RoleSpec[], listed: ReadonlyMap<string, unknown>, problems: string[]): void {
  for (const { name, minInstances = 0, instances } of roles) {
    const present = Array.from({ length: instances }, (_, index) => listed.has(`${name}:${index}`)).filter(Boolean);
    if (present.length < minInstances) {
      problems.push(`${present.length} of ${name} start, which needs ${minInstances}`);
    }
  }
}
