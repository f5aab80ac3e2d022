import { lstat } from "node:fs/promises";
import path from "node:path";
import { shownNames } from "../../src/file-names.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { Transfer } from "../../src/job/status.ts";
import type { CarriedFile } from "../../src/job/stored/carried-lists.ts";
import { NAMES } from "../../src/job/stored/carried-names.ts";
import type { CarrierOptions } from "./carrier-options.ts";
import { checkpointFiles, type FoundFiles, filesBelow } from "./local-files.ts";
import { persistently } from "./persist.ts";
import { uploadOutput } from "./upload.ts";

export interface OutputCarrierOptions extends CarrierOptions {
  /** `localDir` as the job names it. */
  readonly shownDir: string;
}

const nothing: FoundFiles = { files: [], folders: [], leftOut: [] };
const CHANGING_TRIES = 3;
const MOST_NAMED = 3;

/** Uploads a program's output when it has ended. */
export class OutputCarrier {
  readonly #options: OutputCarrierOptions;
  readonly #stop = new AbortController();
  #working: Promise<void> = Promise.resolve();

  constructor(options: OutputCarrierOptions) {
    this.#options = options;
  }

  /**
   * The program has ended. If it left no output, the output of its earlier run is kept.
   * @param leftovers resolves once its last processes have ended, with a remark about them
   */
  programEnded(leftovers = Promise.resolve("")): void {
    this.#working = this.#working.then(async () => await this.#bring(await leftovers));
  }

  /** Resolves when nothing is being uploaded. */
  async settled(): Promise<void> {
    await this.#working;
  }

  /** Ends the upload with that reason. */
  giveUp(reason: string): void {
    this.#stop.abort(new Error(reason));
  }

  async #bring(remark: string): Promise<void> {
    const { log, random, pause, gate } = this.#options;
    let found = nothing;
    let tries = 1;
    try {
      found = await outputFiles(this.#options, this.#stop.signal);
      if (found.files.length === 0 && found.leftOut.length === 0) {
        const why = `no file was left in ${this.#options.shownDir} (tony.output.local-dir)`;
        log.warn("output-none", `There is no output: ${why}.`);
        this.#report([], "empty", joined(why, remark));
        return;
      }
      this.#report(found.files, "under-way");
      const failed = (error: unknown, failures: number) => {
        tries = failures + 1;
        log.warn("output-again", `Uploading the output failed and is tried again: ${errorMessage(error)}.`);
      };
      const persistence = { random, ...(pause && { pause }), failed };
      const upload = () => gate.through((signal) => this.#upload(signal, tries), this.#stop.signal);
      found = await persistently(upload, this.#stop.signal, persistence);
    } catch (error) {
      const why = errorMessage(this.#stop.signal.aborted ? this.#stop.signal.reason : error);
      log.warn("output-not-carried", `The output could not be uploaded: ${why}.`);
      this.#report(found.files, "failed", joined(why, remark));
      return;
    }
    await this.#tellStored(found, remark);
  }

  async #tellStored({ files, leftOut }: Omit<FoundFiles, "folders">, remark: string): Promise<void> {
    const { log } = this.#options;
    for (const { path, stored } of files) {
      if (stored !== undefined) log.info("output-renamed", `${path} is stored as ${stored}.`);
    }
    for (const { path, why } of leftOut) log.warn("output-left-out", `${path} is not stored: ${why}.`);
    log.info("output-carried", `The output is in ${this.#url}.`);
    const lost = leftOut.filter(({ isLoss }) => isLoss);
    const words = joined(await this.#oneFileWords(), storedWords({ files, leftOut }), remark);
    this.#report(files, lost.length === 0 ? "done" : "incomplete", words);
  }

  async #oneFileWords(): Promise<string> {
    const { localDir, shownDir } = this.#options;
    return (await isFile(localDir)) ? `${shownDir} is a file, not a folder: it is stored alone` : "";
  }

  /** Lists the files again at each try: a process that the program left may have written meanwhile. */
  async #upload(signal: AbortSignal, tries: number): Promise<FoundFiles> {
    const { folder, pace } = this.#options;
    const { fileSystem, path: target } = folder;
    const [parent, name] = [path.posix.dirname(target), path.posix.basename(target)];
    const { source, files, folders, leftOut } = await outputFiles(this.#options, signal);
    const refusal = (error: unknown) => refusalWords(error, tries);
    return await uploadOutput({
      fileSystem,
      source,
      files,
      folders,
      leftOut,
      refusal,
      folder: parent,
      name,
      pace,
      signal,
    });
  }

  get #url(): string {
    const { fileSystem, path: folder } = this.#options.folder;
    return `${fileSystem.uri}${folder}`;
  }

  #report(files: readonly CarriedFile[], state: Transfer["state"], reason = ""): void {
    this.#options.report({
      what: "output",
      state,
      url: this.#url,
      files: files.length,
      bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      step: 0,
      atMs: this.#options.nowMs(),
      reason: shownNames(reason),
    });
  }
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("; ");
}

/** What the program left: the content of its folder or, where it made a file of that name, the file. */
async function outputFiles(
  { localDir, workFolder }: Pick<OutputCarrierOptions, "localDir" | "workFolder">,
  signal: AbortSignal,
): Promise<FoundFiles & { readonly source: string }> {
  if (await isFile(localDir)) {
    const source = path.dirname(localDir);
    const found = await checkpointFiles({ folder: source, workFolder }, path.basename(localDir), signal);
    return { ...found, leftOut: [], source };
  }
  const { files, folders, leftOut } = await filesBelow({ folder: localDir, workFolder }, signal);
  return { files, folders, leftOut, source: localDir };
}

async function isFile(place: string): Promise<boolean> {
  return (await lstat(place).catch(() => undefined))?.isFile() === true;
}

/**
 * A failure of one file alone: the others are stored without it. A file that keeps changing has had its chances in earlier tries.
 */
function refusalWords(error: unknown, tries: number): string | undefined {
  const code = errorCode(error);
  if (code === "INVALID_REQUEST" || code === "FILE_UNREADABLE") return errorMessage(error);
  return code === "FILE_CHANGED" && tries >= CHANGING_TRIES ? "it was written to during the upload" : undefined;
}

/** Losses first, then other omissions, then files stored under another name; the list beside the files has all of it. */
function storedWords({ files, leftOut }: Omit<FoundFiles, "folders">): string {
  const renamed = files.flatMap(({ path, stored }) => (stored === undefined ? [] : [`${path} is stored as ${stored}`]));
  const lossesFirst = [...leftOut].sort((a, b) => Number(b.isLoss) - Number(a.isLoss));
  const missing = lossesFirst.map(({ path, why }) => `${path} is not stored: ${why}`);
  const named = [...missing, ...renamed].slice(0, MOST_NAMED);
  const moreMissing = Math.max(0, missing.length - MOST_NAMED);
  const moreRenamed = missing.length + renamed.length - named.length - moreMissing;
  const more = [
    ...(moreMissing > 0 ? [`${moreMissing} more not stored`] : []),
    ...(moreRenamed > 0 ? [`${moreRenamed} more stored under another name`] : []),
  ];
  return [...named, ...(more.length > 0 ? [`${more.join(", ")}: see ${NAMES}`] : [])].join("; ");
}
