import { countWords, durationWords, keyWords, listWords } from "../../../src/job/reasons/words.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import type { Wait } from "../../../src/job/status.ts";
import { awaitedBy } from "../policies/stages.ts";
import { dueMsOf } from "../state/deadlines.ts";
import type { GangState } from "../state/gang.ts";
import type { RoleState, TaskPhase, TaskRecord } from "../state/records.ts";
import type { CoreState } from "../state/state.ts";
import { rolesOf } from "../state/step.ts";
import { containerWait } from "./container-wait.ts";

interface Job {
  readonly spec: JobSpec;
  readonly state: CoreState;
}

/** What the job waits for, most important first, each with its reasons and what ends it. */
export function waitsOf(job: Job, nowMs: number): Wait[] {
  const { state } = job;
  const waits: Wait[] = [];
  if (state.phase === "starting") {
    waits.push(plainWait("the ResourceManager's answer to the registration", { sinceMs: state.startedAtMs }));
  }
  if (state.phase === "under-way") {
    const begun = state.gangs.filter(({ phase }) => phase !== "ahead");
    const ahead = state.gangs.filter(({ phase }) => phase === "ahead");
    waits.push(
      ...begun.flatMap((gang) => gangWaits(job, gang, nowMs)),
      ...groupWaits(job),
      ...ahead.map((gang) => stageWait(job, gang)),
    );
  }
  if (state.phase === "finishing") {
    waits.push(finishWait(job));
  }
  return waits;
}

function gangWaits(job: Job, gang: GangState, nowMs: number): Wait[] {
  const ofRoles = rolesOf(job, gang).flatMap(([position, role]) => roleWaits(job, gang, position, role));
  return [...ofRoles, ...startWaits(job, gang, nowMs), ...verdictWaits(job, gang)];
}

/** A stage whose turn has not come. */
function stageWait(job: Job, gang: GangState): Wait {
  const roles = listWords(rolesOf(job, gang).map(([, { name }]) => name));
  const missing = awaitedBy(job, gang);
  return plainWait(`the stage of ${roles}`, {
    sinceMs: job.state.startedAtMs,
    reasons: [`its containers are asked for when ${listWords(missing)} ${missing.length === 1 ? "is" : "are"} done`],
  });
}

function roleWaits(job: Job, gang: GangState, position: number, role: RoleState): Wait[] {
  const generation = gang.generations.at(-1);
  const sinceMs = generation?.startedAtMs ?? job.state.startedAtMs;
  const waits: Wait[] = [];
  if (role.counts.waiting > 0) {
    waits.push({ ...containerWait(job, position, role.counts.waiting), sinceMs });
  }
  const starting = tasksIn(job, position, ["allocated", "launched"]);
  if (starting.length > 0) {
    waits.push(executorsWait(job, role.name, starting));
  }
  const stopping = role.counts.stopping;
  if (stopping > 0) {
    const reasons = [`they have ${durationWords(job.spec.timeouts.stopGraceMs)} to stop by themselves`];
    const names = tasksIn(job, position, ["stopping"]).map(({ id }) => id);
    const what = `the programs of ${listWords(names)}`;
    const cause = `programs of ${role.name} to stop`;
    waits.push({ cause, what, sinceMs: generation?.endedAtMs ?? sinceMs, reasons });
  }
  return waits;
}

/** Counted from the container that was given first. */
function executorsWait({ spec, state }: Job, role: string, starting: readonly TaskRecord[]): Wait {
  const given = starting.flatMap(({ containerId }) => state.containers[containerId]?.allocatedAtMs ?? []);
  const sinceMs = Math.min(...given);
  const ends = starting.flatMap(({ containerId }) => {
    const { launch, rejoin } = state.containers[containerId]?.deadlines ?? {};
    const deadline = launch ?? rejoin;
    return deadline === undefined ? [] : [dueMsOf(state, deadline)];
  });
  return {
    cause: `executors of ${role}`,
    what: `the executors of ${listWords(starting.map(({ id }) => id))}`,
    sinceMs,
    reasons: ["their files are being brought to the nodes, then their executors register"],
    endsAtMs: ends.length === 0 ? sinceMs + spec.timeouts.launchMs : Math.min(...ends),
  };
}

/** One whose words never change. */
function plainWait(
  what: string,
  rest: Omit<Wait, "cause" | "what" | "reasons"> & Partial<Pick<Wait, "reasons">>,
): Wait {
  return { cause: what, what, reasons: [], ...rest };
}

/** What holds a complete gang back. */
function startWaits({ spec, state }: Job, gang: GangState, nowMs: number): Wait[] {
  const waits: Wait[] = [];
  const { hold, generations } = gang;
  if (hold.askAgainAtMs > nowMs) {
    waits.push(
      plainWait("the pause before containers are asked for again", {
        sinceMs: nowMs,
        reasons: [
          `the gang was not complete in time and gave back what it held, ${countWords(hold.returns, "time")} so far`,
        ],
        endsAtMs: hold.askAgainAtMs,
      }),
    );
  }
  if (hold.deadline !== undefined) {
    waits.push(
      plainWait("the rest of the gang", {
        sinceMs: hold.deadline.sinceMs,
        reasons: [],
        endsAtMs: dueMsOf(state, hold.deadline),
        atEnd: `its containers are returned and requested again, so that another job can go on (${keyWords({ spec }, "tony.container.hold-timeout")})`,
      }),
    );
  }
  if (gang.phase === "gathering" && gang.startNotBeforeMs > nowMs) {
    waits.push(
      plainWait("the pause before the restart", {
        sinceMs: generations.at(-1)?.startedAtMs ?? nowMs,
        reasons: [`after ${countWords(generations.length - 1, "restart")}: ${gang.restartReason}`],
        endsAtMs: gang.startNotBeforeMs,
      }),
    );
  }
  if (!gang.started && gang.phase !== "done" && state.journal.failure !== "") {
    waits.push(
      plainWait("the journal", {
        sinceMs: state.journal.writtenAtMs,
        reasons: [`it cannot be written: ${state.journal.failure}`],
        remedy: "programs run on; the next generation starts when HDFS takes the journal again",
      }),
    );
  }
  return waits;
}

/** Roles that still run after the end of a group. */
function groupWaits({ spec, state }: Job): Wait[] {
  const waits: Wait[] = [];
  for (const [position, { role, group, limitMs, atLimit }] of spec.groupLimits.entries()) {
    const deadline = state.groupDeadlines[position];
    if (deadline !== undefined) {
      const key = keyWords({ spec }, `tony.application.dependency.${role}.timeout.after.${group}`);
      waits.push(
        plainWait(`the end of ${role}`, {
          sinceMs: deadline.sinceMs,
          reasons: [`group ${group} has ended, and ${role} may run on for ${durationWords(limitMs)} (${key})`],
          endsAtMs: dueMsOf(state, deadline),
          atEnd: atLimit === "fail" ? "the job fails" : `the job does not wait for ${role} any more`,
        }),
      );
    }
  }
  return waits;
}

function verdictWaits({ state }: Job, gang: GangState): Wait[] {
  const waits: Wait[] = [];
  for (const verdict of gang.verdicts.filter((one) => one.held)) {
    const missing = Object.keys(verdict.unaccounted).length;
    waits.push(
      plainWait("the verdict on the failure", {
        sinceMs: verdict.deadline.sinceMs,
        reasons: [`${countWords(missing, "task")} ${missing === 1 ? "is" : "are"} not yet accounted for`],
        endsAtMs: dueMsOf(state, verdict.deadline),
      }),
    );
  }
  return waits;
}

function finishWait({ spec, state }: Job): Wait {
  const whats = {
    none: "the end",
    journaling: "the outcome to be written down",
    stopping:
      spec.carrier === undefined ? "the programs to stop" : "the programs to stop, and what they left to be brought up",
    unregistering: "the ResourceManager to accept the end",
  } as const;
  const sinceMs = state.outcome?.endedAtMs ?? state.startedAtMs;
  const { finishDeadline } = state;
  return plainWait(whats[state.finish], {
    sinceMs,
    ...(finishDeadline === undefined ? {} : { endsAtMs: dueMsOf(state, finishDeadline) }),
  });
}

function tasksIn({ state }: Job, position: number, phases: readonly TaskPhase[]): TaskRecord[] {
  return state.tasks.filter((task) => task.role === position && phases.includes(task.phase));
}
