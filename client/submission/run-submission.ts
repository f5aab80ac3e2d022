import type { ClientAccess } from "../../src/api/identity.ts";
import { ExitCode } from "../../src/errors.ts";
import type { JobText } from "../../src/job/load-job.ts";
import { readSetting } from "../../src/job/read-settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { Applications } from "../applications/applications.ts";
import type { ClientContext } from "../context.ts";
import type { FollowListener } from "../following/follow-listener.ts";
import { FollowView } from "../following/follow-view.ts";
import { JobSignals } from "../following/job-signals.ts";
import { JsonView } from "../following/json-view.ts";
import type { LogSelection } from "../logs/log-selection.ts";
import { printEvent } from "../logs/print-event.ts";
import type { Output } from "../output/output.ts";
import type { DetachedJson } from "../printed-json.ts";
import { checkOffline } from "./check-offline.ts";
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
  const { output, now } = context;
  const { detach, json } = choices;
  let view: FollowListener = json && !detach ? new JsonView(output) : new FollowView(output, now, now());
  const signals = new JobSignals((reason) => view.left(reason, ExitCode.unknown));
  try {
    const announce = announcer(choices, output);
    const named = (id: string, spec: JobSpec) => {
      signals.named(id);
      announce.named(id, spec);
    };
    const running = await submit(text, choices, context, signals.stop, { ...announce, named });
    announce.submitted(running.id, running.spec);
    signals.submitted();
    try {
      const swept = running.applications.sweep().catch(() => undefined);
      if (detach) {
        if (json) output.jsonLine({ applicationId: running.id } satisfies DetachedJson);
        else output.print(running.id);
        await swept;
        return ExitCode.succeeded;
      }
      // Times count from here.
      if (!json) view = new FollowView(output, now, now());
      return await followTo(running, choices, context, view, signals);
    } finally {
      running.applications.close();
    }
  } finally {
    signals.unwatch();
  }
}

interface Announcer extends SubmissionListener {
  /** The job has been taken. */
  readonly submitted: (id: string, spec: JobSpec) => void;
}

/** What is said of a submission: its way for people, the job for programs, beside the result where that is the id alone. */
function announcer({ detach, json, local }: SubmissionChoices, output: Output): Announcer {
  if (detach || json) {
    const uploads: string[] = [];
    return {
      named: () => undefined,
      uploading: (block) => output.waitAside(block),
      uploaded: (line) => {
        if (detach) output.problem(line);
        else uploads.push(line.trim());
      },
      submitted: (applicationId, { name, queue }) => {
        if (detach) return;
        printEvent(output, { event: "job", applicationId, name, queue, submitted: true });
        for (const text of uploads) printEvent(output, { event: "remark", text });
      },
    };
  }
  return {
    named: (id, spec) => output.print(submissionLine(id, spec, local ? "on this machine" : `queue ${spec.queue}`)),
    uploading: (block) => output.wait(block),
    uploaded: (line) => output.print(line),
    submitted: () => undefined,
  };
}

/** @throws UserError (`NOT_SUBMITTED`) when a signal came before the job was handed in */
async function submit(
  text: JobText,
  { local, logs }: SubmissionChoices,
  context: ClientContext,
  stop: AbortSignal,
  listener: SubmissionListener,
): Promise<Running> {
  // A mistake in the job is told before one in the cluster's configuration.
  const draft = checkOffline(text, logs, context);
  if (!local) return await submitThere(text, draft.spec, context, stop, listener);
  const { submitLocally } = await import("./local-submission.ts");
  return await submitLocally(text, draft, context, listener);
}

async function submitThere(
  text: JobText,
  draft: JobSpec,
  context: ClientContext,
  stop: AbortSignal,
  listener: SubmissionListener,
): Promise<Running> {
  const [{ clusterOf }, { submitToYarn }, { YarnApplications }] = await Promise.all([
    import("../cluster/cluster.ts"),
    import("./submission.ts"),
    import("../applications/yarn-applications.ts"),
  ]);
  const cluster = clusterOf(text, context);
  try {
    const submitted = await cluster.use(() => submitToYarn(text, draft, context, cluster, listener, stop));
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
  { now }: ClientContext,
  view: FollowListener,
  { stop, ending }: Pick<JobSignals, "stop" | "ending">,
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
    ...(startupMs === undefined ? {} : { startupLimitMs: startupMs }),
    stop,
    ending,
  });
}
