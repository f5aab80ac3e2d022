import { orderOf } from "../../../src/job/feeds/plan.ts";
import { countBefore } from "../../../src/job/sorted.ts";
import type { Feed, FeedState, Growth } from "./records.ts";
import type { FeedEvent, FeedStep } from "./step.ts";

/** The number of epochs from which tasks have splits at most, unless one of them is far behind. */
const ORDERS_KEPT = 3;

/** The order of an epoch, or of a batch, is made once, and again where a task is far behind. */
export function splitsInOrder(state: FeedState): FeedStep["splitAt"] {
  const orders = new Map<number, ArrayLike<number>>();
  return (place) => {
    const { splits, seed, growth } = state.feed;
    if (seed === undefined) return place % splits;
    const part = growth === undefined ? epochAt(place, splits) : batchAt(growth.batches, place);
    const order = orders.get(part.number) ?? orderOf(part.splits, seed, part.number);
    orders.delete(part.number);
    orders.set(part.number, order);
    const [oldest] = orders.keys();
    if (orders.size > ORDERS_KEPT && oldest !== undefined) orders.delete(oldest);
    return part.first + (order[place - part.from] ?? 0);
  };
}

/** Splits that share one order: they begin at place `from`; `first` is the first of them in the plan. */
interface Part {
  readonly number: number;
  readonly splits: number;
  readonly from: number;
  readonly first: number;
}

function epochAt(place: number, splits: number): Part {
  const number = Math.floor(place / splits);
  return { number, splits, from: number * splits, first: 0 };
}

/** A batch occupies the same numbers in the plan as places. */
function batchAt(batches: Growth["batches"], place: number): Part {
  const number = countBefore(batches, ({ behind }) => behind <= place);
  const from = batches[number - 1]?.behind ?? 0;
  return { number, splits: (batches[number]?.behind ?? from) - from, from, first: from };
}

/** The feed with more splits: the order of the existing ones does not change. */
export function grownFeed(
  feed: Feed,
  { splits, plan, isComplete }: Omit<Extract<FeedEvent, { type: "grown" }>, "type">,
): Feed {
  const { growth } = feed;
  if (growth === undefined) return feed;
  if (splits === feed.splits) return { ...feed, growth: { ...growth, isComplete } };
  return { ...feed, splits, plan, growth: { batches: [...growth.batches, { behind: splits, plan }], isComplete } };
}
