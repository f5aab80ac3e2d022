import { randomNumbers } from "../search/random-numbers.ts";

/**
 * The order in which an epoch hands out its splits: a function of how many there are, the seed and the epoch, and of nothing else. By Fisher
 * and Yates; without a seed it is that of the plan.
 */
export function orderOf(splits: number, seed: number | undefined, epoch: number): Uint32Array {
  const order = Uint32Array.from({ length: splits }, (_, index) => index);
  if (seed === undefined) return order;
  const random = randomNumbers(seed, "epoch", epoch);
  for (let last = splits - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
  }
  return order;
}
