import type { OutcomeReason } from "../../../src/job/reasons/outcomes.ts";
import { stateWords, transferName } from "../../../src/job/reasons/transfers.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import type { Transfer } from "../../../src/job/status.ts";
import { whenDurable } from "../journal/barrier.ts";
import type { Event } from "../state/events.ts";
import type { ContainerRecord } from "../state/records.ts";
import { about, log, noteDurable, record, type Step, tenantOf } from "../state/step.ts";

/**
 * The executor in the container that a task holds reports the state of an upload, and repeats it on each new stream. Whether a failed
 * upload fails the job is decided when the job ends.
 */
export function transferred(step: Step, event: Extract<Event, { type: "transfer" }>): void {
  const { task: id, containerId, transfer } = event;
  const container = step.state.containers[containerId];
  const task = container && tenantOf(step, container);
  if (task?.id !== id) {
    return;
  }
  if (task.transfers?.some((known) => isSame(known, transfer))) {
    return;
  }
  // What an earlier run of it left remains its output.
  if (transfer.state === "empty" && task.transfers?.some(({ what }) => what === transfer.what)) {
    return;
  }
  task.transfers = [...(task.transfers ?? []).filter(({ what }) => what !== transfer.what), transfer];
  step.changed = true;
  if (step.state.outcome?.result === "succeeded" && step.spec.carrier?.outputRequired === true) {
    whenDurable(step, { what: "transfer", task: id });
  }
  if (transfer.state === "under-way") {
    return;
  }
  noteDurable(step);
  const { what, url, bytes, reason } = transfer;
  if (transfer.state === "empty") {
    log(step, "info", "transfer-empty", `${id}: ${reason}.`, about(task));
  } else if (transfer.state !== "done") {
    log(step, "warn", "transfer-failed", `${id}'s ${transferName(transfer)} ${stateWords(transfer)}`, about(task));
  } else if (what === "restored") {
    log(step, "warn", "checkpoint-passed", `${id} ${reason}.`, about(task));
  } else if (what === "output") {
    log(step, "info", "transfer-done", `${id}'s output is in ${url}.`, about(task));
  }
  const why = reason === "" ? {} : { why: reason };
  record(step, { type: "transfer", what, state: transfer.state, url, bytes, ...why }, task);
}

function isSame(known: Transfer, said: Transfer): boolean {
  return known.what === said.what && known.state === said.state && known.url === said.url && known.atMs === said.atMs;
}

/**
 * An upload that did not reach its place, of a job that otherwise succeeds; undefined where all did, or need not. Only tasks that ended in
 * success have results.
 */
export function notStored({ spec, state }: Pick<Step, "spec" | "state">): OutcomeReason | undefined {
  if (spec.carrier === undefined || !spec.carrier.outputRequired) {
    return undefined;
  }
  const missing = state.tasks.flatMap(({ id, phase, transfers = [] }) =>
    transfers
      .filter(
        ({ what, state }) => state !== "done" && state !== "empty" && (what !== "output" || phase === "succeeded"),
      )
      .map((transfer) => ({ task: id, transfer })),
  );
  const [first] = missing;
  if (first === undefined) {
    return undefined;
  }
  const { task, transfer } = first;
  const why = transfer.state === "under-way" ? "its upload did not end" : transfer.reason;
  const setting = settingOf(spec, "tony.output.required");
  const others = missing.length - 1;
  return { code: "not-stored", task, what: transferName(transfer), url: transfer.url, why, others, setting };
}

/** How long an executor may take beyond its program's grace to upload what is left, or to bring back a checkpoint. */
export function carryingMs({ spec }: Pick<Step, "spec">): number {
  return spec.carrier?.timeoutMs ?? 0;
}

/** Whether executors that have not said goodbye may still upload what their tasks left, or a reported upload is not in the journal yet. */
export function someoneCarries(step: Step): boolean {
  const { containers, held } = step.state;
  return (
    Object.values(containers).some((one) => mayCarry(step, one)) ||
    Object.values(held).some(({ what }) => what === "transfer")
  );
}

/**
 * Also true of an executor that is not connected now and whose task has results: the job waits for it to come back, as long as it waits
 * for any such executor.
 */
export function mayCarry(step: Step, container: ContainerRecord): boolean {
  const { link, phase } = container;
  if (step.spec.carrier === undefined || phase !== "held") {
    return false;
  }
  const isAwaited = link === "broken" || link === "rejoining";
  return link === "up" || (isAwaited && tenantOf(step, container)?.phase === "succeeded");
}
