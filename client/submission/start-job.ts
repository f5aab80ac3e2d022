import type { ExitCode } from "../../src/errors.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { Applications } from "../applications/applications.ts";
import type { ClientContext } from "../context.ts";
import type { FollowListener } from "../following/follow-listener.ts";
import type { FollowOptions } from "../following/follow-options.ts";
import { type LogSelection, tasksOf } from "../logs/log-selection.ts";
import { checkOffline } from "./check-offline.ts";
import { JobCluster } from "./job-cluster.ts";
import type { SubmissionListener } from "./submission.ts";

/** A running job, and the applications that it belongs to. */
export interface StartedJob {
  readonly id: string;
  readonly spec: JobSpec;
  /** To be closed by the caller. */
  readonly applications: Applications;
}

export interface StartChoices {
  readonly local: boolean;
  /** Whose output will be followed; checked against the job's tasks. */
  readonly logs: LogSelection;
}

/**
 * Submits a job to the cluster or to this machine.
 * @param place closed where the job is not submitted
 * @throws UserError (`NOT_SUBMITTED`) when `stop` was aborted before that
 */
export async function startJob(
  text: JobText,
  { local, logs }: StartChoices,
  context: ClientContext,
  stop: AbortSignal,
  listener: SubmissionListener,
  place = new JobCluster(text, context),
): Promise<StartedJob> {
  // A mistake in the job is reported before one in the cluster's configuration.
  const draft = checkOffline(text, logs, context);
  if (local) {
    const { submitLocally } = await import("./local-submission.ts");
    return await submitLocally(text, draft, context, listener, stop);
  }
  try {
    const [{ cluster, applications }, { submitToCluster }] = await Promise.all([
      place.open(),
      import("./submission.ts"),
    ]);
    const submitted = await cluster.use(() => submitToCluster(text, draft, context, cluster, listener, stop));
    applications.remember(submitted.access);
    return { ...submitted, applications };
  } catch (error) {
    await place.close();
    throw error;
  }
}

/** Follows the job to its end. @returns its exit code */
export async function followStarted(
  started: StartedJob,
  limits: FollowLimits,
  { now }: ClientContext,
  view: FollowListener,
  signals: FollowSignals,
): Promise<ExitCode> {
  const [{ follow }, { connectMaster: connect }] = await Promise.all([
    import("../following/follow.ts"),
    import("../master/master-connection.ts"),
  ]);
  return await follow({ ...followedFromNow(started, limits, now, signals), connect, view });
}

type FollowLimits = Pick<FollowOptions, "logs" | "endWithinMs">;
type FollowSignals = Pick<FollowOptions, "stop" | "ending" | "ended" | "stoppedBy">;

/** What of a job that was submitted just now is followed, and for how long. */
export function followedFromNow(
  { id, spec, applications }: StartedJob,
  { logs, endWithinMs }: FollowLimits,
  now: () => number,
  { stop, ending, ended, stoppedBy }: FollowSignals,
): Omit<FollowOptions, "connect" | "view"> {
  const { startupMs } = spec.timeouts;
  return {
    id,
    applications,
    now,
    sinceMs: now(),
    logs,
    leadTask: spec.leadTask,
    tasks: tasksOf(spec.roles),
    ...(startupMs === undefined ? {} : { startupLimitMs: startupMs }),
    stop,
    ...(ending !== undefined && { ending }),
    ...(ended !== undefined && { ended }),
    ...(stoppedBy !== undefined && { stoppedBy }),
    ...(endWithinMs !== undefined && { endWithinMs }),
  };
}
