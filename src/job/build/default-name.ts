import path from "node:path";
import { programFileOf } from "../diagnosis/program-file.ts";
import type { JobSpec } from "../spec.ts";
import { parseTaskId } from "../task.ts";

/**
 * What a job is called that has no name of its own: the file that its lead task runs, else the folder of the job's file, which people tell
 * jobs apart by; undefined where there is neither.
 * @param jobFile a path or a URL
 */
export function defaultName(
  { roles, leadTask }: Pick<JobSpec, "roles" | "leadTask">,
  jobFile: string | undefined,
  workingDirectory: string,
): string | undefined {
  const lead = parseTaskId(leadTask)?.role;
  const program = programFileOf(roles.find(({ name }) => name === lead)?.command ?? "");
  const name = program === undefined ? folderOf(jobFile, workingDirectory) : path.posix.parse(program).name;
  return name === "" ? undefined : name;
}

function folderOf(jobFile: string | undefined, workingDirectory: string): string {
  if (jobFile === undefined) return "";
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(jobFile);
  const file = isUrl ? new URL(jobFile).pathname : path.resolve(workingDirectory, jobFile);
  return path.posix.basename(path.posix.dirname(file));
}
