import type { Cause } from "../../src/job/status.ts";
import { blame, exhaustedWords, isExhausted, pardon } from "./blame.ts";
import { budgetWords, charge, refund } from "./budgets.ts";
import { failedBy, finish } from "./finish.ts";
import { isMember, openNext, renewAlone, tearDown } from "./restart.ts";
import type { ContainerRecord, Ending, TaskRecord, Verdict } from "./state.ts";
import { findTask, log, roleOf, type Step } from "./step.ts";
import { Bounds, setOrder, setTimer } from "./timers.ts";
import { ALIVE } from "./transitions.ts";
import { keyWords } from "./words.ts";

/** Consequences that are named; a gang of thousands fails together. */
const MOST_CONSEQUENCES = 20;

/**
 * A task ended badly while its program was wanted. The generation's teardown and its restart begin at once; who was to blame, and whose
 * budget pays, stays open until every task of the generation is accounted for, and a stronger cause that comes later takes it over.
 */
export function taskFailed(step: Step, task: TaskRecord, ending: Ending): void {
  const { state } = step;
  const role = roleOf(step, task);
  const open = state.verdicts.find(
    (verdict) => verdict.generation === ending.generation && covers(step, verdict, task),
  );
  if (open !== undefined) {
    addEvidence(step, open, ending);
    return;
  }
  if (state.phase === "finishing" || state.phase === "over" || (state.phase === "restarting" && isMember(step, task))) {
    return;
  }
  log(step, "warn", "task-failed", `${ending.summary}.`, {
    task: task.id,
    container: ending.containerId,
    generation: ending.generation,
    class: ending.class,
  });
  const policy = policyOf(step, task);
  const never = isFinal(step, ending);
  if (role.tracking === "sidecar" && policy !== "task") {
    blame(step, ending);
    return;
  }
  const left = state.used[ending.class] < step.spec.failure.budgets[ending.class];
  if (toleratesFailure(step, task) && (never || !left)) {
    blame(step, ending);
    return;
  }
  const verdict: Verdict = {
    generation: ending.generation,
    scope: policy === "task" ? task.id : "",
    openedAtMs: step.nowMs,
    endsAtMs: 0,
    endings: {},
    root: "",
    unaccounted: {},
    charged: undefined,
    held: true,
    proceeded: false,
    expired: false,
  };
  state.verdicts.push(verdict);
  keepOpen(step, verdict, step.spec.timeouts.verdictMs);
  if (verdict.scope === "") {
    for (const other of state.tasks) {
      if (ALIVE.includes(other.phase) && isMember(step, other)) {
        verdict.unaccounted[other.containerId] = true;
      }
    }
    tearDown(step, ending.summary);
  }
  addEvidence(step, verdict, ending);
}

/**
 * How a program ends when its NodeManager ends the container: by a signal, or as a shell says so of what it ran (128 + the signal's
 * number). YARN's word why may be on its way.
 */
const KILLED: ReadonlySet<string> = new Set(["SIGTERM", "SIGKILL", "143", "137"]);

/** An executor that is still well by then was not meant; one that left is accounted for by YARN, or when the verdict's time is up. */
function awaitWord(step: Step, verdict: Verdict, ending: Ending): void {
  verdict.unaccounted[ending.containerId] = true;
  if (ending.source === "child") {
    setOrder(step, "word", ending.containerId, 2 * step.identity.nodeHeartbeatMs + Bounds.wordMs);
  }
}

/** The end of what ran in this container is known. */
export function accountFor(step: Step, containerId: string): void {
  for (const verdict of step.state.verdicts) {
    delete verdict.unaccounted[containerId];
  }
}

/** Its executor is well, so YARN has no word on the program that ended in it; what its task did in a later generation is another matter. */
export function wordOverdue(step: Step, container: ContainerRecord): void {
  for (const verdict of step.state.verdicts) {
    if (verdict.endings[container.task]?.containerId === container.id) {
      delete verdict.unaccounted[container.id];
    }
  }
}

/** YARN's late word on a container that was given up: it may be the root of what is still being judged. False when nothing is. */
export function lateEvidence(step: Step, ending: Ending): boolean {
  const task = findTask(step, ending.task);
  const verdict = step.state.verdicts.find(
    (open) =>
      open.generation === ending.generation &&
      task !== undefined &&
      covers(step, open, task) &&
      isAwaited(open, ending),
  );
  if (verdict !== undefined) {
    addEvidence(step, verdict, ending);
  }
  return verdict !== undefined;
}

/** A task whose program ended by our own order is accounted for: what becomes of its container later was no cause. */
function isAwaited(verdict: Verdict, ending: Ending): boolean {
  return (
    verdict.unaccounted[ending.containerId] === true || verdict.endings[ending.task]?.containerId === ending.containerId
  );
}

/** Closes the verdicts whose picture is complete or whose time is up. */
export function closeVerdicts(step: Step): void {
  const { state } = step;
  for (const verdict of [...state.verdicts]) {
    if (verdict.expired || isEmpty(verdict.unaccounted)) {
      state.verdicts.splice(state.verdicts.indexOf(verdict), 1);
      close(step, verdict);
    }
  }
}

export function verdictTimer(step: Step, name: string): void {
  for (const verdict of step.state.verdicts) {
    if (timerOf(verdict) === name) {
      verdict.expired = true;
    }
  }
}

/** The whole picture is awaited so long from now. */
export function keepOpen(step: Step, verdict: Verdict, durationMs: number): void {
  verdict.endsAtMs = step.nowMs + durationMs;
  setTimer(step, timerOf(verdict), durationMs);
}

function timerOf(verdict: Verdict): string {
  return `verdict:${verdict.generation}:${verdict.scope}`;
}

function close(step: Step, verdict: Verdict): void {
  const root = rootOf(verdict);
  if (root === undefined) {
    return;
  }
  const rule = endingRule(step, root);
  const counted = verdict.charged === undefined ? rule : `counted as ${verdict.charged}`;
  log(step, "info", "verdict", `Root cause of generation ${verdict.generation}'s end: ${root.summary} (${counted}).`, {
    task: root.task,
    generation: verdict.generation,
    class: root.class,
  });
  if (verdict.held) {
    finish(step, failedBy(toCause(verdict, root), rule));
  }
}

function addEvidence(step: Step, verdict: Verdict, ending: Ending): void {
  const earlier = verdict.endings[ending.task];
  if (earlier !== undefined && !(ending.source === "yarn" && earlier.source !== "yarn")) {
    return;
  }
  if (earlier !== undefined) {
    pardon(step, earlier);
  }
  const lines = earlier !== undefined && earlier.lines.length > 0 ? earlier.lines : ending.lines;
  const since = earlier ?? ending;
  const known = { ...ending, lines, atMs: since.atMs, seenAtMs: since.seenAtMs };
  verdict.endings[ending.task] = known;
  const root = rootOf(verdict);
  if (root === undefined || root.task === known.task || isNearer(known, root)) {
    verdict.root = known.task;
  }
  if (ending.source === "link" || (ending.source === "child" && KILLED.has(ending.exit))) {
    awaitWord(step, verdict, ending);
  }
  blame(step, known);
  reconsider(step, verdict);
}

/** Charges the class of the present root cause, giving back what another one was charged, and goes on where the job can. */
function reconsider(step: Step, verdict: Verdict): void {
  const root = rootOf(verdict);
  if (root === undefined) {
    return;
  }
  if (verdict.charged !== undefined && verdict.charged !== root.class) {
    refund(step, verdict.charged);
    verdict.charged = undefined;
  }
  if (verdict.charged === undefined && !isFinal(step, root) && charge(step, root.class)) {
    verdict.charged = root.class;
  }
  verdict.held = verdict.charged === undefined;
  noteCause(step, verdict, root);
  step.state.journal.dirty = true;
  step.changed = true;
  if (!verdict.held && !verdict.proceeded && step.state.outcome === undefined) {
    verdict.proceeded = true;
    proceed(step, verdict, root);
  }
}

function proceed(step: Step, verdict: Verdict, root: Ending): void {
  if (verdict.scope === "") {
    const alone = Object.keys(verdict.endings).flatMap((id) => {
      const task = findTask(step, id);
      return task === undefined || isMember(step, task) ? [] : [id];
    });
    openNext(step, root.summary, alone);
  } else {
    renewAlone(step, verdict.scope, root.summary);
  }
}

/** No restart can follow, whatever budget is left. */
function isFinal(step: Step, root: Ending): boolean {
  const task = findTask(step, root.task);
  if (task === undefined) {
    return false;
  }
  return finalRule(step, task, root) !== undefined;
}

/** In words, the rule by which no restart follows whatever budget is left. */
function finalRule(step: Step, task: TaskRecord, root: Ending): string | undefined {
  const role = roleOf(step, task);
  if (role.stopOnFailure && root.class === "program") {
    return `a failure of ${role.name} ends the job: ${keyWords(step, "tony.application.stop-on-failure-jobtypes")}`;
  }
  if (root.machine && isExhausted(step, task)) {
    return exhaustedWords(step, task);
  }
  if (policyOf(step, task) === "none") {
    return `${role.name} is not restarted: ${keyWords(step, `tony.${role.name}.restart-policy`)}`;
  }
  return undefined;
}

/** Why the job cannot go on after this root cause. */
function endingRule(step: Step, root: Ending): string {
  const task = findTask(step, root.task);
  const final = task === undefined ? undefined : finalRule(step, task, root);
  return final ?? budgetWords(step, root.class);
}

function rootOf(verdict: Verdict): Ending | undefined {
  return verdict.endings[verdict.root];
}

function isNearer(ending: Ending, root: Ending): boolean {
  return ending.strength > root.strength || (ending.strength === root.strength && ending.seenAtMs < root.seenAtMs);
}

function noteCause(step: Step, verdict: Verdict, root: Ending): void {
  const generation = step.state.generations.find((one) => one.generation === verdict.generation);
  if (generation !== undefined && verdict.scope === "") {
    generation.endedBy = toCause(verdict, root);
  }
}

function toCause(verdict: Verdict, root: Ending): Cause {
  const others = Object.values(verdict.endings).filter((ending) => ending.task !== root.task);
  const consequences = others.slice(0, MOST_CONSEQUENCES).map((ending) => consequenceWords(ending, root));
  return {
    class: root.class,
    generation: verdict.generation,
    summary: root.summary,
    task: root.task,
    host: root.host,
    containerId: root.containerId,
    exit: root.exit,
    atMs: root.atMs,
    lines: root.lines.slice(-20),
    ...(root.remedy === "" ? {} : { remedy: root.remedy }),
    consequences,
  };
}

/** YARN's word on the root often comes after what followed from it. */
function consequenceWords(ending: Ending, root: Ending): string {
  const laterMs = ending.seenAtMs - root.seenAtMs;
  const when = `${(Math.abs(laterMs) / 1000).toFixed(1)} s ${laterMs < 0 ? "earlier" : "later"}`;
  return `${ending.summary}, ${when} (a consequence, not counted)`;
}

/** What is replaced when the task fails. Tasks that start each when they can have no gang to restart. */
function policyOf(step: Step, task: TaskRecord): "gang" | "task" | "none" {
  const { restartPolicy } = roleOf(step, task);
  return restartPolicy === "gang" && step.spec.distributedMode === "fcfs" ? "task" : restartPolicy;
}

/** A failure that ends nothing: tolerance was set, and no chief is concerned. */
function toleratesFailure(step: Step, task: TaskRecord): boolean {
  const role = roleOf(step, task);
  const isChief = role.chief === "all" || (role.chief === "first" && task.index === 0);
  const tolerated = step.spec.failure.onWorkerFailure === "tolerate" && role.tracking === "tracked" && !isChief;
  return (tolerated && !role.stopOnFailure) || role.tracking === "sidecar";
}

function covers(step: Step, verdict: Verdict, task: TaskRecord): boolean {
  return verdict.scope === (policyOf(step, task) === "task" ? task.id : "");
}

function isEmpty(record: Readonly<Record<string, true>>): boolean {
  for (const _ in record) {
    return false;
  }
  return true;
}
