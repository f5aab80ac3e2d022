import type { JobRow } from "../src/page/portal-answers.ts";
import type { JobIndex } from "./job-index.ts";
import { isUnfinished, type Tally, tallyOf } from "./tally.ts";
import type { UpkeepCounts } from "./upkeep.ts";

/** Prometheus' text format, with the version that its readers require. */
export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

const MIB = 1024 ** 2;

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * The metrics of the history, by queue and user; not by job, because there are too many jobs.
 * @param upkeep absent: nothing is moved or removed
 * @param begun counters as their reader should see them (CounterStarts)
 */
export function metricsOf(
  { rows, gone, scan }: Pick<JobIndex, "rows" | "gone" | "scan">,
  upkeep?: UpkeepCounts,
  begun: (name: string, samples: readonly Sample[]) => readonly Sample[] = (_name, samples) => samples,
): string {
  const all = [...rows.map(tallyOf), ...gone];
  const running = all.filter(({ state }) => isUnfinished(state));
  const ended = all.filter(({ state }) => !isUnfinished(state));
  const byOwner = ({ queue, user }: Tally) => ({ queue, user });
  const count = ({ jobs }: Tally) => jobs;
  const counter = (name: string, help: string, samples: readonly Sample[]) =>
    metric(name, "counter", help, begun(name, samples));
  return [
    metric("tony_jobs_running", "gauge", "Jobs whose history has no end.", sums(running, byOwner, count)),
    counter(
      "tony_jobs_finished_total",
      "Jobs that have ended.",
      sums(ended, (one) => ({ ...byOwner(one), result: one.state }), count),
    ),
    counter(
      "tony_job_seconds_total",
      "How long ended jobs took.",
      sums(ended, byOwner, ({ ms }) => ms / 1000),
    ),
    counter(
      "tony_job_memory_byte_seconds_total",
      "Memory that containers of ended jobs held, over time.",
      sums(ended, byOwner, ({ memoryMiBSeconds }) => memoryMiBSeconds * MIB),
    ),
    counter(
      "tony_job_vcore_seconds_total",
      "Virtual cores that containers of ended jobs held, over time.",
      sums(ended, byOwner, ({ vcoreSeconds }) => vcoreSeconds),
    ),
    counter(
      "tony_job_gpu_seconds_total",
      "GPUs that containers of ended jobs held, over time.",
      sums(ended, byOwner, ({ gpuSeconds }) => gpuSeconds),
    ),
    counter(
      "tony_job_cost_total",
      "What ended jobs cost, at the prices of their time (tony.cost.*).",
      sums(
        ended.filter(({ cost }) => cost !== undefined),
        (one) => ({ ...byOwner(one), currency: one.currency }),
        ({ cost = 0 }) => cost,
      ),
    ),
    metric("tony_portal_last_scan_timestamp_seconds", "gauge", "When the history was last read to its end.", [
      alone(scan.atMs / 1000),
    ]),
    metric("tony_portal_scan_failed", "gauge", "Whether the last scan of the history failed.", [
      alone(scan.trouble === undefined ? 0 : 1),
    ]),
    metric("tony_portal_unreadable_jobs", "gauge", "Jobs whose history cannot be read.", [
      alone(scan.unreadable.length),
    ]),
    ...(upkeep === undefined ? [] : upkeepMetrics(upkeep)),
  ].join("");
}

function upkeepMetrics({ moved, removed, removedBytes, refused }: UpkeepCounts): string[] {
  return [
    metric("tony_portal_moved_jobs_total", "counter", "Histories moved to those of ended jobs.", [alone(moved)]),
    metric("tony_portal_removed_jobs_total", "counter", "Jobs whose history was removed.", [alone(removed)]),
    metric("tony_portal_removed_bytes_total", "counter", "Size of the removed histories.", [alone(removedBytes)]),
    metric("tony_portal_refused_jobs", "gauge", "Jobs that could not be moved or removed.", [alone(refused)]),
  ];
}

/** The targets for Prometheus' http_sd: the portal itself, under the host name of the request, for the history and for each running job. */
export function targetsOf(host: string, scheme: "http" | "https", rows: readonly JobRow[]): object[] {
  const target = (path: string, labels: Sample["labels"]) => {
    return { targets: [host], labels: { ...labels, __scheme__: scheme, __metrics_path__: path } };
  };
  return [
    target("/metrics", { job: "tony" }),
    ...rows
      .filter(({ state }) => isUnfinished(state))
      .map(({ applicationId }) => target(`/metrics/${applicationId}`, { job: "tony-jobs", instance: applicationId })),
  ];
}

function alone(value: number): Sample {
  return { labels: {}, value };
}

function sums(
  tallies: readonly Tally[],
  labelsOf: (one: Tally) => Readonly<Record<string, string>>,
  amountOf: (one: Tally) => number,
): Sample[] {
  const samples = new Map<string, Sample>();
  for (const one of tallies) {
    const labels = labelsOf(one);
    const key = JSON.stringify(labels);
    samples.set(key, { labels, value: (samples.get(key)?.value ?? 0) + amountOf(one) });
  }
  return [...samples.values()];
}

export function metric(name: string, type: "counter" | "gauge", help: string, samples: readonly Sample[]): string {
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
