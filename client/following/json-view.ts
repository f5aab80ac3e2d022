import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { queueName } from "../applications/job-filter.ts";
import { printEvent } from "../logs/print-event.ts";
import type { Output } from "../output/output.ts";
import type { FollowEvent } from "../printed-json.ts";
import { EventView } from "./event-view.ts";

/** Prints a followed job as JSON, one event per line. */
export function jsonView(output: Output): EventView {
  return new EventView({
    event: (event) => printEvent(output, event),
    problem: (text) => output.problem(text),
  });
}

/** The first event of a job that was submitted before. */
export function jobEvent({ id, name, queue }: ApplicationReport): FollowEvent {
  return { event: "job", applicationId: id, name, queue: queueName(queue), submitted: false };
}
