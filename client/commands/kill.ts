import { ExitCode } from "../../src/errors.ts";
import { finalState, hasEnded } from "../applications/applications.ts";
import { checkId, openApplications } from "../applications/backend.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { type ErrorReport, reportError } from "../command-line/handle-errors.ts";
import type { ClientContext } from "../context.ts";
import type { KilledJob, KillJson, NotKilledJob } from "../printed-json.ts";

export const kill = defineCommand({
  verb: "kill",
  summary: "End jobs",
  positionals: { application: { ...applicationArgument, many: true } },
  options: {
    reason: { type: "string", describe: "Shown to those who look at the job later" },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [["kill application_1795305600000_0009 local_1795305600000_0001", "Two jobs, wherever they run"]],
  run: async ({ application: ids, conf, json, reason }, context) => {
    for (const id of ids) checkId(id);
    const jobs = await Promise.all([...new Set(ids)].map((id) => end(id, { conf, reason }, context)));
    if (json) context.output.json({ jobs: jobs.map(({ job }) => job) } satisfies KillJson);
    else for (const job of jobs) tell(job, context);
    return jobs.find(({ error }) => error !== undefined)?.error?.exitCode ?? ExitCode.succeeded;
  },
});

/** What became of one job that was to be ended: as data and, in words, for people. */
interface Ended {
  readonly job: KilledJob | NotKilledJob;
  readonly words: string;
  /** Why it was not killed. */
  readonly error?: ErrorReport;
}

async function end(
  applicationId: string,
  { conf, reason }: { readonly conf: readonly string[] | undefined; readonly reason: string | undefined },
  context: ClientContext,
): Promise<Ended> {
  try {
    const applications = await openApplications(applicationId, conf, context);
    try {
      const { endApplication } = await import("../master/end-application.ts");
      const before = await applications.report(applicationId);
      const report = hasEnded(before) ? before : await endApplication(applications, before, reason, context);
      const cleaned = await applications.clean(applicationId).catch(() => "");
      await applications.sweep().catch(() => undefined);
      const how = before === report ? `had ended already: ${finalState(report)}` : finalState(report);
      const words = cleaned !== "" && before !== report ? `${how}; ${cleaned}` : how;
      const { state, finalStatus } = report;
      return { job: { applicationId, state, finalStatus }, words };
    } finally {
      applications.close();
    }
  } catch (cause) {
    const error = reportError(cause);
    const { code, message, retryable } = error;
    return { job: { applicationId, error: { code, message, retryable } }, words: message, error };
  }
}

function tell({ job: { applicationId }, words, error }: Ended, { output }: ClientContext): void {
  if (error === undefined) output.print(`${applicationId} ${words}`);
  else output.problem(`tony-ts: ${applicationId}: ${words}`);
}
