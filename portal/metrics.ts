import type { JobIndex, JobRow } from "./job-index.ts";

/** Prometheus' text format, whose readers want to be told which it is. */
export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

const MIB = 1024 ** 2;

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What the history says, by queue and user; nothing by job, of which there are too many. */
export function metricsOf({ rows, scan }: Pick<JobIndex, "rows" | "scan">): string {
  const ended = rows.filter(({ state }) => state !== "running");
  const byOwner = ({ queue, user }: JobRow) => ({ queue, user });
  return [
    metric(
      "tony_jobs_running",
      "gauge",
      "Jobs whose history has no end.",
      sums(
        rows.filter(({ state }) => state === "running"),
        byOwner,
        () => 1,
      ),
    ),
    metric(
      "tony_jobs_finished_total",
      "counter",
      "Jobs that have ended.",
      sums(
        ended,
        (row) => ({ ...byOwner(row), result: row.state }),
        () => 1,
      ),
    ),
    metric(
      "tony_job_seconds_total",
      "counter",
      "How long jobs took that have ended.",
      sums(ended, byOwner, (row) => ((row.endedAtMs ?? row.startedAtMs) - row.startedAtMs) / 1000),
    ),
    metric(
      "tony_job_memory_byte_seconds_total",
      "counter",
      "Memory that containers of jobs held that have ended, over time.",
      sums(ended, byOwner, (row) => row.usage.memoryMiBSeconds * MIB),
    ),
    metric(
      "tony_job_vcore_seconds_total",
      "counter",
      "Virtual cores that containers of jobs held that have ended, over time.",
      sums(ended, byOwner, (row) => row.usage.vcoreSeconds),
    ),
    metric(
      "tony_job_gpu_seconds_total",
      "counter",
      "GPUs that containers of jobs held that have ended, over time.",
      sums(ended, byOwner, (row) => row.usage.gpuSeconds ?? 0),
    ),
    metric(
      "tony_job_cost_total",
      "counter",
      "What jobs cost that have ended, by the prices of their time (tony.cost.*).",
      sums(
        ended.filter(({ usage }) => usage.cost !== undefined),
        (row) => ({ ...byOwner(row), currency: row.usage.cost?.currency ?? "" }),
        (row) => row.usage.cost?.amount ?? 0,
      ),
    ),
    metric("tony_portal_last_scan_timestamp_seconds", "gauge", "When the history was last read to its end.", [
      { labels: {}, value: scan.atMs / 1000 },
    ]),
    metric("tony_portal_scan_failed", "gauge", "Whether the last round did not get to its end.", [
      { labels: {}, value: scan.trouble === undefined ? 0 : 1 },
    ]),
    metric("tony_portal_unreadable_jobs", "gauge", "Jobs whose history cannot be read.", [
      { labels: {}, value: scan.unreadable.length },
    ]),
  ].join("");
}

/** What Prometheus' http_sd fetches: the portal itself, as it was asked. */
export function targetsOf(host: string): object[] {
  return [{ targets: [host], labels: { job: "tony", __metrics_path__: "/metrics" } }];
}

function sums(
  rows: readonly JobRow[],
  labelsOf: (row: JobRow) => Readonly<Record<string, string>>,
  amountOf: (row: JobRow) => number,
): Sample[] {
  const samples = new Map<string, Sample>();
  for (const row of rows) {
    const labels = labelsOf(row);
    const key = JSON.stringify(labels);
    samples.set(key, { labels, value: (samples.get(key)?.value ?? 0) + amountOf(row) });
  }
  return [...samples.values()];
}

function metric(name: string, type: "counter" | "gauge", help: string, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels, value }) => `${name}${labelWords(labels)} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
}

function labelWords(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
