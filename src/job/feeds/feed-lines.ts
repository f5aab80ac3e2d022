import { countWords, durationWords } from "../reasons/words.ts";
import type { FeedReaderStatus, FeedStatus, JobStatus } from "../status.ts";

/** How many of a feed's readers are shown, the slowest first, and how many of the splits that were left out. */
const SHOWN_READERS = 5;
const SHOWN_FAILURES = 5;

/** A reader with less than this fraction of the others' rate is pointed out. */
const SLOW = 0.7;

/** `53% of epoch 2 of 5 (1204 of 2280 splits) · 1.4M rows/s · worker:3 is at 61% of the others' rate`, then its readers and what is left out. */
export function feedLines({ feeds = [], nowMs }: Pick<JobStatus, "feeds" | "nowMs">): string[] {
  return feeds.flatMap((feed) => {
    const again = feed.triedAgain === 0 ? [] : [`${countWords(feed.triedAgain, "split")} tried again`];
    const reading = isOver(feed) ? [] : feed.readers;
    return [
      [
        `feed ${feed.name}: ${placeWords(feed)}`,
        ...usedUpWords(feed, nowMs),
        ...paceWords(reading),
        ...again,
        ...leftOutWords(feed),
      ].join(" · "),
      ...[...readerLines(reading, nowMs), ...failureLines(feed)].map((line) => `  ${line}`),
    ];
  });
}

/** For an ended job, what it has not read of its feeds: `feed train: 1 of 40 splits was left out, no _SUCCESS in hdfs:///out`. */
export function unreadWords({ feeds = [] }: Pick<JobStatus, "feeds">): string[] {
  return feeds.flatMap((feed) => {
    const missing = [...leftOutWords(feed), ...unusedWords(feed)];
    if (missing.length === 0) return [];
    const results = feed.output === undefined ? [] : [`no _SUCCESS in ${feed.output}`];
    return [`feed ${feed.name}: ${[...missing, ...results].join(", ")}`];
  });
}

/** The same, with the splits that were left out and why. */
export function unreadLines({ feeds = [] }: Pick<JobStatus, "feeds">): string[] {
  return feeds.flatMap((feed) => [...unreadWords({ feeds: [feed] }), ...failureLines(feed).map((line) => `  ${line}`)]);
}

function isOver({ epoch, epochs }: FeedStatus): boolean {
  return epoch === epochs;
}

function placeWords(feed: FeedStatus): string {
  const { epochs, splits, used, readers } = feed;
  if (isOver(feed)) return `read to its end${epochs === 1 ? "" : `, ${epochs} times`} (${countWords(splits, "split")})`;
  if (splits === 0) return "no file yet";
  if (readers.length === 0 && used === 0) return `nobody has read any of its ${countWords(splits, "split")}`;
  return `${Math.floor((100 * used) / splits)}%${epochWords(feed)} (${used} of ${countWords(splits, "split")})`;
}

/** For a growing input: the age of the oldest unused data. */
function usedUpWords(feed: FeedStatus, nowMs: number): string[] {
  const { watermarkMs } = feed;
  if (watermarkMs === undefined || isOver(feed)) return [];
  return [`all written up to ${durationWords(Math.max(0, nowMs - watermarkMs))} ago is used`];
}

/** Empty where there is only one epoch. */
function epochWords({ epoch, epochs }: FeedStatus): string {
  if (epochs === 1) return "";
  return ` of epoch ${epoch + 1}${epochs === undefined ? "" : ` of ${epochs}`}`;
}

function leftOutWords({ leftOut, splits }: FeedStatus): string[] {
  return leftOut === 0 ? [] : [`${leftOut} of ${countWords(splits, "split")} ${wereWords(leftOut)} left out`];
}

/** For a feed without end: what its programs left unused. */
function unusedWords(feed: FeedStatus): string[] {
  const { epochs, splits, used, leftOut } = feed;
  const unused = splits - used - leftOut;
  if (epochs === undefined || isOver(feed) || unused <= 0) return [];
  return [`${unused} of ${countWords(splits, "split")}${epochWords(feed)} ${wereWords(unused)} not read`];
}

function wereWords(count: number): string {
  return count === 1 ? "was" : "were";
}

/** Rows per second up to the last used split; undefined: it counts none, or has used none. */
function rateOf({ rows, sinceMs, usedAtMs }: FeedReaderStatus): number | undefined {
  return rows === 0 || usedAtMs <= sinceMs ? undefined : (rows * 1_000) / (usedAtMs - sinceMs);
}

/** The rate of those that still read, and which of them are slow compared with the others. */
function paceWords(readers: readonly FeedReaderStatus[]): string[] {
  const rates = readers.flatMap((reader) => {
    const rate = reader.isDone ? undefined : rateOf(reader);
    return rate === undefined ? [] : [{ task: reader.task, rate }];
  });
  if (rates.length === 0) return [];
  const [slowest, ...others] = [...rates].sort((left, right) => left.rate - right.rate);
  const typical = others[others.length >> 1]?.rate;
  const all = `${amountWords(rates.reduce((sum, { rate }) => sum + rate, 0))} rows/s`;
  if (slowest === undefined || typical === undefined || slowest.rate >= SLOW * typical) return [all];
  return [all, `${slowest.task} is at ${Math.round((100 * slowest.rate) / typical)}% of the others' rate`];
}

function readerLines(readers: readonly FeedReaderStatus[], nowMs: number): string[] {
  const slowestFirst = [...readers].sort((left, right) => (rateOf(left) ?? 0) - (rateOf(right) ?? 0));
  const more = readers.length - SHOWN_READERS;
  const shown = slowestFirst.slice(0, SHOWN_READERS).map((reader) => `${reader.task}: ${readerWords(reader, nowMs)}`);
  return more > 0 ? [...shown, `and ${countWords(more, "more task")}`] : shown;
}

function readerWords(reader: FeedReaderStatus, nowMs: number): string {
  const { splits, rows, usedAtMs, isDone } = reader;
  const rate = rateOf(reader);
  const last = splits === 0 ? "none is used yet" : `the last one ${durationWords(nowMs - usedAtMs)} ago`;
  const counts = `${countWords(splits, "split")}${rows === 0 ? "" : `, ${countWords(rows, "row")}`}`;
  return [counts, ...(rate === undefined ? [] : [`${amountWords(rate)} rows/s`]), isDone ? "ended" : last].join(" · ");
}

function failureLines({ leftOut, failures }: FeedStatus): string[] {
  const shown = failures.slice(0, SHOWN_FAILURES);
  const more = leftOut - shown.length;
  return [
    ...shown.map(
      ({ split, path, start, end, reason }) => `split ${split} (${path}, bytes ${start} to ${end}): ${reason}`,
    ),
    ...(more > 0 && shown.length > 0 ? [`and ${countWords(more, "more split")}`] : []),
  ];
}

/** `87`, `1.4k`, `2.6M` */
function amountWords(value: number): string {
  if (value < 1_000) return String(Math.round(value));
  const [unit, size] = value < 1_000_000 ? ["k", 1_000] : ["M", 1_000_000];
  return `${Number((value / size).toPrecision(3))}${unit}`;
}
