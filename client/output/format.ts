/** Amounts and times as people read them. */

/** `0.9 s` under a minute, `38 s` when whole seconds suffice, then `1 min 12 s`, `3 h 5 min`, `2 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 60_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  return formatWholeSeconds(ms);
}

/** As `formatDuration`, without tenths: for what is redrawn. */
export function formatWholeSeconds(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes === 0) return `${seconds} s`;
  if (hours === 0) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `0 B`, `6 KiB`, `94.3 MiB`, `1.2 GiB` */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${trimmed(bytes / 1024, bytes < 10 * 1024 ? 1 : 0)} KiB`;
  if (bytes < 1024 ** 3) return `${trimmed(bytes / 1024 ** 2, 1)} MiB`;
  return `${trimmed(bytes / 1024 ** 3, 2)} GiB`;
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

/** Rows in columns of their widest cell, three spaces between; nothing follows the last cell of a row. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
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

function trimmed(value: number, decimals: number): string {
  return String(Number(value.toFixed(decimals)));
}
