import path from "node:path/posix";
import { TonyError } from "../src/errors.ts";
import { contentUpTo } from "../src/hadoop/hdfs/content.ts";
import type { FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import { MOST_HISTORY_BYTES } from "../src/history/json-lines.ts";
import { type HistoryFileName, historyFileInProgress, parseHistoryFileName } from "../src/history/layout.ts";
import { decodeHistory } from "../src/history/records.ts";
import { decodeSeries, type JobSeries, seriesFile } from "../src/history/series/file.ts";
import { tonyFinalXml } from "../src/history/tony/final-xml.ts";
import { holdersOf } from "../src/job/access-list.ts";
import type { Cost, Usage } from "../src/job/cost.ts";
import type { HistoryEvent } from "../src/job/history-event.ts";
import { amount, object, string } from "../src/job/shape.ts";
import type { JobSpec } from "../src/job/spec.ts";
import type { JobStatus } from "../src/job/status.ts";
import { settingsOf, statusOfTony } from "./tony-job.ts";

/** A job as its folder in the history describes it. */
export interface StoredJob {
  readonly user: string;
  readonly writtenBy: "tony-ts" | "TonY";
  /** Who else may see it, in YARN's format; absent: nobody. */
  readonly viewers?: string;
  /** The last status; for a job that has not ended, its state at submission. */
  readonly status: JobStatus;
  readonly events: readonly HistoryEvent[];
  /** Of all files in its folder. */
  readonly bytes: number;
  /** As it was submitted; unknown for TonY's jobs. */
  readonly spec?: JobSpec;
}

/**
 * @param parts `ends`: the first and the last record are enough
 * @throws TonyError `HISTORY_UNREADABLE` where the folder contains no history, or another job's
 */
export async function readStoredJob(fileSystem: FileSystem, folder: string, parts: "all" | "ends"): Promise<StoredJob> {
  const job = await readHistory(fileSystem, folder, parts);
  const { applicationId } = job.status;
  // Everything else about a job, such as its logs, is found by its id.
  if (applicationId !== path.basename(folder)) throw unreadable(folder, "it is the history of another job");
  return job;
}

async function readHistory(fileSystem: FileSystem, folder: string, parts: "all" | "ends"): Promise<StoredJob> {
  const files = await fileSystem.list(folder);
  const names = files.map((entry) => path.basename(entry.path));
  const bytes = files.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0);
  const ours = names.find((name) => name === historyFileInProgress || parseHistoryFileName(name)?.format === "jsonl");
  if (ours !== undefined) {
    const text = (await contentOf(fileSystem, path.join(folder, ours))).toString("utf8");
    return { ...jobOf(decodeHistory(parts === "all" ? text : endsOf(text)), folder), bytes };
  }
  const [tonys] = names.flatMap((name): { name: string; says: HistoryFileName }[] => {
    const says = parseHistoryFileName(name);
    return says === undefined ? [] : [{ name, says }];
  });
  if (tonys === undefined) throw unreadable(folder, "it holds no history file");
  const settings = settingsAmong(names);
  const [events, xml] = await Promise.all([
    contentOf(fileSystem, path.join(folder, tonys.name)),
    settings === undefined ? undefined : contentOf(fileSystem, path.join(folder, settings)),
  ]);
  const status = statusOfTony(tonys.says, events, xml?.toString("utf8"));
  return { user: tonys.says.user, writtenBy: "TonY", status, events: [], bytes };
}

/** What its tasks used over time; undefined where it left no such file. */
export async function readStoredSeries(fileSystem: FileSystem, folder: string): Promise<JobSeries | undefined> {
  const file = (await fileSystem.list(folder)).find((entry) => path.basename(entry.path) === seriesFile);
  return file === undefined ? undefined : decodeSeries(await contentOf(fileSystem, file.path));
}

/** Its settings; undefined where it left none. */
export async function readStoredSettings(
  fileSystem: FileSystem,
  folder: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  const content = await readSettingsFile(fileSystem, folder);
  return content && settingsOf(content.toString("utf8"));
}

/** The same as the file's bytes. */
export async function readSettingsFile(fileSystem: FileSystem, folder: string): Promise<Buffer | undefined> {
  const names = (await fileSystem.list(folder)).map((entry) => path.basename(entry.path));
  const name = settingsAmong(names);
  return name === undefined ? undefined : await contentOf(fileSystem, path.join(folder, name));
}

/** The name in our histories and TonY's; TonY's older ones use the other name. */
function settingsAmong(names: readonly string[]): string | undefined {
  return names.find((name) => name === tonyFinalXml || name === "config.xml");
}

async function contentOf(fileSystem: FileSystem, file: string): Promise<Buffer> {
  const content = await contentUpTo(fileSystem, file, MOST_HISTORY_BYTES);
  if (content === undefined) throw unreadable(file, `it has more than ${MOST_HISTORY_BYTES} bytes`);
  return content;
}

/** Its first line and its last complete one. */
function endsOf(text: string): string {
  const end = text.lastIndexOf("\n");
  return text.slice(0, text.indexOf("\n") + 1) + text.slice(text.lastIndexOf("\n", end - 1) + 1, end + 1);
}

function jobOf(records: ReturnType<typeof decodeHistory>, folder: string): Omit<StoredJob, "bytes"> {
  const header = records.find((record) => record.record === "header");
  if (header === undefined) throw unreadable(folder, "its history has no first record");
  const end = records.findLast((record) => record.record === "end");
  const { user, spec, applicationId, atMs } = header;
  const events = records.flatMap((record): HistoryEvent[] => {
    if (record.record !== "event") return [];
    const { record: _kind, attempt: _attempt, number: _number, ...event } = record;
    return [event];
  });
  const status = end?.status ?? unfinished(applicationId, atMs, spec);
  const viewers = holdersOf("view", spec);
  return { user, writtenBy: "tony-ts", ...(viewers === undefined ? {} : { viewers }), status, events, spec };
}

/** For a running job, or one whose end nobody wrote: what is known from its beginning. */
function unfinished(applicationId: string, startedAtMs: number, { name, queue, roles }: JobSpec): JobStatus {
  return {
    statusVersion: 1,
    applicationId,
    attempt: 1,
    name,
    queue,
    state: "running",
    generation: 1,
    startedAtMs,
    nowMs: startedAtMs,
    amHost: "",
    roles: roles.map(({ name: role, instances, resource }) => ({
      name: role,
      instances,
      allocated: 0,
      registered: 0,
      running: 0,
      ended: 0,
      ...resource,
    })),
    tasks: [],
    waits: [],
    generations: [],
    budgets: { program: { used: 0, limit: 0 }, infrastructure: { used: 0, limit: 0 } },
    services: [],
    usage: { memoryMiBSeconds: 0, vcoreSeconds: 0 },
  };
}

function unreadable(folder: string, why: string): TonyError {
  return new TonyError(`${folder} cannot be read: ${why}`, { code: "HISTORY_UNREADABLE" });
}

/** Of what a job wrote, only what has this shape. */
export const readUsage = object<Usage>({
  required: { memoryMiBSeconds: amount, vcoreSeconds: amount },
  optional: {
    gpuSeconds: amount,
    cost: object<Cost>({
      required: { amount },
      optional: { currency: (value, where) => string(value, where).slice(0, 8) },
    }),
  },
});
