import path from "node:path/posix";
import { text } from "node:stream/consumers";
import { TonyError } from "../errors.ts";
import type { LocatedPath } from "../hadoop/hdfs/file-systems.ts";
import { ifThere, listIfThere } from "../hadoop/hdfs/if-there.ts";
import type { JobStatus } from "../job/status.ts";

const mostKept = 200;
const longestKeptMs = 30 * 24 * 3_600_000;

/**
 * How a user's jobs ended: the last status of each, outcome included, in `history-<user>/<applicationId>.json` beside the staging folders,
 * which are removed with their jobs. The newest are kept, for a month.
 */
export class EndedJobs {
  readonly #root: LocatedPath;
  readonly #user: string;
  readonly #folder: string;

  /** @param root the folder that contains the user's staging folders */
  constructor(root: LocatedPath, user: string) {
    this.#root = root;
    this.#user = user;
    this.#folder = path.join(root.path, `history-${user}`);
  }

  /**
   * Writes a job's last status, or writes it again, as its ApplicationMaster does; a reader always finds a complete one.
   * @throws TonyError `HISTORY_NOT_OURS` if somebody else created the folder first
   */
  async keep(status: JobStatus): Promise<void> {
    await this.#write(this.#fileOf(status.applicationId), JSON.stringify(status));
  }

  /**
   * The same for a status that an ApplicationMaster left before the end. It never replaces the final status, which may be being written
   * right now.
   */
  async keepLeft(status: JobStatus): Promise<void> {
    await this.#write(this.#fileOf(status.applicationId), JSON.stringify(status), "left");
  }

  /** The same for the location of a job's checkpoints, if nobody could write the job's last status. */
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

  /** Anybody may create a folder beside the staging folders. */
  async #checkOwner(): Promise<void> {
    const { owner } = await this.#root.fileSystem.stat(this.#folder);
    if (owner === this.#user) return;
    throw new TonyError(`${this.#folder} belongs to ${owner}, not to ${this.#user}`, { code: "HISTORY_NOT_OURS" });
  }

  /** The last status of a job, as JSON; undefined when none was kept. @throws TonyError `HISTORY_NOT_OURS` */
  find(applicationId: string): Promise<string | undefined> {
    return this.#read(this.#fileOf(applicationId));
  }

  /** Removes entries that are too old, or beyond the maximum number. */
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
