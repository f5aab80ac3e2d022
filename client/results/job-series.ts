import { usageError } from "../../src/errors.ts";
import { contentUpTo } from "../../src/hadoop/hdfs/content.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { MOST_HISTORY_BYTES } from "../../src/history/json-lines.ts";
import { decodeSeries, type JobSeries, type SeriesAxis, seriesFile } from "../../src/history/series/file.ts";
import { isOfOneGpu, ratesOf, type TaskSeries } from "../../src/history/series/table.ts";
import { sizeWords } from "../../src/job/reasons/words.ts";
import { taskSpans } from "../../src/job/task.ts";
import { type Applications, hasEnded } from "../applications/applications.ts";
import type { ClientContext } from "../context.ts";
import { formatTable } from "../output/format.ts";
import { sparkline } from "../output/sparkline.ts";
import { historyOf } from "./job-history.ts";
import { nothingLeft } from "./nothing-left.ts";

/**
 * What a job's tasks used and reported over time, from its history.
 * @param wanted a task or a role; undefined: all of them
 * @throws UserError where the job has not ended, or has left none
 */
export async function seriesOf(
  application: string,
  wanted: string | undefined,
  conf: readonly string[],
  applications: Applications,
  context: ClientContext,
): Promise<JobSeries> {
  const report = await applications.report(application);
  const { axis, rows } = await storedSeries(report, conf, applications, context);
  const chosen = rows.filter(({ task }) => wanted === undefined || task === wanted || task.startsWith(`${wanted}:`));
  if (chosen.length > 0) return { axis, rows: chosen };
  if (wanted !== undefined && rows.length > 0)
    throw usageError(
      `Nothing is known about ${wanted} over time, only about ${taskSpans(rows.map(({ task }) => task))}`,
    );
  throw nothingLeft(`No task of ${application} ran long enough to be measured`);
}

/** The same for all tasks. @throws UserError (`NOTHING_LEFT`, `NO_HISTORY`) where the job has not ended, or has left none */
export async function storedSeries(
  report: ApplicationReport,
  conf: readonly string[],
  applications: Applications,
  context: ClientContext,
): Promise<JobSeries> {
  const { id } = report;
  if (!hasEnded(report)) throw nothingLeft(`${id} has not ended: what its tasks use over time is stored at its end`);
  const { files } = await historyOf({ applicationId: id, endedAtMs: report.finishTimeMs }, conf, applications, context);
  const file = files.find(({ path }) => path === seriesFile);
  if (file === undefined) throw nothingLeft(`${id} left no ${seriesFile} in its history`);
  const content = await contentUpTo(file.fileSystem, file.source, MOST_HISTORY_BYTES);
  if (content === undefined) throw nothingLeft(`${id} left a ${seriesFile} that is longer than any of ours`);
  return decodeSeries(content);
}

const shownFirst: readonly string[] = ["cpu", "memory", "gpu", "gpu-memory", "disk-read", "disk-written", "step"];

/** The series in lines for people: one for each quantity of each task. */
export function seriesLines({ axis, rows }: JobSeries): string[] {
  return formatTable(
    rows.flatMap(({ task, memoryLimitBytes, series }) =>
      inOrder(series).map((one, index) => [index === 0 ? task : "", ...seriesCells(one, axis, memoryLimitBytes)]),
    ),
  );
}

/** First the quantities that are measured of every task; then what programs report, in the order in which they began to. */
function inOrder(series: readonly TaskSeries[]): TaskSeries[] {
  const place = ({ name }: TaskSeries) => {
    const known = shownFirst.indexOf(ofAllGpus(name));
    return known < 0 ? shownFirst.length : known;
  };
  return [...series].sort((a, b) => place(a) - place(b));
}

function seriesCells(series: TaskSeries, axis: SeriesAxis, memoryLimitBytes: number): string[] {
  const values = heardOf(series.values);
  const [mean, most, first, last] = [meanOf(values), mostOf(values), values[0] ?? 0, values.at(-1) ?? 0];
  switch (ofAllGpus(series.name)) {
    case "cpu":
      return ["cpu", sparkline(series.values, most), `${short(mean)} cores on average, ${short(most)} at most`];
    case "memory":
      return [
        "memory",
        sparkline(series.values, memoryLimitBytes),
        `${sizeWords(most)} of ${sizeWords(memoryLimitBytes)} at most`,
      ];
    case "gpu":
    case "gpu-memory":
      return [series.name, sparkline(series.values, 100), `${short(mean)} % on average, ${short(most)} % at most`];
    case "disk-read":
    case "disk-written":
      return [
        series.name,
        sparkline(series.values, most),
        `${sizeWords(Math.round(mean))}/s on average, ${sizeWords(most)}/s at most`,
      ];
    case "step": {
      const rates = ratesOf(series.values, axis.spanMs);
      const heard = heardOf(rates);
      const average = heard.length === 0 ? "" : `${short(meanOf(heard))} on average, `;
      return ["step/s", sparkline(rates, mostOf(heard)), `${average}to step ${last}`];
    }
    default:
      return [series.name.replace(/^metric:/, ""), sparkline(series.values), `${short(first)} → ${short(last)}`];
  }
}

function ofAllGpus(name: string): string {
  return isOfOneGpu(name) ? name.replace(/:\d+$/, "") : name;
}

function heardOf(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function mostOf(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
