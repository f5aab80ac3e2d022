import { ExitCode } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { Applications } from "../applications/applications.ts";
import type { ClientContext } from "../context.ts";
import type { FollowListener } from "../following/follow-listener.ts";
import { FollowView } from "../following/follow-view.ts";
import { JobSignals } from "../following/job-signals.ts";
import { jsonView } from "../following/json-view.ts";
import type { LogSelection } from "../logs/log-selection.ts";
import { printEvent } from "../logs/print-event.ts";
import type { Output } from "../output/output.ts";
import { describeJob } from "../output/progress.ts";
import type { DetachedJson } from "../printed-json.ts";
import { JobCluster } from "./job-cluster.ts";
import { notSubmitted } from "./not-submitted.ts";
import { runningJob, takenBefore } from "./running-job.ts";
import { followStarted, type StartedJob, startJob } from "./start-job.ts";
import type { SubmissionListener } from "./submission.ts";

export interface SubmissionChoices {
  readonly detach: boolean;
  readonly json: boolean;
  readonly logs: LogSelection;
  readonly local: boolean;
  /** If a job of the caller's with this tag has not ended, that job is followed instead; the submitted job gets the tag too. */
  readonly applicationTag?: string;
  /** Shows the job in place of the view that `json` chooses. */
  readonly display?: JobDisplay;
  /** Whether Ctrl-C and SIGTERM end an already submitted job with that tag; default: they leave it running. */
  readonly own?: boolean;
  /** As in `FollowOptions.endWithinMs`. */
  readonly endWithinMs?: number;
}

/** Shows a job in a different way than for a person's terminal or a program. */
export interface JobDisplay {
  readonly view: FollowListener;
  /** Called when the cluster has accepted the job, or it already runs. */
  readonly submitted: (id: string) => void;
}

/** Submits a job and, unless told otherwise, follows it; signals end it or leave it running. */
export async function runSubmission(
  text: JobText,
  choices: SubmissionChoices,
  context: ClientContext,
  place = new JobCluster(text, context),
): Promise<ExitCode> {
  const { applicationTag } = choices;
  if (applicationTag === undefined) return await submitAndFollow(text, choices, context, place);
  try {
    const { applications } = await place.open();
    const report = await runningJob(applicationTag, applications);
    if (report === undefined) return await submitAndFollow(text, choices, context, place);
    context.output.problem(`${report.id} has the tag ${applicationTag} and has not ended: nothing was submitted`);
    return await takeUp({ report, applications }, choices, context);
  } finally {
    await place.close();
  }
}

async function submitAndFollow(
  text: JobText,
  choices: SubmissionChoices,
  context: ClientContext,
  place: JobCluster,
): Promise<ExitCode> {
  const { output, now } = context;
  const { detach, json, display } = choices;
  let view = display?.view ?? (json && !detach ? jsonView(output) : new FollowView(output, now, now()));
  const signals = new JobSignals((reason) => view.left(reason, ExitCode.unknown));
  try {
    const announce = announcer(choices, output);
    const named = (id: string, spec: JobSpec) => {
      signals.named(id);
      announce.named(id, spec);
    };
    const running = await startJob(text, choices, context, signals.stop, { ...announce, named }, place);
    try {
      const first = await firstWithItsTag(running, choices, context);
      if (first !== undefined) {
        signals.unwatch();
        if (signals.stop.aborted) throw notSubmitted("the cluster");
        return await takeUp({ report: first, applications: running.applications }, choices, context);
      }
      announce.submitted(running.id, running.spec);
      signals.submitted();
      const swept = running.applications.sweep().catch(() => undefined);
      if (detach) {
        tellDetached(running.id, json, output);
        await swept;
        return ExitCode.succeeded;
      }
      // Times count from here.
      if (!json && display === undefined)
        view = new FollowView(output, now, now(), choices.local ? {} : { adviceOn: await adviceOn(context) });
      return await followStarted(running, choices, context, view, signals);
    } finally {
      running.applications.close();
    }
  } finally {
    signals.unwatch();
  }
}

/** Uses the cluster's container sizes: this machine does not round memory. */
async function adviceOn(context: ClientContext): Promise<(status: JobStatus) => string | undefined> {
  const { adviceLine, roundings } = await import("../results/advice.ts");
  const sizes = roundings(true, context);
  return (status) => adviceLine(status, sizes);
}

/** The job to follow instead, where one with the same tag was accepted just before: ours is withdrawn then. */
async function firstWithItsTag(
  { id, applications }: StartedJob,
  { applicationTag }: SubmissionChoices,
  context: ClientContext,
): Promise<ApplicationReport | undefined> {
  if (applicationTag === undefined) return undefined;
  const first = await takenBefore(id, applicationTag, applications).catch((error: unknown) => {
    const unseen = `Whether another job with the tag ${applicationTag} was submitted just before is not known`;
    context.output.problem(`${unseen}: ${errorMessage(error)}`);
    return undefined;
  });
  if (first === undefined) return undefined;
  const { endApplication } = await import("../master/end-application.ts");
  const why = `${first.id} was submitted just before and has the tag ${applicationTag}, too`;
  await endApplication(applications, await applications.report(id), why, context);
  await applications.clean(id).catch(() => "");
  context.output.problem(`${why}: ${id} is withdrawn`);
  return first;
}

function tellDetached(applicationId: string, json: boolean, output: Output): void {
  if (json) output.jsonLine({ applicationId } satisfies DetachedJson);
  else output.print(applicationId);
}

/** Continues with the job that an earlier try started. */
async function takeUp(
  { report, applications }: { readonly report: ApplicationReport; readonly applications: Applications },
  { detach, json, logs, display, own = false, endWithinMs }: SubmissionChoices,
  context: ClientContext,
): Promise<ExitCode> {
  const { output } = context;
  display?.submitted(report.id);
  if (detach) {
    tellDetached(report.id, json, output);
    return ExitCode.succeeded;
  }
  const { followAgain } = await import("../following/follow-again.ts");
  return await followAgain(
    report,
    {
      applications,
      logs,
      json,
      owns: own,
      ...(display !== undefined && { view: display.view }),
      ...(endWithinMs !== undefined && { endWithinMs }),
    },
    context,
  );
}

interface Announcer extends SubmissionListener {
  /** Called when the job has been accepted. */
  readonly submitted: (id: string, spec: JobSpec) => void;
}

/** What a submission prints: its progress for people, the job as JSON; on standard error where standard output is only the id. */
function announcer({ detach, json, local, display }: SubmissionChoices, output: Output): Announcer {
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
    submitted: (id) => display?.submitted(id),
  };
}

/** The first line of a submission; it begins with the bare id, which Azkaban looks for in a job's log. */
function submissionLine(id: string, spec: JobSpec, where: string): string {
  return `${id}  ${spec.name} · ${where} · ${describeJob(spec)}`;
}
