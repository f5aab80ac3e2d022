import { copyFileSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { clientAccess, clientAccessFile, formatClientAccess, makeIdentity } from "../../src/api/identity.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import { formatProblem } from "../../src/job/problem.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { handedToMaster } from "../../src/job/stored/handed-settings.ts";
import type { JobFile, ShippedFile } from "../../src/job/stored/job-file.ts";
import { programPath } from "../../src/programs.ts";
import { codeCacheOf } from "../../src/start/cache-files.ts";
import { LocalApplications } from "../applications/local-applications.ts";
import { localFiles, localRoot, newLocalFolder } from "../applications/local-folder.ts";
import type { ClientContext } from "../context.ts";
import type { CodeCaches } from "../shipping/runtime.ts";
import type { OfflineCheck } from "./check-offline.ts";
import type { FeedInputs } from "./feed-inputs.ts";
import { keptSettings } from "./kept-settings.ts";
import { localFile, localJobFile, localMasterFolder, startLocalMaster } from "./local-master.ts";
import { LocalShipping } from "./local-shipping.ts";
import { checkOnMachine } from "./machine-checks.ts";
import { notSubmitted } from "./not-submitted.ts";
import { preparedPrograms } from "./prepared-runtime.ts";
import type { SubmissionListener } from "./submission.ts";

/** A job that was started on this machine. */
export interface LocallySubmitted {
  readonly id: string;
  readonly spec: JobSpec;
  readonly applications: LocalApplications;
}

/**
 * Starts a job on this machine: the same AM as on a cluster, as a process in a session of its own, with a local folder as its staging
 * folder. It outlives the client.
 * @throws UserError (`NOT_SUBMITTED`) when `stop` was aborted before the AM was started: nothing is left then
 */
export async function submitLocally(
  text: JobText,
  draft: OfflineCheck,
  context: ClientContext,
  { named, uploaded }: SubmissionListener,
  stop: AbortSignal,
): Promise<LocallySubmitted> {
  const { environment, output, now } = context;
  const { secrets, problems } = draft;
  const { spec, user, feeds } = await checkOnMachine(text, draft.spec, environment);
  for (const problem of problems) output.problem(formatProblem(problem));
  if (stop.aborted) throw notSubmitted("this machine");
  const { id, folder } = newLocalFolder(localRoot(environment), now());
  named(id, spec);
  const work = localMasterFolder(folder);
  mkdirSync(work, { recursive: true, mode: 0o700 });
  const program = path.join(work, "am.cjs");
  copyFileSync(programPath("am"), program);
  const codeCaches = await preparedPrograms({ kind: "send", path: realpathSync(process.execPath) }, context);
  if (codeCaches.am !== undefined) copyFileSync(codeCaches.am, codeCacheOf(program));

  const identity = makeIdentity(id);
  const job = await jobFile({ id, user, folder, spec, text, codeCaches, uploaded, feeds });
  const access = JSON.stringify(formatClientAccess(clientAccess(identity)));
  writeFileSync(path.join(folder, clientAccessFile), access, { mode: 0o600 });
  for (const [name, content] of Object.entries(keptSettings(text.settings, spec)))
    writeFileSync(path.join(folder, name), content, { mode: 0o600 });
  if (stop.aborted) {
    rmSync(folder, { recursive: true });
    throw notSubmitted("this machine");
  }
  // So that neither signals to this process nor its end affect it.
  const master = startLocalMaster({ folder, program, job, identity, secrets, environment, detached: true });
  master.unref();
  const { pid } = master;
  if (pid === undefined) throw new RangeError(`${process.execPath} could not be started`);
  writeFileSync(path.join(folder, localFiles.pid), String(pid));
  return { id, spec, applications: new LocalApplications(environment, user, now) };
}

async function jobFile(parts: {
  readonly id: string;
  readonly user: string;
  readonly folder: string;
  readonly spec: JobSpec;
  readonly text: JobText;
  readonly codeCaches: CodeCaches;
  readonly uploaded: (line: string) => void;
  readonly feeds: FeedInputs["feeds"];
}): Promise<JobFile> {
  const { id, user, folder, spec, text, codeCaches, uploaded, feeds } = parts;
  const files = new LocalShipping(folder, uploaded);
  const executor = ownCopy(programPath("executor"), folder, "executor.cjs");
  const compiled =
    codeCaches.executor === undefined ? [] : [ownCopy(codeCaches.executor, folder, codeCacheOf("executor.cjs"))];
  const common = await files.localized(spec.files);
  const byRole = await Promise.all(
    spec.roles.map(async (role) => [role.name, await files.localized(role.files)] as const),
  );
  const all = [executor, ...compiled, ...common];
  return localJobFile({
    id,
    user,
    spec,
    folder,
    all,
    byRole: Object.fromEntries(byRole),
    hadoop: handedToMaster(text.hadoop),
    feeds,
  });
}

/** A copy for the job alone: installing another version meanwhile, or clearing a cache, does not affect a running job. */
function ownCopy(source: string, folder: string, link: string): ShippedFile {
  const file = path.join(folder, link);
  copyFileSync(source, file);
  return localFile(link, file, "FILE");
}

/** The job's files, used in place; a directory to unpack is first packed into the application's folder. */
