const blocks = "▁▂▃▄▅▆▇█";
const mostCells = 32;

/**
 * Values as a row of small bars, `▁▂▅▇`, at most 32: neighbouring values share one. Missing values are blank.
 * @param top the value of a full bar, where an empty one is 0; undefined: bars range from the lowest value to the
 * highest
 */
export function sparkline(values: readonly (number | null)[], top?: number): string {
  const cells = Math.min(mostCells, values.length);
  const means = Array.from({ length: cells }, (_, cell) => {
    const [from, to] = [cell, cell + 1].map((edge) => Math.floor((edge * values.length) / cells));
    const heard = values.slice(from, to).filter((value) => value !== null);
    return heard.length === 0 ? undefined : heard.reduce((sum, value) => sum + value, 0) / heard.length;
  });
  const heard = means.filter((value) => value !== undefined);
  const least = top === undefined ? Math.min(...heard) : 0;
  const range = (top ?? Math.max(...heard)) - least;
  return means.map((value) => (value === undefined ? " " : blockOf(range > 0 ? (value - least) / range : 0))).join("");
}

function blockOf(share: number): string {
  return blocks[Math.min(blocks.length - 1, Math.max(0, Math.floor(share * blocks.length)))] ?? "";
}
