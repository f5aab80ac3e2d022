import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { localFiles, localRoot } from "../../../client/applications/local-folder.ts";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { reportError } from "../../../client/command-line/handle-errors.ts";
import { commands } from "../../../client/commands/commands.ts";
import type { SessionHandler } from "../../../src/api/caller-session.ts";
import type { ClientHandler, Follower, LogReader } from "../../../src/api/client-endpoint.ts";
import { clientAccess, clientAccessFile, formatClientAccess } from "../../../src/api/identity.ts";
import type { LogWanted } from "../../../src/api/messages.ts";
import { jobOutcome, jobStatus } from "../../../src/api/status-codec.ts";
import { endedBecause } from "../../../src/job/outcome.ts";
import type { JobOutcome, JobStatus } from "../../../src/job/status.ts";
import { jobFileName } from "../../../src/job/stored/stored-job.ts";
import { tcpSockets } from "../../../src/tcp-sockets.ts";
import { identity, noClients, noSessions, startMaster } from "../../support/api.ts";
import { eventually } from "../../support/eventually.ts";
import { Inbox } from "../../support/inbox.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { type SceneOptions, SessionScene } from "../../support/session-scene.ts";
import { aJobStatus } from "../job-status.ts";
import { type RecordedContext, type RecordedStreams, recordedContext, recordedStreams } from "../support.ts";

// What commands load when they need it, before any runs: Jest does not link two modules at once that share one which is new.
import "../../../client/applications/local-applications.ts";
import "../../../client/applications/yarn-applications.ts";
import "../../../client/cluster/held-containers.ts";
import "../../../client/cluster/node-tables.ts";
import "../../../client/cluster/nodes-overview.ts";
import "../../../client/following/follow-again.ts";
import "../../../client/following/follow-logs.ts";
import "../../../client/following/quiet-view.ts";
import "../../../client/logs/live-logs.ts";
import "../../../client/logs/stored-logs.ts";
import "../../../client/master/end-application.ts";
import "../../../client/master/inspection.ts";
import "../../../client/output/trial-table.ts";
import "../../../client/results/advice.ts";
import "../../../client/results/apply-settings.ts";
import "../../../client/results/get-files.ts";
import "../../../client/results/job-series.ts";
import "../../../client/results/runs.ts";
import "../../../client/master/job-keys.ts";
import "../../../client/master/watched-keys.ts";
import "../../../client/sessions/forward.ts";
import "../../../client/sessions/named-tasks.ts";
import "../../../client/sessions/page-address.ts";
import "../../../client/sessions/pass-signals.ts";
import "../../../client/sessions/run-command.ts";
import "../../../client/sessions/show-page.ts";
import "../../../client/sessions/terminal.ts";
import "../../../client/sessions/stacks.ts";
import "../../../client/shipping/prune-cache.ts";
import "../../../client/shipping/cache-access.ts";

type JobResult = JobOutcome["result"];

export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** A command that runs: what it has printed until now, and what it comes to. */
export interface Started extends Pick<RecordedContext, "out" | "err"> {
  readonly ended: Promise<Ran>;
}

/** What programs, their executors and the ApplicationMaster printed, by container (1 is the ApplicationMaster's) and file. */
export type Logs = Readonly<Record<number, Readonly<Record<string, string>>>>;

const MASTER = 1;

/** This machine, on which commands are run as a person types them, and the jobs that it has or had. */
export class LocalMachine {
  readonly folder = mkdtempSync(path.join(tmpdir(), "tony-commands-"));
  environment: Readonly<Record<string, string>> = { XDG_STATE_HOME: this.folder, HADOOP_CONF_DIR: "" };
  /** Of the commands that are run from now on. */
  streams: RecordedStreams = recordedStreams();
  /** What they print goes to one. */
  terminal = false;
  readonly #root = localRoot(this.environment);
  readonly #running: RunningJob[] = [];

  /** Runs a command line to its end; an error is told as the program tells it. */
  async run(...words: readonly string[]): Promise<Ran> {
    return await this.start(...words).ended;
  }

  /** The same of one that goes on for a while. */
  start(...words: readonly string[]): Started {
    const { environment, folder: workingDirectory, streams, terminal } = this;
    const context = recordedContext({ environment, workingDirectory, streams, terminal });
    const { out, err } = context;
    const ended = ranIn(context, words).then((exitCode) => ({ exitCode, out: out.text, err: err.text }));
    return { out, err, ended };
  }

  /** The same, of a command with --json. */
  async json(...words: readonly string[]): Promise<unknown> {
    const { out } = await this.run(...words, "--json");
    const lines = out.trimEnd().split("\n");
    return lines.length === 1 || lines[0] === "{" ? JSON.parse(out) : lines.map((line): unknown => JSON.parse(line));
  }

  /** A job that was submitted so many seconds before now, and has ended. */
  ended(secondsAgo: number, result: JobResult, changes: Partial<JobStatus> = {}, logs: Logs = {}): string {
    const reason = { code: "stop-requested", words: "enough" } as const;
    const id = this.#made(secondsAgo, logs);
    const outcome = { ...endedBecause(result, reason), endedAtMs: submittedAtMs(id) + 5_000 };
    this.#says(id, { outcome, state: result, ...changes });
    return id;
  }

  /** A job that runs: a process, and an ApplicationMaster that clients can call. */
  async running(changes: Partial<JobStatus> = {}, options: RunningOptions = {}): Promise<RunningJob> {
    const id = this.#made(60, {});
    const job = new RunningJob(this.#folder(id), aJobStatus({ applicationId: id, name: "bert", ...changes }), options);
    this.#running.push(job);
    await job.start();
    return job;
  }

  /** Nothing that a command opened may still be open. */
  async dispose(): Promise<void> {
    for (const job of this.#running) await job.left();
    for (const job of this.#running) await job.stop();
    rmSync(this.folder, { recursive: true });
  }

  #folder(id: string): string {
    return path.join(this.#root, id);
  }

  #made(secondsAgo: number, logs: Logs): string {
    const id = `local_${1_795_305_600_000 - secondsAgo * 1_000}_0001`;
    mkdirSync(this.#folder(id), { recursive: true });
    const job = { spec: { ...aJobSpec(), name: "bert" } };
    writeFileSync(path.join(this.#folder(id), jobFileName), JSON.stringify(job));
    for (const [container, files] of Object.entries(logs)) {
      const name = Number(container) === MASTER ? "am" : path.join("containers", containerOf(id, Number(container)));
      const folder = path.join(this.#folder(id), name, "logs");
      mkdirSync(folder, { recursive: true });
      for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
    }
    return id;
  }

  #says(id: string, changes: Partial<JobStatus>): void {
    const status = aJobStatus({ applicationId: id, nowMs: submittedAtMs(id) + 5_000, ...changes });
    writeFileSync(path.join(this.#folder(id), localFiles.status), JSON.stringify(status));
  }
}

async function ranIn(context: RecordedContext, words: readonly string[]): Promise<number> {
  try {
    const parsed = await parseArguments(words, commands);
    if (!("run" in parsed)) throw new Error(parsed.text);
    return await parsed.run(context);
  } catch (error) {
    const { message, exitCode } = reportError(error);
    context.output.problem(message);
    return exitCode;
  }
}

export function containerOf(id: string, number: number): string {
  const [, time, sequence] = id.split("_");
  return `container_${time}_${sequence}_01_${String(number).padStart(6, "0")}`;
}

function submittedAtMs(id: string): number {
  return Number(id.split("_")[1]);
}

/** What each task's log has: its text, by task and stream. */
type LiveLogs = Readonly<Record<string, string>>;

interface RunningOptions {
  readonly logs?: LiveLogs;
  readonly clients?: Partial<ClientHandler>;
  /** The executor of worker:0 is there, and does what sessions ask of it. */
  readonly executor?: Pick<SceneOptions, "environment" | "stacks">;
}

/** A job of this machine whose ApplicationMaster answers in this process, and ends with the test's word. */
export class RunningJob {
  readonly stops: string[] = [];
  readonly id: string;
  status: JobStatus;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #followers = new Set<Follower>();
  readonly #met = new Inbox<"follower" | "session">();
  readonly #options: RunningOptions;
  #port = 0;
  #atStart = 0;
  #close = async (): Promise<void> => undefined;

  constructor(folder: string, status: JobStatus, options: RunningOptions) {
    this.id = path.basename(folder);
    this.status = status;
    this.#folder = folder;
    this.#options = options;
    this.#process = spawn("sleep", ["600"], { argv0: path.join(folder, "am", "am.cjs"), stdio: "ignore" });
    writeFileSync(path.join(folder, localFiles.pid), String(this.#process.pid));
  }

  async start(): Promise<void> {
    this.#port = await this.#startMaster({
      ...noClients,
      follow: (follower) => this.#follow(follower),
      readLog: (wanted, reader) => this.#readLog(wanted, reader),
      stop: (reason) => {
        this.stops.push(reason);
        void this.end("killed", reason);
        return true;
      },
      ...this.#options.clients,
    });
    writeFileSync(
      path.join(this.#folder, clientAccessFile),
      JSON.stringify(formatClientAccess(clientAccess(identity))),
    );
    writeFileSync(path.join(this.#folder, "am-1.json"), JSON.stringify({ host: "127.0.0.1", port: this.#port }));
    this.#atStart = await this.#connected();
  }

  async #startMaster(clients: ClientHandler): Promise<number> {
    const { executor } = this.#options;
    if (executor !== undefined) {
      const scene = await SessionScene.open({ clients, ...executor });
      this.#close = () => scene.close();
      return scene.port;
    }
    const open: SessionHandler["open"] = (session) => {
      session.fail("there are none");
      this.#met.put("session");
    };
    const { server } = await startMaster({ sessions: { ...noSessions, open }, clients });
    this.#close = () => server.close(0);
    return server.port;
  }

  /** Resolves when so many have come to follow it, or to ask whether they may open sessions. */
  async met(what: "follower" | "session", times: number): Promise<void> {
    for (let met = 0; met < times; met += 1) await this.#met.next((one) => one === what);
  }

  /** Its last status is written, its followers are told, and its process ends. */
  async end(result: JobResult, words = "enough"): Promise<void> {
    const nowMs = submittedAtMs(this.id) + 60_000;
    const outcome = { ...endedBecause(result, { code: "stop-requested", words }), endedAtMs: nowMs };
    this.status = { ...this.status, nowMs, state: result, outcome };
    writeFileSync(path.join(this.#folder, localFiles.status), JSON.stringify(this.status));
    this.#process.kill("SIGKILL");
    for (const follower of this.#followers) {
      follower.status(jobStatus.encode(this.status));
      follower.outcome(jobOutcome.encode(outcome));
    }
  }

  /** Resolves when only those are connected with its ApplicationMaster who were at its start. */
  async left(): Promise<void> {
    await eventually(`all to leave ${this.id}`, async () => (await this.#connected()) <= this.#atStart, 3_000);
  }

  async #connected(): Promise<number> {
    return (await tcpSockets()).filter(({ remotePort, uid }) => remotePort === this.#port && uid !== undefined).length;
  }

  async stop(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#close();
  }

  #follow(follower: Follower): () => void {
    this.#followers.add(follower);
    follower.status(jobStatus.encode(this.status));
    this.#met.put("follower");
    return () => this.#followers.delete(follower);
  }

  #readLog({ task, stream, offset }: LogWanted, reader: LogReader): () => void {
    const data = Buffer.from(this.#options.logs?.[`${task} ${stream}`] ?? "");
    const from = offset < 0 ? Math.max(0, data.length + offset) : Math.min(offset, data.length);
    void reader.send({
      tailId: 0,
      stream,
      offset: from,
      data: data.subarray(from),
      end: true,
      generation: 1,
      skippedBytes: 0,
    });
    return () => undefined;
  }
}
