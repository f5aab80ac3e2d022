import type { ClientAccess } from "../../src/api/identity.ts";
import type { ExitCode } from "../../src/errors.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { Applications } from "../applications/applications.ts";
import type { ClientContext } from "../context.ts";
import type { FollowListener } from "../following/follow-listener.ts";
import type { FollowOptions } from "../following/follow-options.ts";
import { type LogSelection, tasksOf } from "../logs/log-selection.ts";
import { checkOffline } from "./check-offline.ts";
import type { SubmissionListener } from "./submission.ts";

/** A job that runs, and where it is known. */
export interface StartedJob {
  readonly id: string;
  readonly spec: JobSpec;
  /** To be closed by the caller. */
  readonly applications: Applications;
}

export interface StartChoices {
  readonly local: boolean;
  /** Whose output will be followed: checked against the job's tasks. */
  readonly logs: LogSelection;
}

/**
 * Submits a job, to the cluster or to this machine.
 * @throws UserError (`NOT_SUBMITTED`) when `stop` fired before that
 */
export async function startJob(
  text: JobText,
  { local, logs }: StartChoices,
  context: ClientContext,
  stop: AbortSignal,
  listener: SubmissionListener,
): Promise<StartedJob> {
  // A mistake in the job is told before one in the cluster's configuration.
  const draft = checkOffline(text, logs, context);
  if (local) {
    const { submitLocally } = await import("./local-submission.ts");
    return await submitLocally(text, draft, context, listener, stop);
  }
  const [{ clusterOf }, { submitToCluster }, { YarnApplications }] = await Promise.all([
    import("../cluster/cluster.ts"),
    import("./submission.ts"),
    import("../applications/yarn-applications.ts"),
  ]);
  const cluster = await clusterOf(text, context);
  try {
    const submitted = await cluster.use(() => submitToCluster(text, draft, context, cluster, listener, stop));
    const applications = new YarnApplications(cluster, readSetting(text.settings, "tony.staging-dir"), context.now);
    applications.remember(submitted.access satisfies ClientAccess);
    return { ...submitted, applications };
  } catch (error) {
    cluster.close();
    throw error;
  }
}

/** Follows it to its end. @returns its exit code */
export async function followStarted(
  { id, spec, applications }: StartedJob,
  { logs, endWithinMs }: Pick<FollowOptions, "logs" | "endWithinMs">,
  { now }: ClientContext,
  view: FollowListener,
  { stop, ending, stoppedBy }: Pick<FollowOptions, "stop" | "ending" | "stoppedBy">,
): Promise<ExitCode> {
  const [{ follow }, { connectMaster }] = await Promise.all([
    import("../following/follow.ts"),
    import("../master/master-connection.ts"),
  ]);
  const { startupMs } = spec.timeouts;
  return await follow({
    id,
    applications,
    connect: connectMaster,
    view,
    now,
    sinceMs: now(),
    logs,
    leadTask: spec.leadTask,
    tasks: tasksOf(spec.roles),
    ...(startupMs === undefined ? {} : { startupLimitMs: startupMs }),
    stop,
    ...(ending !== undefined && { ending }),
    ...(stoppedBy !== undefined && { stoppedBy }),
    ...(endWithinMs !== undefined && { endWithinMs }),
  });
}
