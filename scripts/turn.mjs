const DAYS = Math.floor(Date.now() / 86_400_000);

/** Suites that take turns have theirs on one day of so many. */
export const TURNS = 3;

/** @param {number} turn from 0 @param {number} [days] since 1970 */
export const hasTurn = (turn, days = DAYS) => days % TURNS === turn;

/**
 * Of what is too much for every run, each day's part: so many of the list, the next ones the day after.
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
