import { arrayOf, count, literal, object, type Shape, string } from "../../../src/job/shape.ts";
import type { Entry, Life } from "../../../src/job/store/transaction.ts";
import type { Change } from "../../../src/job/store/watched.ts";
import type { Epoch } from "./records.ts";

/**
 * One file of the store's journal: all that the store holds, or what has changed since the file before. A file whose write seemed to have
 * failed may exist, too: the next one begins where that one did.
 */
export type StoreFile =
  | {
      readonly type: "whole";
      readonly revision: number;
      readonly entries: readonly Entry[];
      readonly epochs: readonly Epoch[];
    }
  | { readonly type: "changes"; readonly changes: readonly Change[] };

const life: Shape<Life> = object({ required: { task: string, generation: count }, optional: {} });
const entry: Shape<Entry> = object({
  required: { key: string, value: string, created: count, modified: count, version: count },
  optional: { owner: life },
});
const put: Shape<Extract<Change, { type: "put" }>> = object({
  required: { type: literal("put"), revision: count, key: string, entry },
  optional: {},
});
const removal: Shape<Extract<Change, { type: "delete" }>> = object({
  required: { type: literal("delete"), revision: count, key: string },
  optional: {},
});
const change: Shape<Change> = (value, where) => (isOf("put", value) ? put : removal)(value, where);
const epoch: Shape<Epoch> = object({ required: { attempt: count, lastRevision: count }, optional: {} });
const whole: Shape<Extract<StoreFile, { type: "whole" }>> = object({
  required: { type: literal("whole"), revision: count, entries: arrayOf(entry), epochs: arrayOf(epoch) },
  optional: {},
});
const changes: Shape<Extract<StoreFile, { type: "changes" }>> = object({
  required: { type: literal("changes"), changes: arrayOf(change) },
  optional: {},
});

/** Throws a ShapeError where it is none. */
export function readStoreFile(value: unknown): StoreFile {
  return (isOf("whole", value) ? whole : changes)(value, "");
}

function isOf(type: string, value: unknown): boolean {
  return typeof value === "object" && value !== null && Reflect.get(value, "type") === type;
}
