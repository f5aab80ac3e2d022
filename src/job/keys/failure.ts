import { key } from "./key.ts";
import { duration, integer } from "./types.ts";

/** What happens when something fails; all ours. tony.am.retry-count is the budget of the program's own failures. */
export const failureKeys = {
  "tony.failure.infrastructure-retries": key({
    type: integer(),
    default: "10",
    doc: "How often the tasks are started again after a failure that is not the program's: node lost, preempted, disk.",
    support: "works",
    ours: true,
  }),
  "tony.failure.verdict-ms": key({
    type: duration("ms"),
    default: "15s",
    doc: "How long the cause of a failure stays open while exits of other tasks are still to come.",
    support: "works",
    ours: true,
  }),
  "tony.failure.back-off": key({
    type: duration("ms"),
    default: "1s",
    doc: "Wait before the second restart; the first is immediate, each further wait twice as long.",
    support: "works",
    ours: true,
  }),
  "tony.failure.max-back-off": key({
    type: duration("ms"),
    default: "60s",
    doc: "The longest wait between restarts.",
    support: "works",
    ours: true,
  }),
  "tony.failure.blame.container": key({
    type: integer({ min: 1 }),
    default: "1",
    doc: "Failures of the machine's kind in one container until the container is replaced.",
    support: "works",
    ours: true,
  }),
  "tony.failure.blame.node": key({
    type: integer({ min: 1 }),
    default: "2",
    doc: "Such failures on one node until the job keeps off it.",
    support: "works",
    ours: true,
  }),
  "tony.failure.blame.job": key({
    type: integer({ min: 1 }),
    default: "3",
    doc: "Such failures of one task, wherever it runs, until the job fails.",
    support: "works",
    ours: true,
  }),
} as const;
