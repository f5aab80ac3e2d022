import { type UserError, usageError } from "../../src/errors.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import { countWords, sizeWords } from "../../src/job/reasons/words.ts";
import { isOfTrial, shownNameInTrial } from "../../src/job/search/trial-tasks.ts";
import type { JobStatus, SearchStatus, Transfer } from "../../src/job/status.ts";
import { parseNamesList } from "../../src/job/stored/carried-lists.ts";
import { NAMES } from "../../src/job/stored/carried-names.ts";
import { allEarlierWords, earlierWords } from "../logs/earlier-search.ts";
import { isNamed, noSuchTask } from "../logs/log-selection.ts";
import { searchFolder } from "../output/trial-table.ts";
import { filesIn, type LeftFile, type LeftFiles, type Places, placeOf, readList } from "./left-files.ts";
import { nothingLeft } from "./nothing-left.ts";

/** A task's results, as its executor reported their upload. */
interface TaskResults extends Transfer {
  readonly task: string;
}

/**
 * The results of all tasks, each task's in a folder of its own, or those of one named task.
 * @throws UserError (`NOTHING_LEFT`) where there are none
 */
export async function resultsOf(
  status: JobStatus,
  wanted: string | undefined,
  places: Places,
  localFolder?: string,
): Promise<LeftFiles> {
  const elsewhere = wanted === undefined ? undefined : earlierWords(status, wanted, "get");
  if (elsewhere !== undefined) throw usageError(elsewhere);
  const results = resultsToldOf(status, wanted);
  const earlier = wanted === undefined ? allEarlierWords(status, "get") : [];
  if (results.length === 0) throw nothingLeft(noResultsWords(status, wanted, localFolder, earlier));
  const isOneTask = wanted?.includes(":") === true && results.length === 1;
  const found = await Promise.all(results.map((one) => resultsOfTask(one, isOneTask, places)));
  return {
    files: found.flatMap(({ files }) => files),
    folders: found.flatMap(({ folders }) => folders),
    remarks: [...found.flatMap(({ remarks }) => remarks), ...earlier],
    isIncomplete: found.some(({ isIncomplete }) => isIncomplete),
  };
}

function resultsToldOf(status: JobStatus, wanted: string | undefined): TaskResults[] {
  const { tasks } = status;
  const isWanted = (task: string) =>
    wanted === undefined || isNamed(task, wanted) || isOfTrial(shownNameInTrial(status, task), wanted);
  const chosen = tasks.filter(({ task }) => isWanted(task));
  const unknown = chosen.length > 0 ? undefined : noSuchNamed(status, wanted ?? "");
  if (unknown !== undefined) throw unknown;
  return chosen.flatMap(({ task, transfers = [] }) =>
    transfers.filter(({ what }) => what === "output").map((transfer) => ({ task, ...transfer })),
  );
}

function noSuchNamed(status: JobStatus, wanted: string): UserError | undefined {
  const tasks = status.tasks.map(({ task }) => task);
  return noSuchTask({ kind: "named", names: [wanted] }, tasks, (task) => shownNameInTrial(status, task));
}

function noResultsWords(
  { applicationId, outcome, search }: JobStatus,
  wanted: string | undefined,
  localFolder: string | undefined,
  earlier: readonly string[],
): string {
  const elsewhere = earlier.map((words) => `\n  ${words}`).join("");
  const who = wanted === undefined ? applicationId : `${wanted} of ${applicationId}`;
  return outcome === undefined
    ? `${who} has no results yet: they are stored when a program has ended`
    : `${who} left no results${elsewhere}\n  Only what programs leave in tony.output.local-dir is kept${searchWords(search, applicationId, localFolder)}`;
}

async function resultsOfTask(told: TaskResults, isAlone: boolean, places: Places): Promise<LeftFiles> {
  const { task, url, state, reason } = told;
  if (state === "empty") return { files: [], folders: [], remarks: [`${task}: ${reason}`] };
  const place = placeOf(url, places);
  const stored = (await ifThere(filesIn(place))) ?? { files: [], folders: [] };
  const names = stored.files.some(({ path }) => path === NAMES)
    ? await readList({ ...place, path: `${place.path}/${NAMES}` }, parseNamesList)
    : undefined;
  const own = new Map(names?.renamed.map(({ path, stored: name = path }) => [name, path]));
  const folder = isAlone ? "" : `${task.replace(":", "-")}/`;
  const ownPath = (name: string) => `${folder}${own.get(name) ?? name}`;
  const files = stored.files.flatMap((file) => (file.path === NAMES ? [] : [{ ...file, path: ownPath(file.path) }]));
  const lost = (names?.leftOut ?? []).filter(({ isLoss }) => isLoss);
  const remarks =
    state === "failed" || state === "under-way"
      ? [unfinishedWords(state, reason, files)]
      : [...missingWords(told, files), ...lost.map(({ path, why }) => `${path} was not stored: ${why}`)];
  return {
    files,
    folders: stored.folders.map(ownPath),
    remarks: remarks.map((words) => `${task}: ${words}`),
    isIncomplete: remarks.length > 0,
  };
}

function unfinishedWords(state: "failed" | "under-way", reason: string, files: readonly LeftFile[]): string {
  const what =
    state === "failed" ? `its results were not stored (${reason})` : "its results were not stored completely";
  return files.length === 0 ? what : `${what}; what is there comes from an earlier run`;
}

/** Files that have been removed since they were stored. */
function missingWords({ url, files, bytes }: TaskResults, found: readonly LeftFile[]): string[] {
  const foundBytes = found.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (found.length === files && foundBytes === bytes) return [];
  const words = (count: number, size: number) => `${countWords(count, "file")}, ${sizeWords(size)}`;
  return [`${words(files, bytes)} were stored in ${url}; it has ${words(found.length, foundBytes)} now`];
}

/** A search has files of its own, apart from its tasks' results. */
function searchWords(search: SearchStatus | undefined, applicationId: string, localFolder: string | undefined): string {
  if (search === undefined) return "";
  const folder = searchFolder(search, applicationId, localFolder);
  const files = folder === undefined ? "" : `The search's result.json and trials.jsonl are in ${folder}; `;
  return `\n  ${files}tony-ts trials ${applicationId} shows its trials`;
}
