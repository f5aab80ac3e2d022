import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { gpusOf } from "../../src/job/gpus.ts";
import { countWords, durationWords, memoryWords } from "../../src/job/reasons/words.ts";
import { formatDate, formatTable } from "../output/format.ts";
import { durationMs, finalState, hasEnded } from "./applications.ts";
import { queueName } from "./job-filter.ts";

/** The line of a cause is cut to this length. */
const longestCause = 80;
const none = "–";

/** What the table of jobs depends on. */
export interface TableSite {
  readonly nowMs: number;
  /** `tony.gpu-resource-types` */
  readonly gpuTypes: readonly string[];
}

/** Jobs as rows: what each one holds, or why it ended. The columns for GPUs and causes exist only where a job has one. */
export function jobTable(reports: readonly ApplicationReport[], site: TableSite): string[] {
  const rows = reports.map((report) => rowOf(report, site));
  const hasGpus = rows.some(({ gpus }) => gpus !== none);
  const hasCauses = rows.some(({ cause }) => cause !== "");
  const columns = (row: JobRow) => [...row.always, ...(hasGpus ? [row.gpus] : []), ...(hasCauses ? [row.cause] : [])];
  return formatTable([head, ...rows].map(columns));
}

interface JobRow {
  readonly always: readonly string[];
  readonly gpus: string;
  readonly cause: string;
}

const head: JobRow = {
  always: ["application", "state", "name", "user", "queue", "start", "time", "memory", "cores"],
  gpus: "GPUs",
  cause: "cause",
};

function rowOf(report: ApplicationReport, { nowMs, gpuTypes }: TableSite): JobRow {
  const { usage } = report;
  const used = usage === undefined || usage.usedContainers <= 0 ? undefined : usage.used;
  const gpus = gpusOf(used?.others ?? {}, gpuTypes);
  return {
    always: [
      report.id,
      finalState(report),
      report.name,
      report.user,
      queueName(report.queue),
      formatDate(report.startTimeMs),
      durationWords(durationMs(report, nowMs)),
      used === undefined ? none : memoryWords(used.memoryMiB),
      used === undefined ? none : String(used.vcores),
    ],
    gpus: gpus === 0 ? none : String(gpus),
    cause: causeOf(report),
  };
}

/** Why a job that did not succeed ended, in one line. */
export function causeOf(report: ApplicationReport): string {
  if (!hasEnded(report) || finalState(report) === "SUCCEEDED") return "";
  const said = report.diagnostics.split("\n").find((one) => one.trim() !== "") ?? "";
  // The ResourceManager's words begin with the id, which the row has already.
  const line = said.trim().replace(/^Application application_\d+_\d+ /, "");
  return line.length <= longestCause ? line : `${line.slice(0, longestCause - 1).trimEnd()}…`;
}

/** How many jobs a list leaves out. */
export function moreWords(shown: number, more: number): string[] {
  if (more === 0) return [];
  return [`${countWords(more, "older job")} not shown: --limit ${shown + more} shows all`];
}
