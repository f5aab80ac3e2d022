import { mkdirSync } from "node:fs";
import path from "node:path";
import { TonyError } from "../../src/errors.ts";
import { within } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import type { CarrierSpec } from "../../src/job/spec.ts";
import type { Checkpoint, Transfer } from "../../src/job/status.ts";
import type { TaskName } from "../../src/job/task.ts";
import type { Log } from "../../src/log.ts";
import type { ProgressReport } from "../hooks/progress-file.ts";
import { CheckpointCarrier } from "./checkpoint-carrier.ts";
import type { Gate } from "./gate.ts";
import { nameWithin } from "./local-files.ts";
import { folderOfTask, parseCarriedName } from "./names.ts";
import { OutputCarrier } from "./output-carrier.ts";
import { Pace } from "./pace.ts";
import { persistently } from "./persist.ts";
import { clearFolder, restoreCheckpoint } from "./restore.ts";

export interface CarrierOptions {
  readonly spec: CarrierSpec;
  /** `tony.application.checkpoint-dir` */
  readonly checkpointDir: string | undefined;
  readonly applicationId: string;
  readonly task: TaskName;
  /** The container's. */
  readonly workFolder: string;
  readonly fileSystems: Pick<FileSystems, "locate">;
  /** Closed while nothing may be brought up. */
  readonly gate: Gate;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly report: (generation: number, report: ProgressReport) => void;
  readonly transferred: (transfer: Transfer) => void;
}

/** The carrier's own folder in the container's working directory. */
const OWN_FOLDER = ".tony-carrier";
/** What is given up has said so by then. */
const LAST_WORDS_MS = 2_000;

/** Brings what a task's programs save and leave to where it stays, and a checkpoint back before a program starts. */
export class Carrier {
  readonly #options: CarrierOptions;
  readonly #checkpoints: CheckpointCarrier | undefined;
  readonly #output: OutputCarrier | undefined;
  /** What the program said last, as it said it. */
  #heard: ProgressReport | undefined;
  /** The furthest that is where it stays. */
  #carried: Checkpoint | undefined;
  #restoring = new AbortController();
  #restored: Promise<unknown> = Promise.resolve();
  #ran = false;

  /** Throws a ConfigurationError when a place cannot be reached from here by any means. */
  constructor(options: CarrierOptions) {
    this.#options = options;
    const { spec, checkpointDir, fileSystems, nowMs, random, log } = options;
    const pace = new Pace(spec.bytesPerSecond, nowMs);
    const common = { pace, gate: options.gate, log, nowMs, random, report: options.transferred };
    if (spec.checkpoints !== undefined && checkpointDir !== undefined) {
      this.#checkpoints = new CheckpointCarrier({
        ...common,
        localDir: this.#local(spec.checkpoints.localDir),
        holdFolder: path.join(options.workFolder, OWN_FOLDER, "held"),
        folder: fileSystems.locate(this.#stays(checkpointDir)),
        keep: spec.checkpoints.keep,
        carried: (checkpoint, generation) => this.#isCarried(checkpoint, generation),
      });
    }
    if (spec.output !== undefined) {
      const folder = fileSystems.locate(this.#stays(spec.output.dir));
      this.#output = new OutputCarrier({ ...common, localDir: this.#local(spec.output.localDir), folder });
    }
  }

  /** What is known last of checkpoints that stay, for an ApplicationMaster that has not heard it. */
  get news(): ProgressReport | undefined {
    return this.#carried && { type: "child-progress", step: 0, atMs: this.#carried.atMs, checkpoint: this.#carried };
  }

  /**
   * What the ApplicationMaster is to hear of a program's progress: a checkpoint in the folder that is carried counts when it is where it
   * stays, and is brought there now.
   */
  heard(generation: number, report: ProgressReport): ProgressReport {
    const before = this.#heard?.checkpoint;
    const { checkpoint: saved, ...progress } = report;
    this.#heard = report;
    if (this.#checkpoints === undefined || saved === undefined) return report;
    const name = nameWithin(this.#localDir, saved.path, this.#options.workFolder);
    if (name === undefined) return report;
    if (before?.path !== saved.path || before.step !== saved.step || before.atMs !== saved.atMs) {
      this.#checkpoints.offer(name, saved, generation);
    }
    return this.#carried === undefined ? progress : { ...progress, checkpoint: this.#carried };
  }

  /**
   * Makes the folders ready for a program that is about to start.
   * @param checkpoint what it is told to go on from
   * @returns the same as it can read it
   */
  async begin(checkpoint: string): Promise<string> {
    const work = this.#restored.then(() => this.#prepareFolders(checkpoint));
    this.#restored = work.catch(() => undefined);
    return await work;
  }

  /** The program that is about to start is not wanted any more: what is being brought back is left. */
  abandonStart(): void {
    this.#restoring.abort(new Error("it was stopped"));
    this.#restoring = new AbortController();
  }

  programEnded(): void {
    this.#output?.programEnded();
  }

  /**
   * Waits until everything is where it stays, at most as long as `tony.carrier.timeout` says.
   * @param last nothing comes after it: what is not there by then is given up
   */
  async settle({ last }: { readonly last: boolean }): Promise<void> {
    const { timeoutMs } = this.#options.spec;
    const settled = Promise.all([this.#checkpoints?.settled(), this.#output?.settled()]);
    if ((await within(timeoutMs, settled)) || !last) return;
    this.giveUp(`it took longer than ${timeoutMs / 1000} s (tony.carrier.timeout)`);
    await within(LAST_WORDS_MS, settled);
  }

  /** What is under way fails for that reason, and so does whatever comes. */
  giveUp(reason: string): void {
    for (const one of [this.#checkpoints, this.#output]) one?.giveUp(reason);
  }

  async #prepareFolders(checkpoint: string): Promise<string> {
    const { spec, log, fileSystems, random, workFolder } = this.#options;
    const wasHere = this.#ran;
    this.#ran = true;
    this.#heard = undefined;
    if (spec.output !== undefined) mkdirSync(this.#local(spec.output.localDir), { recursive: true });
    if (this.#checkpoints === undefined) return checkpoint;
    mkdirSync(this.#localDir, { recursive: true });
    if (!this.#isOurs(checkpoint)) {
      if (wasHere) await clearFolder(this.#localDir);
      return checkpoint;
    }
    const signal = AbortSignal.any([this.#restoring.signal, AbortSignal.timeout(spec.timeoutMs)]);
    const { fileSystem, path: source } = fileSystems.locate(checkpoint);
    const scratch = path.join(workFolder, OWN_FOLDER, "restoring");
    const restore = { fileSystem, checkpoint: source, localDir: this.#localDir, scratch, signal };
    const failed = (error: unknown) =>
      log.warn("restore-again", `Bringing back ${checkpoint} is tried again: ${errorMessage(error)}.`);
    const restored = await persistently(() => restoreCheckpoint(restore), signal, { random, failed }).catch((cause) => {
      const why = errorMessage(signal.aborted ? signal.reason : cause);
      throw new TonyError(`${checkpoint} could not be brought back: ${why}`, {
        code: "CHECKPOINT_NOT_RESTORED",
        cause,
      });
    });
    log.info("checkpoint-restored", `${checkpoint} is brought back to ${restored}.`);
    return restored;
  }

  #isCarried(checkpoint: Checkpoint, generation: number): void {
    this.#carried = checkpoint;
    const { step = checkpoint.step, atMs = checkpoint.atMs } = this.#heard ?? {};
    this.#options.report(generation, { type: "child-progress", step, atMs, checkpoint });
  }

  /** Whether it was carried there for this job, by any of its tasks. */
  #isOurs(checkpoint: string): boolean {
    const { checkpointDir, applicationId, fileSystems } = this.#options;
    if (checkpointDir === undefined || parseCarriedName(path.posix.basename(checkpoint)) === undefined) return false;
    const job = fileSystems.locate(`${checkpointDir}/${applicationId}`);
    const { fileSystem, path: folder } = fileSystems.locate(checkpoint);
    return fileSystem === job.fileSystem && path.posix.dirname(path.posix.dirname(folder)) === job.path;
  }

  get #localDir(): string {
    return this.#local(this.#options.spec.checkpoints?.localDir ?? "");
  }

  #local(folder: string): string {
    return path.join(this.#options.workFolder, folder);
  }

  #stays(folder: string): string {
    return folderOfTask(folder, this.#options.applicationId, this.#options.task);
  }
}
