import { rmSync } from "node:fs";
import path from "node:path";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { Checkpoint, Transfer } from "../../src/job/status.ts";
import type { CarriedFile } from "../../src/job/stored/carried-lists.ts";
import { carriedName } from "../../src/job/stored/carried-names.ts";
import type { CarrierOptions } from "./carrier-options.ts";
import { checkpointFiles, holdFiles } from "./local-files.ts";
import { persistently } from "./persist.ts";
import { removeSurplus, uploadCheckpoint } from "./upload.ts";

export interface CheckpointCarrierOptions extends CarrierOptions {
  /** A folder on the same disk that only the carrier uses. */
  readonly holdFolder: string;
  /** How many are kept there. */
  readonly keep: number;
  /** A checkpoint was uploaded completely: `path` is its address. */
  readonly carried: (checkpoint: Checkpoint, generation: number) => void;
}

/** A checkpoint with names of its own (hard links), which the program cannot remove. */
interface Held {
  /** Relative to the program's folder. */
  readonly name: string;
  readonly saved: Checkpoint;
  readonly generation: number;
  readonly files: readonly CarriedFile[];
  readonly hold: string;
}

/**
 * Uploads checkpoints one at a time, the newest next: those that are reported during an upload replace each other. So at most two are kept
 * on the disk besides the program's own.
 */
export class CheckpointCarrier {
  readonly #options: CheckpointCarrierOptions;
  readonly #stop = new AbortController();
  #next: Held | undefined;
  #working: Promise<void> | undefined;

  constructor(options: CheckpointCarrierOptions) {
    this.#options = options;
  }

  /** The program has reported that the checkpoint of that name is complete. */
  offer(name: string, saved: Checkpoint, generation: number): void {
    const { localDir, holdFolder, log } = this.#options;
    const hold = path.join(holdFolder, carriedName(saved.step, saved.atMs));
    try {
      const files = checkpointFiles(localDir, name);
      holdFiles(localDir, files, hold);
      if (this.#next !== undefined) {
        log.info(
          "checkpoint-skipped",
          `The checkpoint of step ${this.#next.saved.step} is not uploaded: there is a newer one.`,
        );
        removeLinks(this.#next);
      }
      this.#next = { name, saved, generation, files, hold };
    } catch (error) {
      this.#report({ saved, files: [] }, "failed", errorMessage(error));
      return;
    }
    this.#working ??= this.#work();
  }

  /** Resolves when no checkpoint is being uploaded or waits to be. */
  async settled(): Promise<void> {
    await this.#working;
  }

  /** Ends the uploads with that reason. */
  giveUp(reason: string): void {
    this.#stop.abort(new Error(reason));
  }

  async #work(): Promise<void> {
    for (let held = this.#next; held !== undefined; held = this.#next) {
      this.#next = undefined;
      await this.#carry(held);
      removeLinks(held);
    }
    this.#working = undefined;
  }

  async #carry(held: Held): Promise<void> {
    const { log, random, pause, gate, carried } = this.#options;
    const { saved, generation } = held;
    this.#report(held, "under-way");
    try {
      const persistence = {
        random,
        ...(pause && { pause }),
        failed: (error: unknown) => this.#failedOnce(held, error),
      };
      const upload = () => gate.through((signal) => this.#upload(held, signal), this.#stop.signal);
      await persistently(upload, this.#stop.signal, persistence);
    } catch (error) {
      const why = errorMessage(this.#stop.signal.aborted ? this.#stop.signal.reason : error);
      log.warn("checkpoint-not-carried", `The checkpoint of step ${saved.step} could not be uploaded: ${why}.`);
      this.#report(held, "failed", why);
      return;
    }
    log.info("checkpoint-carried", `The checkpoint of step ${saved.step} is in ${this.#address(saved)}.`);
    carried({ ...saved, path: this.#address(saved) }, generation);
    this.#report(held, "done");
    await this.#removeSurplus();
  }

  #failedOnce({ saved }: Held, error: unknown): void {
    const words = `Uploading the checkpoint of step ${saved.step} failed and is tried again: ${errorMessage(error)}.`;
    this.#options.log.warn("checkpoint-again", words);
  }

  async #upload({ name: localName, saved, files, hold }: Held, signal: AbortSignal): Promise<void> {
    const { folder, pace } = this.#options;
    const { fileSystem, path: target } = folder;
    const name = carriedName(saved.step, saved.atMs);
    await uploadCheckpoint(
      { fileSystem, source: hold, files, folder: target, name, pace, signal },
      { manifestVersion: 1, name: localName, step: saved.step, atMs: saved.atMs },
    );
  }

  /** What cannot be removed now is removed after the next upload. */
  async #removeSurplus(): Promise<void> {
    const { folder, keep, gate, log } = this.#options;
    const remove = (signal: AbortSignal) => removeSurplus(folder.fileSystem, folder.path, keep, signal);
    await gate.through(remove, this.#stop.signal).catch((error: unknown) => {
      log.warn(
        "checkpoints-not-removed",
        `Old checkpoints in ${folder.path} could not be removed yet: ${errorMessage(error)}.`,
      );
    });
  }

  #address({ step, atMs }: Checkpoint): string {
    const { fileSystem, path: folder } = this.#options.folder;
    return `${fileSystem.uri}${folder}/${carriedName(step, atMs)}`;
  }

  #report({ saved, files }: Pick<Held, "saved" | "files">, state: Transfer["state"], reason = ""): void {
    this.#options.report({
      what: "checkpoint",
      state,
      url: this.#address(saved),
      files: files.length,
      bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      step: saved.step,
      atMs: this.#options.nowMs(),
      reason,
    });
  }
}

function removeLinks({ hold }: Held): void {
  rmSync(hold, { recursive: true, force: true });
}
