import type { OutcomeReason } from "../../../src/job/reasons/outcomes.ts";
import { stateWords, transferName } from "../../../src/job/reasons/transfers.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import type { Transfer } from "../../../src/job/status.ts";
import { whenDurable } from "../journal/barrier.ts";
import type { Event } from "../state/events.ts";
import type { ContainerRecord } from "../state/records.ts";
import { about, log, noteDurable, record, type Step, tenantOf } from "../state/step.ts";

/**
 * The executor in the container that a task holds says how an upload goes, and again on each new stream. Whether the job fails by one that
 * failed is decided when it ends.
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
  // What an earlier run of it left stays its output.
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
 * What of a job that succeeds otherwise did not reach its place; undefined where all did, or need not. Only who ended in success has
 * results.
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

/** What an executor may take beyond its program's grace to bring up what is left, or to bring back a checkpoint. */
export function carryingMs({ spec }: Pick<Step, "spec">): number {
  return spec.carrier?.timeoutMs ?? 0;
}

/** Executors that have not said goodbye: they may still bring up what their tasks left. Or what they said is not in the journal yet. */
export function someoneCarries(step: Step): boolean {
  const { containers, held } = step.state;
  return (
    Object.values(containers).some((one) => mayCarry(step, one)) ||
    Object.values(held).some(({ what }) => what === "transfer")
  );
}

/** Also one that is not connected now, whose task has results: it is awaited to come back, for as long as such executors are. */
export function mayCarry(step: Step, container: ContainerRecord): boolean {
  const { link, phase } = container;
  if (step.spec.carrier === undefined || phase !== "held") {
    return false;
  }
  const isAwaited = link === "broken" || link === "rejoining";
  return link === "up" || (isAwaited && tenantOf(step, container)?.phase === "succeeded");
}
