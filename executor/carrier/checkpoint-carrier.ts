import type { Stats } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { shownNames } from "../../src/file-names.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { Checkpoint } from "../../src/job/execution.ts";
import type { Transfer } from "../../src/job/status.ts";
import { carriedName } from "../../src/job/stored/carried-names.ts";
import type { CarrierOptions } from "./carrier-options.ts";
import { checkpointFiles, type FoundTree, holdFiles, requireWrittenBefore } from "./local-files.ts";
import { persistently } from "./persist.ts";
import { removeSurplus, uploadCheckpoint } from "./upload.ts";

export interface CheckpointCarrierOptions extends CarrierOptions {
  /** A folder on the same disk that only the carrier uses. */
  readonly holdFolder: string;
  /** How many checkpoints are kept at the target. */
  readonly keep: number;
  /** A checkpoint was uploaded completely: `path` is its address. */
  readonly carried: (checkpoint: Checkpoint, generation: number) => void;
}

interface Offered {
  /** Relative to the program's folder. */
  readonly name: string;
  readonly saved: Checkpoint;
  readonly generation: number;
  /** The file that contained its report, if there is one. */
  readonly said: Stats | undefined;
}

/** A checkpoint under names of its own, which the program cannot remove. */
interface Held extends Offered, FoundTree {
  readonly hold: string;
}

/** Faults that another try does not change. */
function isFinal(error: unknown): boolean {
  return errorCode(error) === "FILE_CHANGED" || errorCode(error) === "FILE_UNREADABLE";
}

/**
 * Uploads checkpoints one at a time, the newest next: those reported during an upload replace each other. So at most two are kept on the
 * disk besides the program's own.
 */
export class CheckpointCarrier {
  readonly #options: CheckpointCarrierOptions;
  readonly #stop = new AbortController();
  #offered: Offered | undefined;
  #holding: Promise<void> | undefined;
  #next: Held | undefined;
  #working: Promise<void> | undefined;

  constructor(options: CheckpointCarrierOptions) {
    this.#options = options;
  }

  /** The program has reported that the checkpoint of that name is complete. */
  offer(name: string, saved: Checkpoint, generation: number, said?: Stats): void {
    if (this.#offered !== undefined) this.#skip(this.#offered);
    this.#offered = { name, saved, generation, said };
    this.#holding ??= this.#hold();
  }

  /** Resolves when no checkpoint is being uploaded or waits to be. */
  async settled(): Promise<void> {
    await this.#holding;
    await this.#working;
  }

  /** Ends the uploads with that reason. */
  giveUp(reason: string): void {
    this.#stop.abort(new Error(reason));
  }

  async #hold(): Promise<void> {
    const { localDir, workFolder, holdFolder } = this.#options;
    const { signal } = this.#stop;
    for (let offered = this.#offered; offered !== undefined; offered = this.#offered) {
      this.#offered = undefined;
      const { name, saved, said } = offered;
      const hold = path.join(holdFolder, carriedName(saved.step, saved.atMs));
      try {
        const found = await checkpointFiles({ folder: localDir, workFolder }, name, signal);
        if (said !== undefined) await requireWrittenBefore(said, localDir, found.files);
        const files = await holdFiles(localDir, found.files, hold, signal);
        await this.#holds({ ...offered, files, folders: found.folders, hold });
      } catch (error) {
        this.#failed({ saved, files: [] }, error);
        await removeHeld({ hold });
      }
    }
    this.#holding = undefined;
  }

  async #holds(held: Held): Promise<void> {
    const replaced = this.#next;
    this.#next = held;
    this.#working ??= this.#work();
    if (replaced === undefined) return;
    this.#skip(replaced);
    await removeHeld(replaced);
  }

  #skip({ saved }: Offered): void {
    const words = `The checkpoint of step ${saved.step} is not uploaded: there is a newer one.`;
    this.#options.log.info("checkpoint-skipped", words);
  }

  async #work(): Promise<void> {
    for (let held = this.#next; held !== undefined; held = this.#next) {
      this.#next = undefined;
      await this.#carry(held);
      await removeHeld(held);
    }
    this.#working = undefined;
  }

  #failed(checkpoint: Pick<Held, "saved" | "files">, error: unknown): void {
    const { step } = checkpoint.saved;
    const why = this.#stop.signal.aborted ? errorMessage(this.#stop.signal.reason) : whyNot(error);
    this.#options.log.warn("checkpoint-not-carried", `The checkpoint of step ${step} could not be uploaded: ${why}.`);
    this.#report(checkpoint, "failed", why);
  }

  async #carry(held: Held): Promise<void> {
    const { log, random, pause, gate, carried } = this.#options;
    const { saved, generation } = held;
    this.#report(held, "under-way");
    try {
      const persistence = {
        random,
        isFinal,
        ...(pause && { pause }),
        failed: (error: unknown) => this.#failedOnce(held, error),
      };
      const upload = () => gate.through((signal) => this.#upload(held, signal), this.#stop.signal);
      await persistently(upload, this.#stop.signal, persistence);
    } catch (error) {
      this.#failed(held, error);
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

  async #upload({ name: localName, saved, files, folders, hold }: Held, signal: AbortSignal): Promise<void> {
    const { folder, pace } = this.#options;
    const { fileSystem, path: target } = folder;
    const name = carriedName(saved.step, saved.atMs);
    await uploadCheckpoint(
      { fileSystem, source: hold, files, folders, folder: target, name, pace, signal },
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
      reason: shownNames(reason),
    });
  }
}

/** Addressed to the program's author, the only one who can mend it. */
function whyNot(error: unknown): string {
  if (errorCode(error) !== "FILE_CHANGED") return errorMessage(error);
  return `${errorMessage(error)}: save each checkpoint under a name of its own, or beside it and rename it`;
}

async function removeHeld({ hold }: Pick<Held, "hold">): Promise<void> {
  await rm(hold, { recursive: true, force: true });
}
