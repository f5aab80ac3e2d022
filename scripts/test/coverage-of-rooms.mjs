/**
 * The percentage of a room's lines and branches that ran, with one decimal.
 * @typedef {{ lines: number, branches: number }} Coverage
 */

/** The programs, each of whose coverage is measured. */
export const ROOMS = ["am", "client", "executor", "src"];
const KINDS = /** @type {const} */ (["lines", "branches"]);

/** Tests with random input do not cover the same branches each time. */
const CHANCE = 0.3;

/**
 * @param {Record<string, Record<"lines" | "branches", { total: number, covered: number }>>} files by their path from the checkout's root
 * @returns {Record<string, Coverage>} for the rooms that have such files
 */
export function coverageOfRooms(files) {
  return Object.fromEntries(
    ROOMS.flatMap((room) => {
      const inside = Object.entries(files).filter(([file]) => file.startsWith(`${room}/`));
      if (inside.length === 0) return [];
      /** @param {keyof Coverage} kind @param {"total" | "covered"} count */
      const sum = (kind, count) => inside.reduce((total, [, counts]) => total + counts[kind][count], 0);
      /** @param {keyof Coverage} kind */
      const percent = (kind) => Math.floor((1000 * sum(kind, "covered")) / sum(kind, "total")) / 10;
      return [[room, { lines: percent("lines"), branches: percent("branches") }]];
    }),
  );
}

/**
 * @param {Record<string, Coverage>} measured
 * @param {Record<string, Coverage>} expected
 * @returns {{ lines: string[], fell: boolean }} the lines to print, and whether less is covered than expected
 */
export function compareCoverage(measured, expected) {
  const compared = Object.entries(measured).flatMap(([room, now]) =>
    KINDS.map((kind) => ({ room, kind, now: now[kind], before: expected[room]?.[kind] ?? 0 })),
  );
  const fallen = compared.filter(({ now, before }) => now < before - CHANCE);
  const risen = compared.filter(({ now, before }) => now > before + CHANCE);
  /** @param {{ room: string, kind: string, now: number, before: number }} change */
  const words = ({ room, kind, now, before }) =>
    `${room}: ${now.toFixed(1)} % of ${kind} are covered, ${before.toFixed(1)} % were`;
  return {
    lines: [
      ...Object.entries(measured).map(([room, { lines, branches }]) => {
        return `${room.padEnd(10)} lines ${lines.toFixed(1).padStart(5)} %   branches ${branches.toFixed(1).padStart(5)} %`;
      }),
      ...fallen.map(
        (change) =>
          `✗ ${words(change)}: test what came, or say why in the commit that runs npm run coverage -- --write`,
      ),
      ...risen.map((change) => `↑ ${words(change)}: npm run coverage -- --write keeps it`),
    ],
    fell: fallen.length > 0,
  };
}
