import path from "node:path";
import { text } from "node:stream/consumers";
import { formatHostPort } from "../src/hadoop/conf/values.ts";
import type { FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import { count, object, string } from "../src/job/shape.ts";
import type { StagingLocation } from "../src/job/staging-location.ts";
import { filesNewestFirst, readEntry } from "../src/journal/reader.ts";
import { isReplaced, type TaskLife } from "../src/journal/task-life.ts";
import { openFileSystems } from "./file-systems.ts";
import type { MasterAddress } from "./master-address.ts";

/** What one look into the staging folder tells. */
export interface StagingNews {
  /** Where the newest attempt of the ApplicationMaster says it is; absent when none has said so. */
  readonly master?: MasterAddress;
  /** The task has gone on to a later life in another container. */
  readonly isReplaced: boolean;
}

/** `am-<attempt>.json`: what each attempt of the ApplicationMaster leaves in the staging folder. */
const addressFile = /^am-(\d+)\.json$/;
const announced = object<{ attempt: number; host: string; port: number }>({
  required: { attempt: count, host: string, port: count },
  optional: {},
});

/** A look that takes longer tells nothing in time. */
const WAITS = { connectTimeoutMs: 3_000, answerTimeoutMs: 3_000, idleTimeoutMs: 3_000 };
/** Whoever looks looks again soon. */
const FAILOVER = { policy: { rounds: 1, firstPauseMs: 0, longestPauseMs: 0 } };

/** The job's staging folder, where an executor that hears no ApplicationMaster learns what became of the job. */
export class StagingFolder {
  readonly #location: StagingLocation;
  /** The newest file of the journal that said nothing against a life; it need not be read again. */
  #harmless: { readonly file: string; readonly generation: number } | undefined;

  constructor(location: StagingLocation) {
    this.#location = location;
  }

  /**
   * Looks once. Undefined when it cannot be reached, or when the newest file of the journal cannot be read, as one that is just being
   * replaced: an older file would be no answer.
   */
  async look(life: TaskLife): Promise<StagingNews | undefined> {
    const fileSystems = await openFileSystems(this.#location, { ...WAITS, failover: FAILOVER });
    try {
      const { fileSystem, path: folder } = fileSystems.locate(this.#location.stagingUrl);
      const files = (await fileSystem.list(folder)).map((entry) => entry.path);
      const isReplaced = await this.#isReplaced(fileSystem, path.posix.join(folder, "journal"), life);
      const master = await newestAddress(fileSystem, files);
      return master === undefined ? { isReplaced } : { isReplaced, master };
    } catch {
      return undefined;
    } finally {
      fileSystems.close();
    }
  }

  async #isReplaced(fileSystem: FileSystem, journal: string, life: TaskLife): Promise<boolean> {
    for await (const file of filesNewestFirst(fileSystem, journal)) {
      if (this.#harmless?.file === file && this.#harmless.generation === life.generation) return false;
      const { snapshot } = await readEntry(fileSystem, file);
      if (isReplaced(snapshot, life)) return true;
      this.#harmless = { file, generation: life.generation };
      return false;
    }
    return false;
  }
}

/** Undefined where none has said so in a way that can be read. */
async function newestAddress(fileSystem: FileSystem, files: readonly string[]): Promise<MasterAddress | undefined> {
  const attemptOf = (file: string) => Number(addressFile.exec(path.posix.basename(file))?.[1] ?? 0);
  const newest = files.reduce((best, file) => (attemptOf(file) > attemptOf(best) ? file : best), "");
  if (newest === "") return undefined;
  try {
    const { attempt, host, port } = announced(JSON.parse(await text(await fileSystem.open(newest))), "");
    return { attempt, address: formatHostPort({ host, port }) };
  } catch {
    return undefined;
  }
}
