import path from "node:path";
import { text } from "node:stream/consumers";
import { formatHostPort } from "../../src/hadoop/conf/values.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import type { Credentials } from "../../src/hadoop/security/credentials.ts";
import { count, object, string } from "../../src/job/shape.ts";
import { attemptOfMasterFile } from "../../src/job/stored/staged-folder.ts";
import type { StagingLocation } from "../../src/job/stored/staging-location.ts";
import { filesNewestFirst, readEntry } from "../../src/journal/reader.ts";
import { isReplaced, type TaskLife } from "../../src/journal/task-life.ts";
import type { MasterAddress, StagingNews } from "../core/master.ts";
import { openFileSystems } from "../file-systems.ts";

const announced = object<{ attempt: number; host: string; port: number }>({
  required: { attempt: count, host: string, port: count },
  optional: {},
});

/** An answer that takes longer is too late to be of use. */
const WAITS = { connectTimeoutMs: 3_000, answerTimeoutMs: 3_000, idleTimeoutMs: 3_000 };
/** No pauses: the executor reads again soon anyway. */
const FAILOVER = { policy: { rounds: 1, firstPauseMs: 0, longestPauseMs: 0 } };

/** The job's staging folder, which an executor reads while it is connected to no ApplicationMaster. */
export class StagingFolder {
  readonly #location: StagingLocation;
  readonly #held: () => Credentials;
  /** The newest file of the journal, if it does not say that the task was replaced: it need not be read again. */
  #harmless: { readonly file: string; readonly generation: number } | undefined;

  /** @param held the delegation tokens to open it with */
  constructor(location: StagingLocation, held: () => Credentials) {
    this.#location = location;
    this.#held = held;
  }

  /**
   * Reads it once. Undefined when it cannot be reached, or when the newest file of the journal cannot be read, for example while it is being
   * replaced: an older file may be wrong.
   */
  async look(life: TaskLife): Promise<StagingNews | undefined> {
    const fileSystems = await openFileSystems(this.#location, this.#held, { ...WAITS, failover: FAILOVER });
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

/** Undefined where there is no readable address. */
async function newestAddress(fileSystem: FileSystem, files: readonly string[]): Promise<MasterAddress | undefined> {
  const attemptOf = (file: string) => attemptOfMasterFile(path.posix.basename(file)) ?? 0;
  const newest = files.reduce((best, file) => (attemptOf(file) > attemptOf(best) ? file : best), "");
  if (newest === "") return undefined;
  try {
    const { attempt, host, port } = announced(JSON.parse(await text(await fileSystem.open(newest))), "");
    return { attempt, address: formatHostPort({ host, port }) };
  } catch {
    return undefined;
  }
}
