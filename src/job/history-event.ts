import { endingReasons } from "./reasons/endings.ts";
import { type Tagged, taggedShape } from "./reasons/facts.ts";
import { outcomeReasons } from "./reasons/outcomes.ts";
import { reasonShape } from "./reasons/reason.ts";
import { count, literal, object, type Shape, string } from "./shape.ts";
import { transferKinds, transferStates } from "./status.ts";

/** The facts of every event in a job's history, by its type; docs/reference/history.md says when each happens. */
export const historyEvents = {
  "job-started": { name: "text", tasks: "number" },
  "generation-opened": { checkpoint: "text?", step: "number?" },
  "cluster-spec-sent": {},
  "task-started": { host: "text" },
  "task-resumed": { suspendedMs: "number" },
  "task-ended": { exit: "text", result: literal("succeeded", "failed", "stopped", "lost") },
  "task-failed": { class: "class", reason: reasonShape(endingReasons) },
  checkpoint: { path: "text", step: "number" },
  transfer: {
    what: literal(...transferKinds),
    state: literal(...transferStates),
    url: "text",
    bytes: "number",
    why: "text?",
  },
  recovered: { containers: "number" },
  "session-opened": {
    session: "number",
    by: "text",
    kind: literal("command", "terminal", "connection"),
    command: "text?",
    port: "number?",
  },
  "session-ended": { session: "number", how: "text" },
  "job-ended": {
    result: literal("succeeded", "failed", "killed"),
    summary: "text",
    reason: reasonShape(outcomeReasons),
  },
} as const;

/** What happened. */
export type Happening = Tagged<"type", typeof historyEvents>;

/** When it happened, and to which task. */
export interface Occasion {
  readonly atMs: number;
  readonly generation: number;
  readonly task?: string;
  readonly containerId?: string;
}

/** One event of a job's history. */
export type HistoryEvent = Happening & Occasion;

const readHappening = taggedShape("type", historyEvents);
const readOccasion = object<Occasion>({
  required: { atMs: count, generation: count },
  optional: { task: string, containerId: string },
});

export const readHistoryEvent: Shape<HistoryEvent> = (value, where) => ({
  ...readHappening(value, where),
  ...readOccasion(value, where),
});
