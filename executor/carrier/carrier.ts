import { mkdirSync, type Stats, statSync } from "node:fs";
import path from "node:path";
import { TonyError } from "../../src/errors.ts";
import { within } from "../../src/hadoop/clock.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { type FileSystems, splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import type { Checkpoint } from "../../src/job/execution.ts";
import { CARRIER_FOLDER, generationFiles } from "../../src/job/launch/container-names.ts";
import { ShapeError } from "../../src/job/shape.ts";
import type { CarrierSpec } from "../../src/job/spec.ts";
import type { Transfer } from "../../src/job/status.ts";
import { folderOfTask, parseCarriedName } from "../../src/job/stored/carried-names.ts";
import type { WholeCheckpoint } from "../../src/job/stored/stored-checkpoints.ts";
import type { TaskName } from "../../src/job/task.ts";
import type { Log } from "../../src/log.ts";
import type { ProgressReport } from "../monitoring/progress-file.ts";
import { CheckpointCarrier } from "./checkpoint-carrier.ts";
import type { Gate } from "./gate.ts";
import { nameWithin } from "./local-files.ts";
import { OutputCarrier } from "./output-carrier.ts";
import { Pace } from "./pace.ts";
import { persistently } from "./persist.ts";
import { clearFolder, restoreCheckpoint } from "./restore.ts";

export interface CarrierOptions {
  readonly spec: CarrierSpec;
  /** `tony.application.checkpoint-dir` */
  readonly checkpointDir: string | undefined;
  /** `tony.application.resume-from` */
  readonly resumeFrom: string | undefined;
  /** A search's trials may go on from the checkpoints of a search that it resumes. */
  readonly isSearch: boolean;
  readonly applicationId: string;
  readonly task: TaskName;
  /** The container's. */
  readonly workFolder: string;
  readonly fileSystems: Pick<FileSystems, "locate">;
  /** Closed while nothing may be uploaded. */
  readonly gate: Gate;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly report: (generation: number, report: ProgressReport) => void;
  readonly transferred: (transfer: Transfer) => void;
}

/** How long an upload that is given up has to report that. */
const GIVING_UP_MS = 2_000;

/** Faults that are the same on every machine. */
const UNUSABLE_CODES = ["CHECKPOINT_DAMAGED", "FOLDER_IS_A_LINK", "FILE_NOT_FOUND"];

function isUnusable(error: unknown): boolean {
  return (
    error instanceof SyntaxError ||
    error instanceof ShapeError ||
    UNUSABLE_CODES.some((code) => code === errorCode(error))
  );
}

/** Uploads a task's checkpoints and output, and downloads a checkpoint before its program starts. */
export class Carrier {
  readonly #options: CarrierOptions;
  readonly #checkpoints: CheckpointCarrier | undefined;
  readonly #output: OutputCarrier | undefined;
  /** The program's last report, unchanged. */
  #heard: ProgressReport | undefined;
  /** The latest uploaded checkpoint. */
  #carried: Checkpoint | undefined;
  #restoring = new AbortController();
  #restored: Promise<unknown> = Promise.resolve();
  #ran = false;

  /** Throws a ConfigurationError when the job's configuration has no way to reach one of the folders. */
  constructor(options: CarrierOptions) {
    this.#options = options;
    const { spec, checkpointDir, fileSystems, nowMs, random, log } = options;
    const pace = new Pace(spec.bytesPerSecond, nowMs);
    const { gate, workFolder, transferred: report } = options;
    const common = { workFolder, pace, gate, log, nowMs, random, report };
    if (spec.checkpoints !== undefined && checkpointDir !== undefined) {
      this.#checkpoints = new CheckpointCarrier({
        ...common,
        localDir: this.#local(spec.checkpoints.localDir),
        holdFolder: path.join(options.workFolder, CARRIER_FOLDER, "held"),
        folder: fileSystems.locate(this.#destination(checkpointDir)),
        keep: spec.checkpoints.keep,
        carried: (checkpoint, generation) => this.#isCarried(checkpoint, generation),
      });
    }
    if (spec.output !== undefined) {
      const folder = fileSystems.locate(this.#destination(spec.output.dir));
      const { localDir: shownDir } = spec.output;
      this.#output = new OutputCarrier({ ...common, localDir: this.#local(shownDir), shownDir, folder });
    }
  }

  /** The latest uploaded checkpoint, for an ApplicationMaster that has not been told of it. */
  get news(): ProgressReport | undefined {
    return this.#carried && { type: "child-progress", step: 0, atMs: this.#carried.atMs, checkpoint: this.#carried };
  }

  /**
   * Turns a program's report into the one for the ApplicationMaster: a checkpoint in the upload folder is reported only once it has been
   * uploaded, which begins now.
   */
  heard(generation: number, report: ProgressReport): ProgressReport {
    const before = this.#heard?.checkpoint;
    const { checkpoint: saved, ...progress } = report;
    this.#heard = report;
    if (this.#checkpoints === undefined || saved === undefined) return report;
    const name = nameWithin(this.#localDir, saved.path, this.#options.workFolder);
    if (name === undefined) return report;
    if (before?.path !== saved.path || before.step !== saved.step || before.atMs !== saved.atMs) {
      this.#checkpoints.offer(name, saved, generation, this.#progressFile(generation));
    }
    return this.#carried === undefined ? progress : { ...progress, checkpoint: this.#carried };
  }

  /**
   * Prepares the folders for a program that is about to start.
   * @param checkpoint the one to resume from
   * @returns its path in the container, or its original place where it is not downloaded
   */
  async begin(checkpoint: string): Promise<string> {
    const work = this.#restored.then(() => this.#prepareFolders(checkpoint));
    this.#restored = work.catch(() => undefined);
    return await work;
  }

  /** The program that was to start is stopped: the download ends. */
  abandonStart(): void {
    this.#restoring.abort(new Error("it was stopped"));
    this.#restoring = new AbortController();
  }

  programEnded(leftovers?: Promise<string>): void {
    this.#output?.programEnded(leftovers);
  }

  /**
   * Waits until everything is uploaded, at most for `tony.carrier.timeout`.
   * @param last the executor exits afterwards: uploads that are not done by then are given up
   */
  async settle({ last }: { readonly last: boolean }): Promise<void> {
    const { timeoutMs } = this.#options.spec;
    const settled = Promise.all([this.#checkpoints?.settled(), this.#output?.settled()]);
    if ((await within(timeoutMs, settled)) || !last) return;
    this.giveUp(`it took longer than ${timeoutMs / 1000} s (tony.carrier.timeout)`);
    await within(GIVING_UP_MS, settled);
  }

  /** Ends current and later uploads with that reason. */
  giveUp(reason: string): void {
    for (const one of [this.#checkpoints, this.#output]) one?.giveUp(reason);
  }

  async #prepareFolders(checkpoint: string): Promise<string> {
    const { spec, log, fileSystems, random, workFolder, transferred, nowMs } = this.#options;
    const wasHere = this.#ran;
    this.#ran = true;
    this.#heard = undefined;
    if (spec.output !== undefined) mkdirSync(this.#local(spec.output.localDir), { recursive: true });
    if (this.#checkpoints === undefined) return checkpoint;
    mkdirSync(this.#localDir, { recursive: true });
    if (!this.#isBroughtBack(checkpoint)) {
      if (wasHere) await clearFolder(this.#localDir);
      return checkpoint;
    }
    const signal = AbortSignal.any([this.#restoring.signal, AbortSignal.timeout(spec.timeoutMs)]);
    const { fileSystem, path: source } = fileSystems.locate(checkpoint);
    const scratch = path.join(workFolder, CARRIER_FOLDER, "restoring");
    const passed = (damaged: string, why: string, taken: WholeCheckpoint) => {
      log.warn("checkpoint-passed", `${damaged} cannot be used, another one of its task is taken: ${why}.`);
      const { step, files } = taken.manifest;
      transferred({
        ...{ what: "restored", state: "done", url: `${fileSystem.uri}${taken.path}`, step, atMs: nowMs() },
        files: files.length,
        bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
        reason: `began with the checkpoint of step ${step}, as a later one cannot be used: ${why}`,
      });
    };
    const restore = { fileSystem, checkpoint: source, localDir: this.#localDir, scratch, signal, passed };
    const failed = (error: unknown) =>
      log.warn("restore-again", `Downloading ${checkpoint} failed and is tried again: ${errorMessage(error)}.`);
    const persistence = { random, failed, isFinal: isUnusable };
    const restored = await persistently(() => restoreCheckpoint(restore), signal, persistence).catch((cause) => {
      const why = errorMessage(signal.aborted ? signal.reason : cause);
      const code = !signal.aborted && isUnusable(cause) ? "CHECKPOINT_UNUSABLE" : "CHECKPOINT_NOT_RESTORED";
      throw new TonyError(`${checkpoint} could not be downloaded: ${why}`, { code, cause });
    });
    log.info("checkpoint-restored", `${checkpoint} is downloaded to ${restored}.`);
    return restored;
  }

  #isCarried(checkpoint: Checkpoint, generation: number): void {
    this.#carried = checkpoint;
    const { step = checkpoint.step, atMs = checkpoint.atMs } = this.#heard ?? {};
    this.#options.report(generation, { type: "child-progress", step, atMs, checkpoint });
  }

  /**
   * Whether it is at an address that an executor can read. A plain path belongs to the nodes themselves, as does a `file:` address,
   * which they share.
   */
  #isOnFileSystem(checkpoint: string): boolean {
    const scheme = splitUri(checkpoint)?.root.scheme;
    try {
      return scheme !== undefined && scheme !== "file" && this.#options.fileSystems.locate(checkpoint).path !== "";
    } catch {
      return false;
    }
  }

  /**
   * Whether an executor uploaded it, for this job or for one that this job goes on with; or this job resumes from a place that it can
   * read.
   */
  #isBroughtBack(checkpoint: string): boolean {
    const { checkpointDir, resumeFrom, applicationId, isSearch, fileSystems } = this.#options;
    if (checkpointDir === undefined) return false;
    const isCarried = parseCarriedName(path.posix.basename(checkpoint)) !== undefined;
    if (checkpoint === resumeFrom) return isCarried || this.#isOnFileSystem(checkpoint);
    if (!isCarried) return false;
    const jobs = fileSystems.locate(checkpointDir);
    const { fileSystem, path: source } = fileSystems.locate(checkpoint);
    const job = path.posix.join(source, "..", "..");
    const isKnown = isSearch || path.posix.basename(job) === applicationId;
    return fileSystem === jobs.fileSystem && path.posix.dirname(job) === jobs.path && isKnown;
  }

  #progressFile(generation: number): Stats | undefined {
    const file = path.join(this.#options.workFolder, generationFiles(generation).progress);
    return statSync(file, { throwIfNoEntry: false });
  }

  get #localDir(): string {
    return this.#local(this.#options.spec.checkpoints?.localDir ?? "");
  }

  #local(folder: string): string {
    return path.join(this.#options.workFolder, folder);
  }

  #destination(folder: string): string {
    return folderOfTask(folder, this.#options.applicationId, this.#options.task);
  }
}
