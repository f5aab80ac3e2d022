import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { appendFile, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import { partName, UNFINISHED_RESULTS } from "../../src/job/feeds/plan.ts";

/** The same as for programs that write to HDFS by themselves. */
const FILE_PERMISSION = 0o640;
const FOLDER_PERMISSION = 0o750;

/** What a program makes of its splits: kept on this machine until it has used a split, then stored as a file where results are kept. */
export class SplitResults {
  readonly #folder: string;

  /** @param folder a new one, used by this process alone */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async add(lease: number, rows: Uint8Array): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await appendFile(this.#file(lease), rows, { mode: 0o600 });
  }

  /**
   * Stores all of it where results are kept, whole or not at all. Results of the split that are already there stay: they were made by a
   * task that lost it to this one, or got it from this one.
   */
  async store(lease: number, split: number, { fileSystem, path: output }: LocatedPath): Promise<void> {
    await this.add(lease, new Uint8Array());
    const part = path.posix.join(output, partName(split));
    const unfinished = path.posix.join(output, UNFINISHED_RESULTS);
    const draft = path.posix.join(unfinished, randomUUID());
    await fileSystem.mkdirs(unfinished, FOLDER_PERMISSION);
    const content = { open: () => createReadStream(this.#file(lease)) };
    await fileSystem.create(draft, content, { permission: FILE_PERMISSION });
    const isOurs = await fileSystem.rename(draft, part);
    if (!isOurs) await ifThere(fileSystem.delete(draft));
  }

  async drop(lease: number): Promise<void> {
    await rm(this.#file(lease), { force: true });
  }

  async dropAll(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  #file(lease: number): string {
    return path.join(this.#folder, String(lease));
  }
}
