const DAYS = Math.floor(Date.now() / 86_400_000);

/** Suites that take turns run on one day in this many. */
export const TURNS = 3;

/** @param {number} turn from 0 @param {number} [days] since 1970 */
export const hasTurn = (turn, days = DAYS) => days % TURNS === turn;

/**
 * Each day's part of a list that is too long for every run: the given number of items, and the next ones on the
 * following day.
 * @template T
 * @param {readonly T[]} list
 * @param {number} count
 * @param {number} [days] since 1970
 * @returns {readonly T[]}
 */
export function inTurn(list, count, days = DAYS) {
  const first = (days * count) % list.length;
  return [...list.slice(first), ...list.slice(0, first)].slice(0, count);
}
