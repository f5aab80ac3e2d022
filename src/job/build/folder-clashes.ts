import { posix } from "node:path";
import { splitUri } from "../../hadoop/hdfs/file-systems.ts";
import type { JobReader } from "./job-reader.ts";

/** Folders that remain after a job's end, and those that are cleaned. */
export type FolderKey =
  | "tony.application.checkpoint-dir"
  | "tony.output.dir"
  | "tony.history.location"
  | "tony.history.intermediate"
  | "tony.history.finished"
  | "tony.staging-dir"
  | "tony.cache.dir";

/** A folder in a form that does not depend on its spelling. */
export interface DeclaredFolder {
  readonly key: FolderKey;
  readonly place: string;
}

export interface FolderClash {
  readonly key: FolderKey;
  /** Text to follow the folder: `is in …`. */
  readonly why: string;
}

/** The staging folder in every user's home. */
export const DEFAULT_STAGING = ".tony-ts";

/** Folders whose content must not be lost, in the order in which they are checked. */
const KEPT: readonly FolderKey[] = [
  "tony.application.checkpoint-dir",
  "tony.output.dir",
  "tony.history.location",
  "tony.history.intermediate",
  "tony.history.finished",
];

/** As far as it is known without asking the cluster: the default file system and the home are unknown. */
export function clashesAsWritten(reader: JobReader, isCarried: boolean): FolderClash[] {
  const keys = [...KEPT, "tony.staging-dir", "tony.cache.dir"] as const;
  const folders = keys.flatMap((key): DeclaredFolder[] => {
    const folder = reader.read(key);
    const isTheNodes = key === "tony.application.checkpoint-dir" && !isCarried && folder?.startsWith("/") === true;
    return folder === undefined || isTheNodes ? [] : [{ key, place: writtenPlace(folder) }];
  });
  return folderClashes(folders, isCarried);
}

/** `hdfs:///x` and `/x` are most often the same; a relative path starts in the home. */
function writtenPlace(folder: string): string {
  const { root, path = folder } = splitUri(folder) ?? {};
  if (root === undefined && !folder.startsWith("/")) return placeOf("~/", folder);
  const authority = root?.authority.toLowerCase() ?? "";
  return placeOf(`${root?.scheme ?? "hdfs"}://${authority}`, path);
}

/** A path of a file system, in a form that can be compared. */
export function placeOf(fileSystem: string, path: string): string {
  return `${fileSystem}${posix.normalize(path).replace(/^\/{2,}/, "/")}`.replace(/\/+$/, "");
}

/**
 * Folders that would lose content because another one is cleaned, replaced or moved.
 * @param isCarried whether executors copy checkpoints
 */
export function folderClashes(folders: readonly DeclaredFolder[], isCarried: boolean): FolderClash[] {
  const kept = KEPT.flatMap((key) => folders.filter((folder) => folder.key === key));
  return kept.flatMap((folder) => {
    const why = stagingClash(folder, folders) ?? keptClash(folder, folders, isCarried);
    return why === undefined ? [] : [{ key: folder.key, why }];
  });
}

function stagingClash({ place }: DeclaredFolder, folders: readonly DeclaredFolder[]): string | undefined {
  const of = (key: FolderKey) => folders.flatMap((folder) => (folder.key === key ? [folder.place] : []));
  const isInDefault = place.split("/").includes(DEFAULT_STAGING);
  if (isInDefault || of("tony.staging-dir").some((staging) => isWithin(place, staging))) {
    const what = isInDefault ? `a staging folder (${DEFAULT_STAGING})` : "the staging folder (tony.staging-dir)";
    return `is in ${what}, from which the job's own folder is removed when it has ended: name a folder outside`;
  }
  if (of("tony.staging-dir").some((staging) => isWithin(staging, place))) {
    return "contains the staging folder (tony.staging-dir): cleaning up here would remove what running jobs need, so name another folder";
  }
  if (of("tony.cache.dir").some((cache) => isWithin(place, cache))) {
    return "is in the cache (tony.cache.dir), from which files are removed that no job uses: name a folder outside";
  }
  return undefined;
}

function keptClash(
  { key, place }: DeclaredFolder,
  folders: readonly DeclaredFolder[],
  isCarried: boolean,
): string | undefined {
  if (key !== "tony.output.dir" && key !== "tony.application.checkpoint-dir") return undefined;
  const checkpoints = folders.find((folder) => folder.key === "tony.application.checkpoint-dir");
  if (key === "tony.output.dir" && isCarried && checkpoints?.place === place) {
    return `is also where checkpoints are kept (${checkpoints.key}), which results would overwrite: give each its own, such as ${place.replace(/^~\//, "")}/results`;
  }
  const history = historyFolders(folders).find((folder) => isWithin(place, folder.place));
  if (history === undefined) return undefined;
  return `is where the history is kept too (${history.key}), whose folders are moved when a job ends: give each its own`;
}

/** Folders that contain a folder for each job. */
function historyFolders(folders: readonly DeclaredFolder[]): DeclaredFolder[] {
  const location = folders.find(({ key }) => key === "tony.history.location");
  if (location === undefined) return [];
  return (["intermediate", "finished"] as const).map(
    (name) =>
      folders.find(({ key }) => key === `tony.history.${name}`) ?? { ...location, place: `${location.place}/${name}` },
  );
}

function isWithin(place: string, folder: string): boolean {
  return place === folder || place.startsWith(`${folder}/`);
}
