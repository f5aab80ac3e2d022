import path from "node:path/posix";
import { text } from "node:stream/consumers";
import { TonyError } from "../errors.ts";
import type { LocatedPath } from "../hadoop/hdfs/file-systems.ts";
import { ifThere, listIfThere } from "../hadoop/hdfs/if-there.ts";
import type { JobStatus } from "../job/status.ts";

const mostKept = 200;
const longestKeptMs = 30 * 24 * 3_600_000;

/**
 * How a user's jobs ended: the last status of each, outcome included, in `history-<user>/<applicationId>.json` beside the staging
 * folders, which go with their jobs. The newest are kept, for a month.
 */
export class EndedJobs {
  readonly #root: LocatedPath;
  readonly #user: string;
  readonly #folder: string;

  /** @param root the folder above the user's staging folders */
  constructor(root: LocatedPath, user: string) {
    this.#root = root;
    this.#user = user;
    this.#folder = path.join(root.path, `history-${user}`);
  }

  /**
   * Writes a job's last status, or writes it again, as its ApplicationMaster does; whoever reads it finds the whole of it.
   * @throws TonyError `HISTORY_NOT_OURS` where somebody else made the folder first
   */
  async keep(status: JobStatus): Promise<void> {
    await this.#write(this.#fileOf(status.applicationId), JSON.stringify(status));
  }

  /** The same of what an ApplicationMaster left before its end, which never replaces its last word: that may be written just now. */
  async keepLeft(status: JobStatus): Promise<void> {
    await this.#write(this.#fileOf(status.applicationId), JSON.stringify(status), "left");
  }

  /** The same of where a job's checkpoints are, whose last status nobody could write. */
  async keepCheckpointDir(applicationId: string, address: string): Promise<void> {
    await this.#write(this.#checkpointDirOf(applicationId), address);
  }

  /** Undefined when none was kept. @throws TonyError `HISTORY_NOT_OURS` */
  checkpointDir(applicationId: string): Promise<string | undefined> {
    return this.#read(this.#checkpointDirOf(applicationId));
  }

  async #read(file: string): Promise<string | undefined> {
    const content = await ifThere(this.#root.fileSystem.open(file).then((stream) => text(stream)));
    if (content !== undefined) await this.#checkOwner();
    return content;
  }

  async #write(target: string, content: string, word: "last" | "left" = "last"): Promise<void> {
    const { fileSystem } = this.#root;
    await fileSystem.mkdirs(this.#folder, 0o700);
    await this.#checkOwner();
    const draft = word === "last" ? `${target}.tmp` : `${target}.left.tmp`;
    await fileSystem.create(draft, Buffer.from(content), { permission: 0o600, overwrite: true });
    const isNews = await fileSystem.rename(draft, target, { overwrite: word === "last" });
    if (!isNews) await fileSystem.delete(draft);
  }

  /** Everybody may make a folder beside the staging folders. */
  async #checkOwner(): Promise<void> {
    const { owner } = await this.#root.fileSystem.stat(this.#folder);
    if (owner === this.#user) return;
    throw new TonyError(`${this.#folder} belongs to ${owner}, not to ${this.#user}`, { code: "HISTORY_NOT_OURS" });
  }

  /** The last status of a job, as JSON; undefined when none was kept. @throws TonyError `HISTORY_NOT_OURS` */
  find(applicationId: string): Promise<string | undefined> {
    return this.#read(this.#fileOf(applicationId));
  }

  /** Removes what is too old or too much. */
  async prune(nowMs: number): Promise<void> {
    const files = await listIfThere(this.#root.fileSystem, this.#folder);
    const newestFirst = files.toSorted((a, b) => b.modificationTimeMs - a.modificationTimeMs);
    for (const [index, file] of newestFirst.entries()) {
      const keep = index < mostKept && nowMs - file.modificationTimeMs < longestKeptMs;
      if (!keep) await this.#root.fileSystem.delete(file.path);
    }
  }

  #checkpointDirOf(applicationId: string): string {
    return path.join(this.#folder, `${applicationId}.checkpoint-dir`);
  }

  #fileOf(applicationId: string): string {
    return path.join(this.#folder, `${applicationId}.json`);
  }
}
