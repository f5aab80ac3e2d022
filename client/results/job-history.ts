import { UserError } from "../../src/errors.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import { JobHistoryFolder } from "../../src/history/job-folder.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { Applications } from "../applications/applications.ts";
import { readSiteSettings } from "../cluster/site-settings.ts";
import type { ClientContext } from "../context.ts";
import { filesIn, type HomePlaces, type LeftFiles } from "./left-files.ts";
import { nothingLeft } from "./nothing-left.ts";

/** A job, and when it ended; undefined while it runs. */
interface HistoryJob {
  readonly applicationId: string;
  readonly endedAtMs: number | undefined;
}

/**
 * The files of a job's history: in the own folder of a job of this machine, else below `tony.history.location`.
 * @throws UserError (`NO_HISTORY`) without that key, (`NOTHING_LEFT`) where there is none
 */
export async function historyOf(
  job: HistoryJob,
  conf: readonly string[],
  applications: Applications,
  context: ClientContext,
): Promise<LeftFiles> {
  const kept = applications.keptHistory?.(job.applicationId);
  const places = await applications.fileSystems();
  if (kept === undefined || "settings" in kept)
    return await historyBelow(kept?.settings ?? readSiteSettings(conf, context).history, job, places);
  const found = await ifThere(filesIn(places.locate(`file://${kept.folder}`)));
  if (found === undefined) throw nothingLeft(`${job.applicationId} left no history`);
  return { ...found, remarks: [] };
}

async function historyBelow(
  settings: JobSpec["history"],
  { applicationId, endedAtMs }: HistoryJob,
  places: HomePlaces,
): Promise<LeftFiles> {
  const { location } = settings;
  if (location === undefined) {
    throw noHistory("Name it where the job set it: --conf tony.history.location=FOLDER, or --conf job.xml");
  }
  const isAddress = location.startsWith("/") || splitUri(location) !== undefined;
  const home = isAddress ? undefined : await places.home();
  const address = home === undefined ? location : `${home.fileSystem.uri}${home.path}/${location}`;
  const history = JobHistoryFolder.of(places, { ...settings, location: address }, applicationId);
  const folder = await history?.find(endedAtMs);
  if (history === undefined || folder === undefined)
    throw nothingLeft(`${address} (tony.history.location) has no folder of ${applicationId}`);
  return { ...(await filesIn({ fileSystem: history.fileSystem, path: folder })), remarks: [] };
}

export function noHistory(mend: string): UserError {
  return new UserError(`tony.history.location is not set: jobs keep no history\n  ${mend}`, { code: "NO_HISTORY" });
}
