import { cursorShape } from "../../../src/job/feeds/cursor.ts";
import { arrayOf, bool, count, literal, object, recordOf, type Shape, string } from "../../../src/job/shape.ts";
import type { DurableFeed, Origin } from "./records.ts";

const place: Shape<Origin> = (value, where) =>
  typeof value === "string" ? literal("start", "used")(value, where) : cursorShape(value, where);

/** A feed as the journal holds it. */
export const feedShape: Shape<DurableFeed> = object({
  required: {
    epoch: count,
    used: arrayOf(count),
    poisoned: arrayOf(count),
    failures: recordOf(string),
    partly: recordOf(count),
    leases: recordOf(object({ required: { number: count, task: string }, optional: {} })),
    lastLease: count,
    handedOut: count,
    attempts: recordOf(count),
    generation: count,
    origin: place,
    readers: recordOf(object({ required: { generation: count, lastUsed: count }, optional: { isDone: bool } })),
  },
  optional: {
    agreed: object({ required: { epoch: count, steps: count, last: bool }, optional: {} }),
    taken: object({ required: { label: string, cursor: cursorShape, lives: recordOf(count) }, optional: {} }),
  },
});
