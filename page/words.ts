/** `0.9 s`, `3 min 12 s`, `2 h 14 min` */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/**
 * The time before the ApplicationMaster's start, which other times do not include: `after 1 min 35 s in the queue`; empty where it is
 * short, or unknown.
 */
export function queued(submittedAtMs: number | undefined, startedAtMs: number): string {
  const ms = startedAtMs - (submittedAtMs ?? startedAtMs);
  return ms < QUEUED_MS ? "" : `after ${span(ms)} in the queue`;
}

/** Any ApplicationMaster starts within this time. */
const QUEUED_MS = 10_000;

/** `94.3 MiB` */
export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${amount(bytes / 1024 ** power)} ${units[power]}`;
}

/** Three digits: `0.402`, `97.1`, `18204` */
export function amount(value: number): string {
  return String(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
}

/** Local date and time, `11-21 14:02:11` */
export function moment(atMs: number): string {
  const time = new Date(atMs);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(":")}`;
}

/** What a program has to do to get charts of its own values; empty where it reports some. */
export function silence(series: readonly { readonly name: string }[]): string {
  const reports = series.some(({ name }) => name === "step" || name.startsWith("metric:"));
  return reports ? "" : "no step and no metric yet: programs report them in TONY_PROGRESS_FILE";
}

/** Text without a terminal's colours; characters that a browser would act on, or that change the direction of text, are shown as signs. */
export function plain(text: string): string {
  return text.replaceAll(COLOURS, "").replaceAll(CONTROLS, "\uFFFD");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
const COLOURS = /\u001B\[[0-9;]*m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;
