import { arrayOf, count, object, recordOf, type Shape, string } from "../shape.ts";
import { areRuns, hasNumber, type Runs } from "./runs.ts";

/** The used part of a feed, as a checkpoint stores it. Splits are counted by their place in the epoch's order. */
export interface Cursor {
  /** The plan and order that it refers to. */
  readonly plan: string;
  /** The first epoch that is not finished. Places are counted from its beginning; those of later epochs follow its own. */
  readonly epoch: number;
  /** Splits that are used up. */
  readonly used: Runs;
  /** How many records of a partly used split have been used. */
  readonly partly: Readonly<Record<string, number>>;
}

export const cursorShape: Shape<Cursor> = object({
  required: { plan: string, epoch: count, used: arrayOf(count), partly: recordOf(count) },
  optional: {},
});

/** A feed without end stops here: places are numbers that have to be exact. */
const MOST_EPOCH = 2 ** 24;

/** The same cursor with its places counted from another start. */
export function movedCursor({ used, partly, ...cursor }: Cursor, by: number): Cursor {
  const moved = Object.entries(partly).map(([place, records]) => [Number(place) + by, records]);
  return { ...cursor, used: used.map((bound) => bound + by), partly: Object.fromEntries(moved) };
}

/** Why a feed with that plan cannot continue from the cursor; undefined: it can. */
export function cursorProblem(
  { plan, epoch, used, partly }: Cursor,
  feed: { readonly plan: string; readonly epochs?: number },
  /** The place after the last one that may be used. */
  behind: number,
): string | undefined {
  if (plan !== feed.plan)
    return "it is from other input or another order: start without it, or give the job the same input and order";
  if (epoch > (feed.epochs ?? epoch)) return `it is of epoch ${epoch}, counted from 0, of ${feed.epochs}`;
  if (epoch > MOST_EPOCH) return `it is of epoch ${epoch}, which no feed comes to`;
  if (!areRuns(used, behind)) return "what it says is used is not a list of rising runs of the feed's splits";
  const isStray = (name: string) => !/^\d{1,10}$/.test(name) || Number(name) >= behind || hasNumber(used, Number(name));
  const stray = Object.keys(partly).find(isStray);
  return stray === undefined ? undefined : `${stray} is not a split that is partly used`;
}
