import type { ClientAccess } from "../../src/api/identity.ts";
import { ExitCode } from "../../src/errors.ts";
import type { JobText } from "../../src/job/load-job.ts";
import { readSetting } from "../../src/job/read-settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { Applications } from "../applications/applications.ts";
import { watchSignals } from "../command-line/signals.ts";
import type { ClientContext } from "../context.ts";
import type { LogSelection } from "../logs/log-selection.ts";
import type { SubmissionListener } from "./submission.ts";
import { submissionLine } from "./submitted-line.ts";

export interface SubmissionChoices {
  readonly detach: boolean;
  readonly json: boolean;
  readonly logs: LogSelection;
  readonly local: boolean;
}

/** A job that runs, and where it is known. */
interface Running {
  readonly id: string;
  readonly spec: JobSpec;
  readonly applications: Applications;
}

/** Submits a job and, unless told otherwise, follows it; signals end or leave it. */
export async function runSubmission(
  text: JobText,
  choices: SubmissionChoices,
  context: ClientContext,
): Promise<ExitCode> {
  const { output } = context;
  const stop = new AbortController();
  let id = "";
  let submitted = false;
  let hungUp = false;
  const unwatch = watchSignals({
    stop: (signal) => stop.abort(signal),
    leave: () => {
      const rest = id === "" ? "nothing was submitted" : `${id} may still run: tony-ts kill ${id}`;
      output.endWait();
      output.problem(`Left at once; ${rest}`);
      process.exit(ExitCode.unknown);
    },
    detach: () => {
      hungUp = true;
      if (submitted) leaveRunning(id, context);
      else stop.abort("SIGHUP");
    },
  });
  try {
    const running = await submit(text, choices, context, stop.signal, (named) => {
      id = named;
    });
    if (running === undefined) return ExitCode.killed;
    submitted = true;
    if (hungUp) leaveRunning(id, context);
    try {
      const swept = running.applications.sweep().catch(() => undefined);
      if (choices.detach) {
        output.print(choices.json ? JSON.stringify({ applicationId: running.id }) : running.id);
        await swept;
        return ExitCode.succeeded;
      }
      return await followTo(running, choices, context, { sinceMs: context.now(), stop: stop.signal });
    } finally {
      running.applications.close();
    }
  } finally {
    unwatch();
  }
}

/** Whoever watched is gone: the job runs on. */
function leaveRunning(id: string, { output }: ClientContext): never {
  output.problem(`${id} runs on: tony-ts status ${id}`);
  process.exit(ExitCode.unknown);
}

/** Undefined when a signal came before the job was handed in. */
async function submit(
  text: JobText,
  { detach, local }: SubmissionChoices,
  context: ClientContext,
  stop: AbortSignal,
  announceId: (id: string) => void,
): Promise<Running | undefined> {
  const named = (id: string, spec: JobSpec) => {
    announceId(id);
    const where = local ? "on this machine" : `queue ${spec.queue}`;
    if (!detach) context.output.print(submissionLine(id, spec, where));
  };
  const uploaded = (line: string) => {
    if (!detach) context.output.print(line);
  };
  if (!local) return await submitThere(text, context, stop, { named, uploaded });
  const { submitLocally } = await import("./local-submission.ts");
  return await submitLocally(text, context, { named, uploaded });
}

async function submitThere(
  text: JobText,
  context: ClientContext,
  stop: AbortSignal,
  listener: SubmissionListener,
): Promise<Running | undefined> {
  const [{ Cluster }, { checkAlone, submitToYarn }, { YarnApplications }] = await Promise.all([
    import("../cluster/cluster.ts"),
    import("./submission.ts"),
    import("../applications/yarn-applications.ts"),
  ]);
  // A mistake in the job is told before one in the cluster's configuration.
  const draft = checkAlone(text, context);
  const cluster = new Cluster(context, {
    hadoop: text.hadoop,
    gateway: readSetting(text.settings, "tony.hdfs.endpoint"),
  });
  try {
    const submitted = await cluster.use(() => submitToYarn(text, draft, context, cluster, listener, stop));
    if (submitted === undefined) {
      cluster.close();
      return undefined;
    }
    const applications = new YarnApplications(cluster, readSetting(text.settings, "tony.staging-dir"), context.now);
    applications.remember(submitted.access satisfies ClientAccess);
    return { ...submitted, applications };
  } catch (error) {
    cluster.close();
    throw error;
  }
}

async function followTo(
  { id, spec, applications }: Running,
  { logs }: SubmissionChoices,
  { output, now }: ClientContext,
  { sinceMs, stop }: { readonly sinceMs: number; readonly stop: AbortSignal },
): Promise<ExitCode> {
  const [{ follow }, { connectMaster }] = await Promise.all([
    import("../following/follow.ts"),
    import("../following/master-connection.ts"),
  ]);
  const { startupMs } = spec.timeouts;
  return await follow({
    id,
    applications,
    connect: connectMaster,
    output,
    now,
    sinceMs,
    logs,
    leadTask: spec.leadTask,
    ...(startupMs === undefined ? {} : { startupLimitMs: startupMs }),
    stop,
  });
}
