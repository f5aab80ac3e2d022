import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { usualRoundings } from "../../src/advice/roundings.ts";
import { LocalFileSystem } from "../../src/hadoop/hdfs/local.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { syncMarkerBytes } from "../../src/history/avro/schema.ts";
import { finishedHistoryFile, tonyHistoryFile } from "../../src/history/layout.ts";
import { encodeHistoryRecord } from "../../src/history/records.ts";
import { writeTonyEvents } from "../../src/history/tony/event-file.ts";
import { endedEvents } from "../../src/history/tony/events.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { Cause, JobOutcome, JobStatus } from "../../src/job/status.ts";
import { aReport } from "../client/application-report.ts";
import { aJobStatus, allSucceeded } from "../client/job-status.ts";
import { jobSpec, role } from "../simulation/job.ts";

export interface WrittenJob {
  readonly number: number;
  readonly user?: string;
  readonly name?: string;
  readonly queue?: string;
  readonly viewAcl?: string;
  readonly startedAtMs?: number;
  /** What else it was submitted as. */
  readonly spec?: Partial<JobSpec>;
  /** What has happened last, while it runs. */
  readonly last?: "job-started" | "generation-opened" | "cluster-spec-sent";
  /** Absent: it runs. */
  readonly endedAtMs?: number;
  readonly result?: JobOutcome["result"];
  readonly cause?: Cause;
  readonly usage?: JobStatus["usage"];
  /** What else its last status has. */
  readonly more?: Partial<
    Pick<JobStatus, "feeds" | "search" | "roles" | "tasks" | "nowMs" | "submittedAtMs" | "generations">
  >;
  /** What its TonY readers are told it was submitted with. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Of `worker:0`, a value in each five seconds from its start on. */
  readonly series?: Series;
  /** The same of other tasks. */
  readonly moreSeries?: Readonly<Record<string, Series>>;
}

type Series = Readonly<Record<string, readonly (number | null)[]>>;

/** A history on this machine, as ApplicationMasters leave it. */
export class HistoryFolder {
  readonly root = mkdtempSync(path.join(tmpdir(), "tony-history-"));
  readonly fileSystem = new LocalFileSystem();
  readonly intermediate = path.join(this.root, "intermediate");
  readonly finished = path.join(this.root, "finished");
  readonly roundings = usualRoundings;

  /** What the ResourceManager says of applications; of others that they run. */
  readonly reports = new Map<string, Partial<ApplicationReport> | Error>();
  readonly report = async (id: string): Promise<ApplicationReport> => {
    const said = this.reports.get(id);
    if (said instanceof Error) throw said;
    return aReport({ id, state: "RUNNING", ...said });
  };

  /** @returns the job's folder */
  write({
    number,
    user = "ada",
    name = "bert",
    queue = "ml",
    startedAtMs = 1_000,
    viewAcl,
    spec: asked = {},
    last: type = "cluster-spec-sent",
    ...end
  }: WrittenJob): string {
    const applicationId = `application_1_${String(number).padStart(4, "0")}`;
    const acl = viewAcl === undefined ? {} : { viewAcl };
    const spec = { ...jobSpec([role("worker", 2)]), name, queue, ...acl, ...asked };
    const numbers = { attempt: 1, number: 1 };
    const build = "tony-ts 0.1.0";
    const header = {
      record: "header",
      historyVersion: 3,
      ...numbers,
      atMs: startedAtMs,
      applicationId,
      user,
      build,
      spec,
    } as const;
    const facts = type === "job-started" ? { type, name, tasks: 2 } : { type };
    const event = { record: "event", attempt: 1, number: 2, atMs: startedAtMs, generation: 1, ...facts } as const;
    const lines = [header, event].map(encodeHistoryRecord);
    const {
      endedAtMs,
      result = "succeeded",
      cause,
      settings,
      series,
      moreSeries = {},
      usage = { memoryMiBSeconds: 1024, vcoreSeconds: 10 },
      more,
    } = end;
    if (endedAtMs === undefined)
      return this.#put(path.join(this.intermediate, applicationId), "events.jsonl.inprogress", lines.join(""));
    const outcome = { ...allSucceeded, result, endedAtMs, ...(cause === undefined ? {} : { cause }) };
    const status = aJobStatus({
      applicationId,
      name,
      queue,
      startedAtMs,
      state: result,
      outcome,
      usage,
      ...more,
    });
    const last = encodeHistoryRecord({ record: "end", attempt: 1, number: 3, atMs: endedAtMs, outcome, status });
    const file = finishedHistoryFile({ applicationId, startedAtMs, user }, { endedAtMs, result });
    rmSync(path.join(this.intermediate, applicationId), { recursive: true, force: true });
    const folder = path.join(this.#day(endedAtMs), applicationId);
    if (settings !== undefined) this.#put(folder, "tony-final.xml", xmlOf(settings));
    if (series !== undefined)
      this.#put(folder, "series.jsonl.gz", seriesOf(applicationId, startedAtMs, { "worker:0": series, ...moreSeries }));
    return this.#put(folder, file, [...lines, last].join(""));
  }

  /** One of TonY's own, with its settings. */
  writeTonys(number: number, endedAtMs: number): string {
    const applicationId = `application_1_${String(number).padStart(4, "0")}`;
    const status = aJobStatus({ applicationId, startedAtMs: 1_000 });
    const tasks = [
      { task: "worker:0", state: "failed", host: "n1", startedAtMs: 2_000, exit: "1", restarts: 0 } as const,
    ];
    const events = endedEvents({ ...status, tasks }, endedAtMs, () => ({ maxMemoryBytes: 5, averageMemoryBytes: 4 }));
    const file = tonyHistoryFile({ applicationId, startedAtMs: 1_000, user: "tom" }, { endedAtMs, result: "failed" });
    const folder = path.join(this.#day(endedAtMs), applicationId);
    this.#put(folder, file, writeTonyEvents(events, Buffer.alloc(syncMarkerBytes)));
    const settings = { "tony.application.name": "old mnist", "tony.yarn.queue": "prod", "tony.worker.memory": "3g" };
    return this.#put(folder, "config.xml", xmlOf(settings));
  }

  /** Times of files go by the kernel's ticks, of 10 ms at most: what changes after this has a later one than what changed before. */
  tick(): Promise<void> {
    return setTimeout(20);
  }

  remove(): void {
    rmSync(this.root, { recursive: true });
  }

  /** What is not to be read by anybody. */
  writeBroken(number: number): string {
    return this.#put(
      path.join(this.intermediate, `application_1_${String(number).padStart(4, "0")}`),
      "events.jsonl.inprogress",
      "{}\n",
    );
  }

  #day(endedAtMs: number): string {
    const [day = ""] = new Date(endedAtMs).toISOString().split("T");
    return path.join(this.finished, ...day.split("-"));
  }

  #put(folder: string, name: string, content: string | Uint8Array): string {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, name), content);
    return folder;
  }
}

function xmlOf(settings: Readonly<Record<string, string>>): string {
  const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const properties = Object.entries(settings).map(
    ([name, value]) => `<property><name>${escaped(name)}</name><value>${escaped(value)}</value></property>`,
  );
  return `<configuration>${properties.join("")}</configuration>`;
}

function seriesOf(applicationId: string, fromMs: number, byTask: Readonly<Record<string, Series>>) {
  const axis = { seriesVersion: 1, applicationId, attempt: 1, fromMs, spanMs: 5_000 };
  const tasks = Object.entries(byTask).map(([task, series]) => ({
    task,
    memoryLimitBytes: 2 ** 31,
    series: Object.entries(series).map(([name, values]) => ({ name, rule: "last", first: 0, values })),
  }));
  return gzipSync([axis, ...tasks].map((line) => `${JSON.stringify(line)}\n`).join(""));
}
