import { UserError } from "../../src/errors.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { JobHistoryFolder } from "../../src/history/job-folder.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { filesIn, type HomePlaces, type LeftFiles } from "./left-files.ts";
import { nothingLeft } from "./nothing-left.ts";

/**
 * The files of a job's folder below `tony.history.location`.
 * @param endedAtMs undefined while it runs
 * @throws UserError (`NO_HISTORY`) without that key, (`NOTHING_LEFT`) where it is not there
 */
export async function historyOf(
  { applicationId, endedAtMs }: { readonly applicationId: string; readonly endedAtMs: number | undefined },
  settings: JobSpec["history"],
  places: HomePlaces,
): Promise<LeftFiles> {
  const { location } = settings;
  if (location === undefined) {
    const mend = "Name it where the job set it: --conf tony.history.location=FOLDER, or --conf job.xml";
    throw new UserError(`tony.history.location is not set: jobs keep no history\n  ${mend}`, { code: "NO_HISTORY" });
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
