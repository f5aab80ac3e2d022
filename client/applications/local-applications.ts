import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { clientAccessFile, parseClientAccess } from "../../src/api/identity.ts";
import { TonyError } from "../../src/errors.ts";
import type { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { ApplicationFilter } from "../../src/hadoop/yarn/submission.ts";
import { wholeJob } from "../../src/job/amounts.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { JobSpecError, parseJobSpec } from "../../src/job/stored/parse-spec.ts";
import { jobFileName } from "../../src/job/stored/stored-job.ts";
import type { LogStore } from "../../src/logs/log-store.ts";
import { carriedTo, readLeftStatus } from "./abandoned-job.ts";
import { type Applications, hasEnded, type KeptHistory, type MasterContact } from "./applications.ts";
import { localFiles, localIds, localRoot, readIfThere, submittedAtMs } from "./local-folder.ts";
import { LocalLogStore } from "./local-log-store.ts";
import { parseJobStatus } from "./outcome.ts";
import { endOf } from "./report-status.ts";

const lastErrorLines = 10;
/** How long a job's logs are kept after its submission, once it has ended. */
const keptForDays = 7;
const keptForMs = keptForDays * 24 * 3_600_000;
/** How long a submission may take to start the AM: until then, an application without a process counts as running. */
const SUBMITTED_WITHIN_MS = 60_000;

/** Applications of the local scheduler, read from their folders: does what a ResourceManager does on a cluster. */
export class LocalApplications implements Applications {
  readonly #root: string;
  readonly #now: () => number;
  /** Loaded on first use: most commands read this machine's own files alone. */
  #fileSystems: FileSystems | undefined;
  readonly user: string;

  constructor(environment: Readonly<Record<string, string | undefined>>, user: string, now: () => number) {
    this.#now = now;
    this.#root = localRoot(environment);
    this.user = user;
  }

  /** The folder of an application; it need not exist. */
  folder(id: string): string {
    return path.join(this.#root, id);
  }

  /** There is no server to ask. */
  askBriefly(): void {}

  async report(id: string): Promise<ApplicationReport> {
    const folder = this.folder(id);
    if (!existsSync(folder)) {
      throw new TonyError(`There is no ${id} in ${this.#root}`, { code: "APPLICATION_NOT_FOUND" });
    }
    // The process is looked at first: its status is written before it ends.
    const alive = processOf(folder) !== undefined || this.#isBeingSubmitted(id);
    const status = this.#lastStatus(id);
    const address = this.#address(id);
    const job = jobOf(folder);
    const killed = readIfThere(path.join(folder, localFiles.killed));
    const state = stateOf(status, { alive, serves: address !== undefined, killed: killed !== undefined });
    return {
      id,
      user: this.user,
      name: job?.name ?? "",
      queue: "local",
      type: "TONY",
      tags: [],
      ...state,
      ...(job !== undefined && state.state === "RUNNING" && { usage: usageOf(job, this.#now() - submittedAtMs(id)) }),
      ...(address === undefined ? {} : { amHost: address.host, amRpcPort: address.port }),
      trackingUrl: "",
      diagnostics: status?.outcome?.summary ?? (alive ? "" : (killed ?? this.#lastErrors(id))),
      startTimeMs: submittedAtMs(id),
      launchTimeMs: submittedAtMs(id),
      finishTimeMs: status?.outcome === undefined ? 0 : status.nowMs,
      progress: status === undefined ? 0 : 1,
      priority: 0,
    };
  }

  async reports({ states, limit }: ApplicationFilter): Promise<ApplicationReport[]> {
    const all = await Promise.all(localIds(this.#root).map((id) => this.report(id)));
    return all.filter(({ state }) => states === undefined || states.includes(state)).slice(0, limit);
  }

  async waitingReason(): Promise<DelayReason> {
    return { code: "am-starting" };
  }

  /** On this machine nobody else holds anything that the AM does not know of. */
  async explained(status: JobStatus): Promise<JobStatus> {
    return status;
  }

  explainedSoon(status: JobStatus): JobStatus {
    return status;
  }

  async contact({ id }: ApplicationReport): Promise<MasterContact | undefined> {
    const address = this.#address(id);
    const access = readIfThere(path.join(this.folder(id), clientAccessFile));
    if (address === undefined || access === undefined) return undefined;
    return { attempt: 1, ...address, access: parseClientAccess(access) };
  }

  noContactReason(): string {
    return "it has not published its address yet";
  }

  /** The AM takes SIGTERM as a request to end the job. */
  async kill(id: string, reason: string): Promise<void> {
    const folder = this.folder(id);
    const pid = processOf(folder);
    if (pid === undefined) return;
    writeFileSync(path.join(folder, localFiles.killed), reason, { mode: 0o600 });
    process.kill(pid, "SIGTERM");
  }

  async finalStatus(report: ApplicationReport): Promise<JobStatus | undefined> {
    const left = { read: async (name: string) => readFileSync(path.join(this.folder(report.id), name)) };
    return this.#lastStatus(report.id) ?? (await readLeftStatus(left, report).catch(() => undefined));
  }

  noStatusReason(): undefined {}

  async checkpointDir(id: string): Promise<string | undefined> {
    const spec = jobOf(this.folder(id));
    return spec && carriedTo({ spec });
  }

  keptHistory(id: string): KeptHistory | undefined {
    const settings = jobOf(this.folder(id))?.history;
    if (settings === undefined) return undefined;
    return settings.location === undefined ? { folder: path.join(this.folder(id), "history") } : { settings };
  }

  /** The folder stays because of its logs. */
  async clean(id: string): Promise<string> {
    return `its processes have ended; its logs are kept for ${keptForDays} days: tony-ts logs ${id}`;
  }

  /** Removes the folders of jobs that ended a while ago, logs included. */
  async sweep(): Promise<void> {
    for (const id of localIds(this.#root)) {
      if (this.#now() - submittedAtMs(id) < keptForMs) continue;
      if (hasEnded(await this.report(id))) rmSync(this.folder(id), { recursive: true, force: true });
    }
  }

  async fileSystems(): Promise<FileSystems> {
    if (this.#fileSystems === undefined) {
      const [{ Configuration }, { FileSystems }, { simpleCredentials }] = await Promise.all([
        import("../../src/hadoop/conf/configuration.ts"),
        import("../../src/hadoop/hdfs/file-systems.ts"),
        import("../../src/hadoop/security/simple-credentials.ts"),
      ]);
      const credentials = simpleCredentials({ name: this.user });
      this.#fileSystems = new FileSystems({ configuration: new Configuration(), credentials });
    }
    return this.#fileSystems;
  }

  logStore({ id }: ApplicationReport): LogStore {
    return new LocalLogStore(id, this.folder(id));
  }

  close(): void {
    this.#fileSystems?.close();
  }

  #isBeingSubmitted(id: string): boolean {
    const isYoung = this.#now() - submittedAtMs(id) < SUBMITTED_WITHIN_MS;
    return isYoung && !existsSync(path.join(this.folder(id), localFiles.pid));
  }

  #lastStatus(id: string): JobStatus | undefined {
    const text = readIfThere(path.join(this.folder(id), localFiles.status));
    return text === undefined ? undefined : parseJobStatus(Buffer.from(text));
  }

  #address(id: string): { readonly host: string; readonly port: number } | undefined {
    const text = readIfThere(path.join(this.folder(id), "am-1.json"));
    if (text === undefined) return undefined;
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null || !("host" in parsed) || !("port" in parsed)) return undefined;
    const { host, port } = parsed;
    return typeof host === "string" && typeof port === "number" ? { host, port } : undefined;
  }

  /** The last lines that the AM wrote before it ended without an outcome. */
  #lastErrors(id: string): string {
    const text = readIfThere(path.join(this.folder(id), "am", "logs", "stderr")) ?? "";
    const lines = text.trimEnd().split("\n").slice(-lastErrorLines).join("\n");
    return `The AM ended without telling an outcome${lines === "" ? "" : `:\n${lines}`}`;
  }
}

/** The id of the AM's process while it runs; another process that got the same id later does not count. */
function processOf(folder: string): number | undefined {
  const pid = Number(readIfThere(path.join(folder, localFiles.pid)));
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder) ? pid : undefined;
  } catch {
    return undefined;
  }
}

function stateOf(
  status: JobStatus | undefined,
  { alive, serves, killed }: { readonly alive: boolean; readonly serves: boolean; readonly killed: boolean },
): Pick<ApplicationReport, "state" | "finalStatus"> {
  if (status?.outcome !== undefined) return endOf(status.outcome);
  if (!alive && killed) return { state: "KILLED", finalStatus: "KILLED" };
  if (!alive) return { state: "FAILED", finalStatus: "FAILED" };
  return { state: serves ? "RUNNING" : "ACCEPTED", finalStatus: "UNDEFINED" };
}

/** The application's description in job.json; nothing where the file does not exist yet, or is of another version. */
function jobOf(folder: string): JobSpec | undefined {
  const text = readIfThere(path.join(folder, jobFileName));
  if (text === undefined) return undefined;
  try {
    return parseJobSpec(property(JSON.parse(text), "spec"));
  } catch (error) {
    if (error instanceof JobSpecError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** All that the job asked for: a job of this machine holds it as long as it runs. */
function usageOf(job: JobSpec, heldMs: number): NonNullable<ApplicationReport["usage"]> {
  const { containers: usedContainers, resource: used } = wholeJob(job);
  const memorySeconds = Math.round((used.memoryMiB * heldMs) / 1000);
  const vcoreSeconds = Math.round((used.vcores * heldMs) / 1000);
  return { usedContainers, used, needed: used, memorySeconds, vcoreSeconds, resourceSeconds: {} };
}

function property(value: unknown, name: string): unknown {
  return Object.entries(value ?? {}).find(([key]) => key === name)?.[1];
}
