import { durationWords } from "../../src/job/reasons/words.ts";
import { visibleLine } from "./visible.ts";

/** `0.9 s` under a minute, then as `durationWords`. */
export function formatDuration(ms: number): string {
  if (ms < 60_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  return durationWords(ms);
}

/** Local time of day, `14:02:11`. */
export function formatClock(atMs: number): string {
  const time = new Date(atMs);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** Local date and time, `2026-11-21 14:02`. */
export function formatDate(atMs: number): string {
  const time = new Date(atMs);
  const day = [time.getFullYear(), time.getMonth() + 1, time.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${day.join("-")} ${formatClock(atMs).slice(0, 5)}`;
}

/** Local date and time to a millisecond, `2026-11-21 14:02:11.389`. */
export function formatMoment(atMs: number): string {
  const milliseconds = String(new Date(atMs).getMilliseconds()).padStart(3, "0");
  return `${formatDate(atMs).slice(0, 10)} ${formatClock(atMs)}.${milliseconds}`;
}

/** Rows as columns of their widest cell, three spaces apart; the last cell of a row is not padded. */
export function formatTable(table: readonly (readonly string[])[]): string[] {
  const rows = table.map((row) => row.map(visibleLine));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("   ")
      .trimEnd(),
  );
}
