import type { Transfer } from "../../../src/job/status.ts";
import type { Event } from "../state/events.ts";
import { about, findTask, log, record, type Step } from "../state/step.ts";

/** An executor says how bringing something to where it stays goes. What fails is no failure of the job, but it is said. */
export function transferred(step: Step, { task: id, transfer }: Extract<Event, { type: "transfer" }>): void {
  const task = findTask(step, id);
  if (task === undefined) {
    return;
  }
  task.transfers = [...(task.transfers ?? []).filter(({ what }) => what !== transfer.what), transfer];
  step.changed = true;
  if (transfer.state === "under-way") {
    return;
  }
  step.state.journal.dirty = true;
  const { what, url, bytes, reason } = transfer;
  if (transfer.state === "failed") {
    log(
      step,
      "warn",
      "transfer-failed",
      `${id}'s ${named(transfer)} was not brought to ${url}: ${reason}`,
      about(task),
    );
  } else if (what === "output") {
    log(step, "info", "transfer-done", `${id}'s output is in ${url}.`, about(task));
  }
  const why = reason === "" ? {} : { why: reason };
  record(step, { type: "transfer", what, state: transfer.state, url, bytes, ...why }, task);
}

function named({ what, step }: Transfer): string {
  return what === "checkpoint" ? `checkpoint of step ${step}` : "output";
}

/** What an executor may take beyond its program's grace to bring up what is left, or to bring back a checkpoint. */
export function carryingMs({ spec }: Pick<Step, "spec">): number {
  return spec.carrier?.timeoutMs ?? 0;
}

/** Executors that have not said goodbye: they may still bring up what their tasks left. */
export function someoneCarries({ spec, state }: Step): boolean {
  return (
    spec.carrier !== undefined &&
    Object.values(state.containers).some(({ phase, link }) => phase === "held" && link === "up")
  );
}
