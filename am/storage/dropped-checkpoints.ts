import { errorMessage } from "../../src/hadoop/errors.ts";
import type { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { folderOfTask } from "../../src/job/stored/carried-names.ts";
import { parseTaskId } from "../../src/job/task.ts";
import type { Log } from "../../src/log.ts";

export interface DroppedCheckpointsOptions {
  readonly spec: Pick<JobSpec, "checkpointDir">;
  readonly applicationId: string;
  readonly fileSystems: Pick<FileSystems, "locate">;
  readonly log: Log;
}

/** How many folders are removed in parallel. */
const AT_ONCE = 8;

/**
 * Removes the stored checkpoints of tasks that no longer need any. What cannot be removed is logged, and tried again when its removal is
 * requested again.
 */
export class DroppedCheckpoints {
  readonly #options: DroppedCheckpointsOptions;
  readonly #removed = new Set<string>();
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(options: DroppedCheckpointsOptions) {
    this.#options = options;
  }

  /** Resolves when everything requested is removed, or logged. @param tasks their ids */
  async remove(tasks: readonly string[]): Promise<void> {
    this.#underWay = this.#underWay.then(() => this.#removeAll(tasks));
    await this.#underWay;
  }

  async #removeAll(tasks: readonly string[]): Promise<void> {
    const left = tasks.filter((task) => !this.#removed.has(task));
    const removeNext = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await this.#removeOf(next);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, removeNext));
  }

  async #removeOf(id: string): Promise<void> {
    const { spec, applicationId, fileSystems, log } = this.#options;
    const task = parseTaskId(id);
    if (spec.checkpointDir === undefined || task === undefined) return;
    const folder = folderOfTask(spec.checkpointDir, applicationId, task);
    try {
      const { fileSystem, path } = fileSystems.locate(folder);
      await fileSystem.delete(path, { recursive: true });
      this.#removed.add(id);
    } catch (error) {
      const words = `The checkpoints of ${id} could not be removed, and stay in ${folder}: ${errorMessage(error)}.`;
      log.warn("checkpoints-not-removed", words, { task: id });
    }
  }
}
