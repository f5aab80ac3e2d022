import { describe, expect, test } from "@jest/globals";
import { metricsOf, targetsOf } from "../../portal/metrics.ts";
import { readRunningMetrics, runningMetrics } from "../../portal/running-metrics.ts";
import { tallyOf } from "../../portal/tally.ts";
import type { JobRow } from "../../src/page/portal-answers.ts";

const job: JobRow = {
  applicationId: "application_1_0001",
  name: "bert",
  user: "ada",
  queue: "ml",
  state: "succeeded",
  startedAtMs: 1_000,
  endedAtMs: 4_000,
  tasks: 1,
  writtenBy: "tony-ts",
  usage: { memoryMiBSeconds: 1, vcoreSeconds: 2, gpuSeconds: 3, cost: { amount: 1.5, currency: "EUR" } },
};
const { endedAtMs: _end, ...unended } = job;
const running: JobRow = { ...unended, applicationId: "application_1_0002", state: "running" };
const linesOf = (text: string) => text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

describe("what Prometheus is told of a history", () => {
  const scan = { isComplete: true, folders: 9, read: 9, atMs: 77_000, unreadable: [] };

  test("is added up by queue and user, with what was removed, and apart for each result and currency", () => {
    const rows = [
      running,
      { ...running, applicationId: "application_1_0003" },
      job,
      { ...job, state: "failed" } as const,
      { ...job, user: "bob", usage: { memoryMiBSeconds: 0, vcoreSeconds: 0 } },
    ];
    const dollars = { ...job.usage, cost: { amount: 4, currency: "USD" } };
    expect(linesOf(metricsOf({ rows, gone: [tallyOf(job), tallyOf({ ...job, usage: dollars })], scan }))).toEqual([
      'tony_jobs_running{queue="ml",user="ada"} 2',
      'tony_jobs_finished_total{queue="ml",user="ada",result="succeeded"} 3',
      'tony_jobs_finished_total{queue="ml",user="ada",result="failed"} 1',
      'tony_jobs_finished_total{queue="ml",user="bob",result="succeeded"} 1',
      'tony_job_seconds_total{queue="ml",user="ada"} 12',
      'tony_job_seconds_total{queue="ml",user="bob"} 3',
      'tony_job_memory_byte_seconds_total{queue="ml",user="ada"} 4194304',
      'tony_job_memory_byte_seconds_total{queue="ml",user="bob"} 0',
      'tony_job_vcore_seconds_total{queue="ml",user="ada"} 8',
      'tony_job_vcore_seconds_total{queue="ml",user="bob"} 0',
      'tony_job_gpu_seconds_total{queue="ml",user="ada"} 12',
      'tony_job_gpu_seconds_total{queue="ml",user="bob"} 0',
      'tony_job_cost_total{queue="ml",user="ada",currency="EUR"} 4.5',
      'tony_job_cost_total{queue="ml",user="ada",currency="USD"} 4',
      "tony_portal_last_scan_timestamp_seconds 77",
      "tony_portal_scan_failed 0",
      "tony_portal_unreadable_jobs 0",
    ]);
  });

  test("says what is wrong with reading it, and what its upkeep did where it has one", () => {
    const unreadable = [{ folder: "/h/application_1_0009", why: "it holds no history file" }];
    const upkeep = { moved: 1, removed: 2, removedBytes: 3, refused: 4 };
    expect(
      linesOf(metricsOf({ rows: [], gone: [], scan: { ...scan, trouble: "away", unreadable } }, upkeep)).slice(1),
    ).toEqual([
      "tony_portal_scan_failed 1",
      "tony_portal_unreadable_jobs 1",
      "tony_portal_moved_jobs_total 1",
      "tony_portal_removed_jobs_total 2",
      "tony_portal_removed_bytes_total 3",
      "tony_portal_refused_jobs 4",
    ]);
  });

  test("has names as the format wants them, whatever is in them", () => {
    const odd = { ...running, user: 'a"b\\c\nd' };
    expect(linesOf(metricsOf({ rows: [odd], gone: [], scan }))[0]).toBe(
      'tony_jobs_running{queue="ml",user="a\\"b\\\\c\\nd"} 1',
    );
  });

  test("is fetched as the portal is, for it and for each job that runs", () => {
    expect(targetsOf("portal:1", "https", [job, running])).toMatchObject([
      { targets: ["portal:1"], labels: { job: "tony", __scheme__: "https", __metrics_path__: "/metrics" } },
      {
        targets: ["portal:1"],
        labels: {
          ...{ job: "tony-jobs", instance: "application_1_0002" },
          ...{ __scheme__: "https", __metrics_path__: "/metrics/application_1_0002" },
        },
      },
    ]);
  });
});

test.each([
  ["more than labels and a number", [[{ role: "worker" }, 1, 2]], "gauges[0].points[0] must be labels and a number"],
  ["no list", [{ role: "worker" }], "gauges[0].points[0] must be labels and a number"],
  ["a label of its own", [[{ host: "n1" }, 1]], "gauges[0].points[0] has the label host"],
])("a running job's page does not make Prometheus's metrics of %s", (_what, points, message) => {
  expect(() => readRunningMetrics({ gauges: [{ name: "tony_tasks", points }] }, "")).toThrow(message);
});

test("of a job that runs Prometheus is told whose it is, whether it answers, and what it says of itself", () => {
  const info = 'tony_job_info{app="application_1_0002",name="bert",user="ada",queue="ml"} 1';
  expect(linesOf(runningMetrics(running, undefined))).toEqual([info, 'tony_job_up{app="application_1_0002"} 0']);
  const points = [[{ role: "worker" }, 2]] as const;
  const gauges = [
    { name: "tony.held.memory", points },
    { name: "tony.of.another.release", points },
  ];
  expect(linesOf(runningMetrics(running, { gauges }))).toEqual([
    info,
    'tony_job_up{app="application_1_0002"} 1',
    'tony_job_held_memory_byte_seconds{app="application_1_0002",role="worker"} 2097152',
  ]);
});

test("of each task of a job that runs Prometheus is told what is known of it, in base units", () => {
  const tasks = [
    { task: "worker:1", memoryBytes: 5, cpuCores: 1.5, gpu: 50, step: 7 },
    { task: "ps:0", gpu: 0 },
    { task: "ps:1" },
  ];
  expect(linesOf(runningMetrics(running, { gauges: [], tasks })).slice(2)).toEqual([
    'tony_task_memory_rss_bytes{app="application_1_0002",role="worker",index="1"} 5',
    'tony_task_cpu_cores{app="application_1_0002",role="worker",index="1"} 1.5',
    'tony_task_gpu_utilization_ratio{app="application_1_0002",role="worker",index="1"} 0.5',
    'tony_task_gpu_utilization_ratio{app="application_1_0002",role="ps",index="0"} 0',
    'tony_task_step{app="application_1_0002",role="worker",index="1"} 7',
  ]);
});
