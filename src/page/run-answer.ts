import type { RunRow, RunSeries } from "../advice/run.ts";
import type { Roundings } from "../job/amounts.ts";
import type { Prices } from "../job/cost.ts";
import type { JobStatus } from "../job/status.ts";
import { parseTaskId } from "../job/task.ts";

/** What a page needs to compute advice on a running job, as `tony-ts advise` does. */
export interface RunAnswer {
  /** With only the first tasks of each role. */
  readonly status: JobStatus;
  readonly series: RunSeries;
  readonly tasks: number;
  /** Absent for a job on this machine. */
  readonly roundings?: Roundings;
  readonly prices: Prices;
}

/** Per role: all their measurements are transferred. */
export const ADVISED_TASKS = 100;
/** The series that advice is based on. */
const ADVISED: readonly string[] = ["cpu", "gpu", "step"];
const DIGITS = 4;

export function runAnswer(
  status: JobStatus,
  seriesOf: (task: string) => { readonly spanMs: number; readonly series: RunRow["series"] },
  roundings: Roundings | undefined,
  { vcoreHourPrice, gibHourPrice, gpuHourPrice, currency }: Prices,
): object {
  const tasks = status.tasks.filter(({ task }) => (parseTaskId(task)?.index ?? 0) < ADVISED_TASKS);
  const rows = tasks.map(({ task }): RunRow => {
    const { series } = seriesOf(task);
    return { task, series: series.filter(({ name }) => ADVISED.includes(name)).map(shortened) };
  });
  return {
    status: { ...status, tasks },
    series: { axis: { spanMs: seriesOf("").spanMs }, rows },
    tasks: status.tasks.length,
    roundings,
    prices: { vcoreHourPrice, gibHourPrice, gpuHourPrice, currency },
  };
}

function shortened(series: RunRow["series"][number]): RunRow["series"][number] {
  const values = series.values.map((value) => (value === null ? value : Number(value.toPrecision(DIGITS))));
  return series.name === "step" ? series : { ...series, values };
}
