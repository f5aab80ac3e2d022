import path from "node:path/posix";
import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import { trialsOf } from "../../src/job/search/trial-list.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { parseManifest } from "../../src/job/stored/carried-lists.ts";
import { MANIFEST, parseCarriedName } from "../../src/job/stored/carried-names.ts";
import { wholeOrEarlier } from "../../src/job/stored/stored-checkpoints.ts";
import { formatDropped } from "../output/job-tables.ts";
import {
  filesIn,
  type LeftFile,
  type LeftFiles,
  type LeftTree,
  leftFile,
  type Places,
  placeOf,
  readList,
} from "./left-files.ts";
import { nothingLeft } from "./nothing-left.ts";

/**
 * The files of a job's last checkpoint, with the names that its program gave them.
 * @throws UserError (`NOTHING_LEFT`) where it has none, or the checkpoint is gone
 */
export async function lastCheckpointOf(status: JobStatus, places: Places): Promise<LeftFiles> {
  const { checkpoint, applicationId, droppedCheckpoint, outcome, resumeFrom } = status;
  if (checkpoint === undefined) {
    const lost = droppedCheckpoint === undefined ? "" : `: ${formatDropped(droppedCheckpoint)}`;
    const began = resumeFrom === undefined ? "" : `\n  It began with ${resumeFrom}`;
    const ofTrials = trialWords(status);
    throw nothingLeft(
      `${applicationId} has no checkpoint${outcome === undefined ? " yet" : ""}${lost}${began}${ofTrials}`,
    );
  }
  const again =
    outcome === undefined ? "A job that runs replaces its checkpoints: try again" : "Somebody has removed it since";
  return await checkpointAt(checkpoint, places, again);
}

/** A search has no checkpoint of its own, but its trials may: the best trial with one is named. */
function trialWords(status: JobStatus): string {
  const { search, applicationId } = status;
  const trials = search === undefined ? [] : trialsOf(status, search);
  const saved = trials.find(({ checkpoint }) => checkpoint !== undefined);
  return saved === undefined
    ? ""
    : `\n  Its trials have their own, such as trial ${saved.number}: tony-ts get ${applicationId} trial:${saved.number} --checkpoint`;
}

/**
 * The files of a checkpoint; where an executor stored it and it is damaged, those of the previous one.
 * @throws UserError (`NOTHING_LEFT`) where it is gone
 */
export async function checkpointAt(
  checkpoint: { readonly step: number; readonly path: string },
  places: Places,
  again: string,
): Promise<LeftFiles> {
  const named = placeOf(checkpoint.path, places);
  const { path: taken, remarks } = await wholeInstead(named);
  const place = { ...named, path: taken };
  const found = (await ifThere(storedFiles(place))) ?? { files: await namesakes(place), folders: [] };
  if (found.files.length > 0) return { ...found, remarks };
  throw nothingLeft(`The checkpoint of step ${checkpoint.step} no longer exists: ${checkpoint.path}\n  ${again}`);
}

async function wholeInstead({
  fileSystem,
  path: named,
}: LocatedPath): Promise<{ readonly path: string; readonly remarks: readonly string[] }> {
  const remarks: string[] = [];
  if (parseCarriedName(path.basename(named)) === undefined) return { path: named, remarks };
  try {
    const whole = await wholeOrEarlier(fileSystem, named, (_, why) => {
      remarks.push(`${fileSystem.uri}${named} is damaged (${why}); an earlier one of its task is taken`);
    });
    return { path: whole.path, remarks: remarks.map((words) => `${words}: ${fileSystem.uri}${whole.path}`) };
  } catch {
    // Any fault is reported when the files are fetched.
    return { path: named, remarks: [] };
  }
}

/** The files of a checkpoint: those in its list, if an executor uploaded it; else the file itself, or the whole folder. */
async function storedFiles(place: LocatedPath): Promise<LeftTree> {
  const { fileSystem, path: source } = place;
  if (parseCarriedName(path.basename(source)) !== undefined) {
    const list = await ifThere(readList({ fileSystem, path: `${source}/${MANIFEST}` }, parseManifest));
    if (list !== undefined) {
      const files = list.files.map(({ path: file, stored = file, sizeBytes, executable = false }) => {
        return { path: file, fileSystem, source: `${source}/${stored}`, sizeBytes, executable };
      });
      return { files, folders: list.folders ?? [] };
    }
  }
  const entry = await fileSystem.stat(source);
  if (entry.type === "DIRECTORY") return await filesIn(place);
  return { files: [leftFile(path.basename(source), fileSystem, entry)], folders: [] };
}

/** The files whose names start with the checkpoint's name, as TensorFlow's `model-50.index`. */
async function namesakes({ fileSystem, path: source }: LocatedPath): Promise<LeftFile[]> {
  const entries = (await ifThere(fileSystem.list(path.dirname(source)))) ?? [];
  return entries
    .filter((entry) => entry.type !== "DIRECTORY" && path.basename(entry.path).startsWith(`${path.basename(source)}.`))
    .map((entry) => leftFile(path.basename(entry.path), fileSystem, entry));
}
