import { key } from "./key.ts";
import { duration, integer } from "./types.ts";

/** What happens when something fails; all ours. tony.am.retry-count is the budget of the program's own failures. */
export const failureKeys = {
  "tony.failure.infrastructure-retries": key({
    type: integer(),
    spec: ["failure.budgets", "infrastructure"],
    default: "10",
    doc: "How often the tasks are restarted after a failure that is not the program's: a lost node, a full disk. Preemption is not counted.",
    support: "works",
    ours: true,
  }),
  "tony.failure.infrastructure-window": key({
    type: duration("s", { minMs: 1000 }),
    spec: ["timeouts", "infrastructureWindowMs"],
    default: "1h",
    doc: "How long a restart counts against tony.failure.infrastructure-retries: a job that runs for weeks loses a node now and then.",
    support: "works",
    ours: true,
  }),
  "tony.failure.verdict-ms": key({
    type: duration("ms"),
    doc: "How long the job waits for the exits of the other tasks before it decides which failure was the cause. Default: the time by which all must have stopped (tony.task.stop-grace plus the time to notice a silent executor), at least 15 s.",
    support: "works",
    ours: true,
  }),
  "tony.failure.back-off": key({
    type: duration("ms"),
    spec: ["failure.backOff", "initialMs"],
    default: "1s",
    doc: "The wait before the second restart. The first restart is immediate, each further wait is twice as long.",
    support: "works",
    ours: true,
  }),
  "tony.failure.max-back-off": key({
    type: duration("ms"),
    spec: ["failure.backOff", "maxMs"],
    default: "60s",
    doc: "The longest wait between restarts.",
    support: "works",
    ours: true,
  }),
  "tony.failure.blame.container": key({
    type: integer({ min: 1 }),
    spec: ["failure.blame", "container"],
    default: "1",
    doc: "The number of failures possibly caused by the machine after which a container is replaced.",
    support: "works",
    ours: true,
  }),
  "tony.failure.blame.node": key({
    type: integer({ min: 1 }),
    spec: ["failure.blame", "node"],
    default: "2",
    doc: "The number of such failures on one node after which the job avoids that node.",
    support: "works",
    ours: true,
  }),
  "tony.failure.blame.job": key({
    type: integer({ min: 1 }),
    spec: ["failure.blame", "job"],
    default: "3",
    doc: "The number of such failures of one task, on any node, after which the job fails.",
    support: "works",
    ours: true,
  }),
} as const;
