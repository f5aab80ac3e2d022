import path from "node:path";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { Transfer } from "../../src/job/status.ts";
import type { CarrierOptions } from "./carrier-options.ts";
import { filesBelow, type LocalFile } from "./local-files.ts";
import { persistently } from "./persist.ts";
import { uploadOutput } from "./upload.ts";

/** Uploads a program's output when it has ended. */
export class OutputCarrier {
  readonly #options: CarrierOptions;
  readonly #stop = new AbortController();
  #working: Promise<void> = Promise.resolve();

  constructor(options: CarrierOptions) {
    this.#options = options;
  }

  /** The program has ended. If it left no output, the output of its earlier run is kept. */
  programEnded(): void {
    this.#working = this.#working.then(() => this.#bring());
  }

  /** Resolves when nothing is being uploaded. */
  async settled(): Promise<void> {
    await this.#working;
  }

  /** Ends the upload with that reason. */
  giveUp(reason: string): void {
    this.#stop.abort(new Error(reason));
  }

  async #bring(): Promise<void> {
    const { log, random, pause, gate } = this.#options;
    let files: readonly LocalFile[] = [];
    try {
      files = filesBelow(this.#options.localDir);
      if (files.length === 0) return;
      this.#report(files, "under-way");
      const failed = (error: unknown) =>
        log.warn("output-again", `Uploading the output failed and is tried again: ${errorMessage(error)}.`);
      const persistence = { random, ...(pause && { pause }), failed };
      const upload = () => gate.through((signal) => this.#upload(signal), this.#stop.signal);
      await persistently(upload, this.#stop.signal, persistence);
      log.info("output-carried", `The output is in ${this.#url}.`);
      this.#report(files, "done");
    } catch (error) {
      const why = errorMessage(this.#stop.signal.aborted ? this.#stop.signal.reason : error);
      log.warn("output-not-carried", `The output could not be uploaded: ${why}.`);
      this.#report(files, "failed", why);
    }
  }

  /** Lists the files again at each try: a process that the program left may have written meanwhile. */
  async #upload(signal: AbortSignal): Promise<void> {
    const { localDir, folder, pace } = this.#options;
    const { fileSystem, path: target } = folder;
    const [parent, name] = [path.posix.dirname(target), path.posix.basename(target)];
    const files = filesBelow(localDir);
    await uploadOutput({ fileSystem, source: localDir, files, folder: parent, name, pace, signal });
  }

  get #url(): string {
    const { fileSystem, path: folder } = this.#options.folder;
    return `${fileSystem.uri}${folder}`;
  }

  #report(files: readonly LocalFile[], state: Transfer["state"], reason = ""): void {
    this.#options.report({
      what: "output",
      state,
      url: this.#url,
      files: files.length,
      bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      step: 0,
      atMs: this.#options.nowMs(),
      reason,
    });
  }
}
