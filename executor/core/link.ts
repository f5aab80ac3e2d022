import { judgeMasterMessage } from "../../src/api/fence.ts";
import type { MasterMessage } from "../../src/api/messages.ts";
import { backOffMs } from "../../src/hadoop/back-off.ts";
import { beginAbsence, endAbsence } from "./absence.ts";
import type { Event } from "./events.ts";
import { hearOrder } from "./isolation.ts";
import { CONNECTION } from "./link-moves.ts";
import type { MasterAddress } from "./master.ts";
import type { Connection, ExecutorState, LinkState, Trying } from "./state.ts";
import { emit, follow, log, type Step } from "./step.ts";

/**
 * A stream that is not welcomed in this time is closed: the ApplicationMaster may be stopped, or the server may be another program.
 */
const WELCOME_TIMEOUT_MS = 10_000;
const RECONNECT = { firstMs: 100, mostMs: 5_000 };
/** How often the address of another attempt is tried while the current ApplicationMaster is connected. */
const MOST_CANDIDATE_TRIES = 5;

/**
 * The executor's side of its stream to the ApplicationMaster. It reconnects when the stream breaks, and changes to a later attempt
 * when it learns of one, but never back to an earlier one.
 */
export function begin(step: Step): void {
  beginAbsence(step);
  connect(step);
}

/** The deadlines of the link, each with what follows. */
export function linkDeadlines({ link }: ExecutorState): [number | undefined, (step: Step) => void][] {
  const { trying } = link;
  return [
    [link.connectAtMs, connect],
    [trying?.giveUpAtMs, (step) => trying !== undefined && giveUp(step, trying, "no welcome in time")],
  ];
}

/** A message over a stream that has been closed is ignored as late. */
export function hear(step: Step, { connection: id, message, generation }: Extract<Event, { type: "message" }>): void {
  const { active, trying, current } = step.state.link;
  const { attempt, body } = message;
  const verdict = judgeMasterMessage(message, { attempt: current.attempt, generation });
  if (id === trying?.id) {
    if (verdict === "lower-attempt") refuseLower(step, trying, attempt);
    else if (body.type === "welcome") join(step, trying, message);
    else if (body.type === "refuse") refusedBy(step, trying, body.reason);
  } else if (id === active?.id) {
    if (verdict === "lower-attempt") refuseLower(step, active, attempt);
    else if (body.type === "refuse") emit(step, { type: "refused", reason: body.reason });
    else if (body.type !== "welcome" && verdict === "current") obey(step, message);
  }
}

function obey(step: Step, message: MasterMessage): void {
  if (step.state.isEnding) return;
  hearOrder(step, message);
  if (message.body.type !== "resume-child") emit(step, { type: "obey", message });
}

/** The end of a stream that was closed before is ignored. */
export function ended(step: Step, id: number, cause: string): void {
  const { active, trying } = step.state.link;
  if (id === active?.id) lose(step, cause);
  else if (id === trying?.id) tryFailed(step, trying, cause);
}

/** Answers an attempt that calls with its address. */
export function called(step: Step, candidate: MasterAddress): void {
  const { current, active } = step.state.link;
  const { attempt, address } = current;
  if (candidate.attempt < attempt) {
    emit(step, { type: "answer", reply: { accepted: false, reason: `attempt ${attempt} is obeyed already` } });
    return;
  }
  emit(step, { type: "answer", reply: { accepted: true, reason: "" } });
  const isPresent = candidate.attempt === attempt && candidate.address === address && active !== undefined;
  if (!isPresent) tryCandidate(step, candidate);
}

/** A look into the staging folder found an address. */
export function found(step: Step, master: MasterAddress): void {
  const { current, trying } = step.state.link;
  const isNews = master.address !== current.address && master.address !== trying?.target.address;
  if (master.attempt >= current.attempt && isNews) tryCandidate(step, master);
}

export function close(step: Step): void {
  const { link } = step.state;
  if (!follow(step, CONNECTION, link, "closing")) return;
  endAbsence(step);
  link.connectAtMs = undefined;
  if (link.trying !== undefined) emit(step, { type: "close", connection: link.trying.id });
  link.trying = undefined;
}

function connect(step: Step): void {
  const { link } = step.state;
  link.connections += 1;
  const connection = link.connections;
  const candidate = isCandidatesTurn(link) ? link.candidate : undefined;
  const target = candidate ?? link.current;
  const isCandidates = candidate !== undefined;
  link.connectAtMs = undefined;
  link.trying = { id: connection, target, isCandidates, giveUpAtMs: step.nowMs + WELCOME_TIMEOUT_MS };
  emit(step, { type: "connect", connection, target });
  emit(step, { type: "register", connection });
}

function join(step: Step, { id, target }: Trying, message: MasterMessage): void {
  const { link } = step.state;
  const { attempt } = message;
  const previous = link.active;
  if (!follow(step, CONNECTION, link, "welcomed")) return;
  link.trying = undefined;
  link.active = { id, target };
  link.current = { attempt, address: target.address };
  link.candidate = undefined;
  endAbsence(step);
  if (previous !== undefined) emit(step, { type: "close", connection: previous.id });
  log(step, "info", "joined", `Connected to attempt ${attempt} at ${target.address}.`, { attempt });
  emit(step, { type: "joined", message });
}

function lose(step: Step, cause: string): void {
  const { link } = step.state;
  if (!follow(step, CONNECTION, link, "stream-ended")) return;
  link.active = undefined;
  // How often another attempt's address failed beside this connection says nothing about how long to wait now.
  link.failures = 0;
  const what = `Lost the connection to the ApplicationMaster (${cause})`;
  log(step, "warn", "link-lost", `${what}; the program goes on running.`);
  emit(step, { type: "left" });
  beginAbsence(step);
  scheduleConnect(step);
}

function tryFailed(step: Step, { target, isCandidates }: Trying, cause: string): void {
  const { link } = step.state;
  link.trying = undefined;
  link.failures += 1;
  log(step, "debug", "connect-failed", `${target.address} did not answer: ${cause}.`);
  if (isCandidates) candidateFailed(step);
  scheduleConnect(step);
}

function candidateFailed({ state: { link } }: Step): void {
  link.candidateFailures += 1;
  if (link.candidateFailures >= MOST_CANDIDATE_TRIES) link.candidate = undefined;
}

function refuseLower(step: Step, connection: Connection, attempt: number): void {
  const { current } = step.state.link;
  const what = `Refused attempt ${attempt}: attempt ${current.attempt} is obeyed.`;
  log(step, "warn", "refused-attempt", what, { attempt });
  giveUp(step, connection, "it is of an earlier attempt");
}

function refusedBy(step: Step, connection: Trying, reason: string): void {
  if (connection.isCandidates) giveUp(step, connection, reason);
  else emit(step, { type: "refused", reason });
}

function giveUp(step: Step, { id }: Connection, cause: string): void {
  emit(step, { type: "close", connection: id });
  ended(step, id, cause);
}

function scheduleConnect({ state: { link }, nowMs, random }: Step): void {
  const isIdle = link.trying === undefined && (link.active === undefined || link.candidate !== undefined);
  link.connectAtMs = isIdle ? nowMs + backOffMs(RECONNECT, Math.max(1, link.failures), random) : undefined;
}

/** Both addresses in turn, while either may be the right one. */
function isCandidatesTurn({ active, failures }: LinkState): boolean {
  return active !== undefined || failures % 2 === 0;
}

function tryCandidate(step: Step, candidate: MasterAddress): void {
  const { link } = step.state;
  const { attempt, address } = candidate;
  log(step, "info", "candidate", `Attempt ${attempt} is reported to be at ${address}.`, { attempt });
  link.candidate = candidate;
  link.candidateFailures = 0;
  link.failures = 0;
  if (link.trying !== undefined) emit(step, { type: "close", connection: link.trying.id });
  connect(step);
}
