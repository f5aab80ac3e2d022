import { clientAccessFile } from "../../src/api/identity.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { StagingFolder } from "./staging-folder.ts";
import { mayBeAtWork, parseSubmitter } from "./submitter.ts";

/** A folder whose application is unknown and whose submitter cannot be checked is left alone for this long. */
const doubtfulForMs = 3_600_000;

/** What the caller of a sweep has to provide. */
export interface SweepOptions {
  readonly hasEnded: (id: string) => Promise<boolean>;
  /** Called with the folder of each application that has ended. */
  readonly mayGo: (folder: StagingFolder) => Promise<boolean>;
}

/**
 * Removes the staging folders of the user's applications that ended without removing them (killed by YARN), and of submissions that died
 * before they submitted. Returns the ids; folders that cannot be judged or removed stay for the next sweep.
 */
export async function sweepStaging(
  root: LocatedPath,
  { hasEnded, mayGo }: SweepOptions,
  nowMs: number,
): Promise<string[]> {
  const folders = await StagingFolder.list(root);
  const swept = await Promise.all(
    folders.map(async (folder) => {
      try {
        if (await isNeeded(folder, hasEnded, nowMs)) return [];
        if (!(await mayGo(folder))) return [];
        return (await folder.remove()) ? [folder.applicationId] : [];
      } catch {
        return [];
      }
    }),
  );
  return swept.flat();
}

async function isNeeded(folder: StagingFolder, hasEnded: SweepOptions["hasEnded"], nowMs: number): Promise<boolean> {
  const stage = await stageOf(folder.applicationId, hasEnded);
  if (stage !== "unknown") return stage === "lives";
  if (await isBeingSubmitted(folder, nowMs)) return true;
  // Its submitter may have submitted it since the last question, and have ended by now.
  return (await stageOf(folder.applicationId, hasEnded)) === "lives";
}

/** An unknown state counts as alive. */
async function stageOf(id: string, hasEnded: SweepOptions["hasEnded"]): Promise<"lives" | "ended" | "unknown"> {
  try {
    return (await hasEnded(id)) ? "ended" : "lives";
  } catch (error) {
    return errorCode(error) === "APPLICATION_NOT_FOUND" ? "unknown" : "lives";
  }
}

/** The ResourceManager learns of an application only after its folder was created. */
async function isBeingSubmitted(folder: StagingFolder, nowMs: number): Promise<boolean> {
  const submitter = await folder.read(clientAccessFile).then(
    (bytes) => parseSubmitter(bytes.toString("utf8")),
    () => undefined,
  );
  if (submitter !== undefined) return mayBeAtWork(submitter) && !(await isOld(folder, nowMs));
  return !(await isOld(folder, nowMs));
}

async function isOld({ fileSystem, path }: StagingFolder, nowMs: number): Promise<boolean> {
  const { modificationTimeMs } = await fileSystem.stat(path);
  return nowMs - modificationTimeMs > doubtfulForMs;
}
