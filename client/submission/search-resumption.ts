import path from "node:path";
import { usageError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { contentUpTo } from "../../src/hadoop/hdfs/content.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../src/hadoop/hdfs/local.ts";
import { MOST_HISTORY_BYTES } from "../../src/history/json-lines.ts";
import { countWords } from "../../src/job/reasons/words.ts";
import { parameterWords } from "../../src/job/search/parse-parameter.ts";
import { typedParameters, valueFrom } from "../../src/job/search/random-search.ts";
import { isActive, type Parameters, type Space } from "../../src/job/search/space.ts";
import { readTrialLine, trialOfLine } from "../../src/job/search/trial-line.ts";
import { countStates, isEnded, type Search, type SearchSaid, type TrialLine } from "../../src/job/search/trials.ts";
import type { JobStatus, SearchStatus, TaskStatus } from "../../src/job/status.ts";
import { type Applications, hasEnded } from "../applications/applications.ts";
import { isApplicationId, openApplications } from "../applications/backend.ts";
import type { ClientContext } from "../context.ts";

/**
 * The trials of an earlier search, for a search that continues it.
 * @param from the id of its application, or a file of its trials
 * @throws UserError where it still runs, is unknown, or had another space: the message names the parameter
 */
export async function trialsBefore(
  from: string,
  search: Search,
  conf: readonly string[] | undefined,
  context: ClientContext,
): Promise<readonly TrialLine[]> {
  const written = isApplicationId(from)
    ? (await trialsOfJob(from, search, conf, context)).map((line) => ({ application: from, ...line }))
    : await trialsOfFile(from, context);
  for (const { search: before } of written) if (before !== undefined) requireSame(from, before, search);
  const lines = written.map(({ search: _, ...line }): TrialLine => line);
  for (const [number, { params, number: said = number }] of lines.entries()) {
    if (said !== number)
      throw usageError(
        `${from} has trial ${said} where trial ${number} should be: it has to contain all trials, in their order`,
      );
    const why = misfit(search.space, params);
    if (why !== undefined) throw usageError(`${from} cannot be continued: ${why} in its trial ${number}`);
  }
  const over = lines.filter(({ state }) => state !== "interrupted" && state !== "running").length;
  if (search.maxTrials !== undefined && over >= search.maxTrials) {
    const most = `${countWords(search.maxTrials, "trial")} in all (tony.search.max-trials)`;
    throw usageError(`${from} has ${over} trials that have ended, and this search has ${most}: raise it`);
  }
  return lines;
}

/** `took over 14 trials of application_1795305600000_0007: 12 ended, 2 begin again` */
export function tookOver(from: string, lines: readonly TrialLine[]): string {
  const { running, paused } = countStates(lines.map(trialOfLine));
  const saved = lines.filter((line) => trialOfLine(line).state === "running" && line.checkpoint !== undefined).length;
  const parts = [
    `${lines.length - running - paused} ended`,
    ...(paused > 0 ? [`${paused} paused`] : []),
    ...(saved > 0 ? [`${saved} ${saved === 1 ? "continues" : "continue"} from a checkpoint`] : []),
    ...(running > saved ? [`${running - saved} ${running - saved === 1 ? "begins" : "begin"} again`] : []),
  ];
  return `took over ${countWords(lines.length, "trial")} of ${from}: ${parts.join(", ")}`;
}

/** Why parameters do not fit a space; undefined: they do. */
export function misfit(space: Space, params: Parameters): string | undefined {
  const stray = Object.keys(params).find((name) => !space.some((parameter) => parameter.name === name));
  if (stray !== undefined) return `${stray} is not a parameter of this search but has a value`;
  for (const parameter of space) {
    const { name } = parameter;
    const value = params[name];
    const isAsked = isActive(parameter, params);
    if (isAsked && value === undefined) return `${name} has no value`;
    if (!isAsked && value !== undefined) return `${name} has a value, and its condition does not hold`;
    if (value !== undefined && valueFrom(parameter, String(value)) === undefined)
      return `${name} is ${value}, and this search has ${parameterWords(parameter)}`;
  }
  return undefined;
}

async function trialsOfFile(file: string, { workingDirectory }: ClientContext): Promise<readonly TrialLine[]> {
  if (path.basename(file) === "result.json")
    throw usageError(`--resume ${file}: it has only the best trial; all trials are in trials.jsonl next to it`);
  try {
    return await trialsIn(new LocalFileSystem(), path.resolve(workingDirectory, file), file);
  } catch (error) {
    if (hasCode(error, "FILE_NOT_FOUND"))
      throw usageError(`--resume ${file}: it is neither an application's id nor a file on this machine`);
    throw usageError(`--resume ${file}: ${errorMessage(error)}`);
  }
}

async function trialsIn(fileSystem: FileSystem, place: string, file: string): Promise<readonly TrialLine[]> {
  const content = await contentUpTo(fileSystem, place, MOST_HISTORY_BYTES);
  if (content === undefined) throw usageError(`${file} is longer than any of ours: ${MOST_HISTORY_BYTES} bytes`);
  return content
    .toString("utf8")
    .split("\n")
    .flatMap((line, index) => {
      if (line.trim() === "") return [];
      try {
        return [readTrialLine(line)];
      } catch (error) {
        throw usageError(`${file}:${index + 1}: ${errorMessage(error)}`);
      }
    });
}

async function trialsOfJob(
  id: string,
  search: Search,
  conf: readonly string[] | undefined,
  context: ClientContext,
): Promise<readonly TrialLine[]> {
  const applications = await openApplications(id, conf, context);
  try {
    const report = await applications.report(id);
    if (!hasEnded(report)) throw usageError(`${id} still runs: tony-ts status ${id}`);
    const status = await applications.finalStatus(report);
    const why = applications.noStatusReason();
    if (status === undefined && why !== undefined)
      throw usageError(`--resume ${id}: what became of its trials cannot be read now: ${why}`);
    if (status === undefined) {
      const stored = await storedTrials(id, search, applications);
      if (stored !== undefined) return stored;
      throw usageError(`--resume ${id}: what became of its trials was not kept; name its trials.jsonl, if it is there`);
    }
    const before = status.search;
    if (before === undefined) throw usageError(`${id} was no search`);
    requireSame(id, saidBy(before), search);
    const known = trialsOfStatus(status, before, search.space);
    return newest(known, (await storedTrials(id, before, applications)) ?? []);
  } finally {
    applications.close();
  }
}

/** For each trial the line that its ApplicationMaster stored, unless it is older than the trial's end, which the search's last status may know. */
function newest(known: readonly TrialLine[], stored: readonly TrialLine[]): readonly TrialLine[] {
  const latest = known.map((line, number) => {
    const before = stored[number];
    return before !== undefined && (isEnded(before) || !isEnded(line)) ? before : line;
  });
  return [...latest, ...stored.slice(known.length)];
}

type Said = Pick<SearchSaid, "metric" | "direction"> & Partial<SearchSaid>;

/** What the status of a search says about it; a status of an older release does not include the space. */
function saidBy({ metric, direction, parameters, space }: SearchStatus): Said {
  const words = space && Object.fromEntries(parameters.map((name, index) => [name, space[index] ?? ""]));
  return { metric, direction, ...(words && { space: words }) };
}

/** A search with another objective or another space cannot be continued. */
export function requireSame(from: string, before: Said, { metric, direction, space }: Search): void {
  if (before.metric !== metric || before.direction !== direction)
    throw usageError(`${from} was to ${before.direction} ${before.metric}, this search is to ${direction} ${metric}`);
  if (before.space === undefined) return;
  const was = new Map(Object.entries(before.space));
  const is = new Map(space.map((parameter) => [parameter.name, parameterWords(parameter)]));
  for (const name of new Set([...was.keys(), ...is.keys()])) {
    const [earlier = "not there", now = "not there"] = [was.get(name), is.get(name)];
    if (earlier !== now) throw usageError(`${from} had another space: ${name} was ${earlier}, and is ${now} now`);
  }
}

/** The trials that the search's ApplicationMaster stored; undefined where there are none. */
async function storedTrials(
  applicationId: string,
  { outputDir }: Pick<SearchStatus, "outputDir">,
  applications: Applications,
): Promise<readonly TrialLine[] | undefined> {
  const kept = applications.folder?.(applicationId);
  const folder = kept ?? (outputDir && `${outputDir.replace(/\/+$/, "")}/${applicationId}`);
  if (folder === undefined) return undefined;
  const file = `${folder}/trials.jsonl`;
  try {
    const { fileSystem, path: place } = (await applications.fileSystems()).locate(file);
    return await trialsIn(fileSystem, place, file);
  } catch {
    return undefined;
  }
}

/** The same from what is known of each task; of a task's reports that is only the last one. */
function trialsOfStatus({ tasks }: JobStatus, { metric }: SearchStatus, space: Space): readonly TrialLine[] {
  return tasks.flatMap((task) => (task.trial === undefined ? [] : [lineOf(task, task.trial, metric, space)]));
}

function lineOf(
  { params = {}, metrics, step, checkpointStep = step, startedAtMs, endedAtMs }: TaskStatus,
  { state, why, nonFinite, checkpoint, application }: NonNullable<TaskStatus["trial"]>,
  metric: string,
  space: Space,
): TrialLine {
  const value = metrics?.[metric] ?? nonFinite;
  return {
    params: typedParameters(params, space),
    state,
    ...(value === undefined ? {} : { value }),
    ...(step === undefined ? {} : { step }),
    ...(value !== undefined && step !== undefined && { reports: [[step, value]] }),
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    ...(why === undefined ? {} : { why }),
    ...(checkpoint === undefined ? {} : { checkpoint, ...(checkpointStep !== undefined && { checkpointStep }) }),
    ...(application === undefined ? {} : { application }),
  };
}
