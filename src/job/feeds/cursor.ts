import { arrayOf, count, object, recordOf, type Shape, string } from "../shape.ts";
import { areRuns, hasNumber, type Runs } from "./runs.ts";

/** What of a feed has been used, as a checkpoint keeps it. Splits go by their place in the order of the epoch. */
export interface Cursor {
  /** Which plan and order it is of. */
  readonly plan: string;
  /** The first one that is not over. Places are counted from its beginning on, those of later epochs behind its own. */
  readonly epoch: number;
  /** Splits of which all has been used. */
  readonly used: Runs;
  /** How many records of a split have been used, where it is not all of them. */
  readonly partly: Readonly<Record<string, number>>;
}

export const cursorShape: Shape<Cursor> = object({
  required: { plan: string, epoch: count, used: arrayOf(count), partly: recordOf(count) },
  optional: {},
});

/** A feed without end is read no further: places are numbers that are to be exact. */
const MOST_EPOCH = 2 ** 24;

/** The same, with its places counted from elsewhere. */
export function movedCursor({ used, partly, ...cursor }: Cursor, by: number): Cursor {
  const moved = Object.entries(partly).map(([place, records]) => [Number(place) + by, records]);
  return { ...cursor, used: used.map((bound) => bound + by), partly: Object.fromEntries(moved) };
}

/** Why a feed of that plan cannot go on from the cursor; undefined: it can. */
export function cursorProblem(
  { plan, epoch, used, partly }: Cursor,
  feed: { readonly plan: string; readonly epochs?: number },
  /** The place behind the last one that may be used. */
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
