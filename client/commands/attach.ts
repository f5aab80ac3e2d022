import { ExitCode } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { type Applications, hasEnded } from "../applications/applications.ts";
import { openApplications } from "../applications/backend.ts";
import { exitCodeOf, outcomeOf } from "../applications/outcome.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import type { ClientContext } from "../context.ts";
import { parseLogSelection } from "../logs/log-selection.ts";
import { formatDate } from "../output/format.ts";

/** Of each stream of output that is there already, enough for the last lines. */
const lastOutputBytes = 4_096;

export const attach = defineCommand({
  verb: "attach",
  summary: "Follow a job again, as submit does: Ctrl-C ends it, its exit code comes at the end",
  positionals: { application: applicationArgument },
  options: {
    logs: {
      type: "string",
      describe: "Whose output to show: none, all, worker:1, worker; default the chief's or worker:0's",
    },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [["attach application_1795305600000_0007", "From the last lines of its output to its end"]],
  run: async ({ application, logs, conf, json }, context) => {
    const selection = parseLogSelection(logs);
    const applications = await openApplications(application, conf, context);
    try {
      const report = await applications.report(application);
      if (hasEnded(report) && !json) return await showEnded(report, applications, context);
      const [{ FollowView }, { JsonView, jobEvent }, { JobSignals }, { watchJob }] = await Promise.all([
        import("../following/follow-view.ts"),
        import("../following/json-view.ts"),
        import("../following/job-signals.ts"),
        import("../following/watch-job.ts"),
      ]);
      const { output, now } = context;
      const view = json ? new JsonView(output) : new FollowView(output, now, Math.min(now(), report.startTimeMs));
      const signals = new JobSignals((reason) => view.left(reason, ExitCode.unknown));
      signals.named(report.id);
      signals.submitted();
      try {
        if (json) output.jsonLine(jobEvent(report));
        else output.print(firstLine(report));
        const logsFrom = () => -lastOutputBytes;
        const { stop, ending } = signals;
        return await watchJob(report, { applications, view, now, logs: selection, logsFrom, stop, ending });
      } finally {
        signals.unwatch();
      }
    } finally {
      applications.close();
    }
  },
});

function firstLine({ id, name, queue, startTimeMs }: ApplicationReport): string {
  return `${id}  ${name} · queue ${queue.slice(queue.lastIndexOf(".") + 1)} · since ${formatDate(startTimeMs)}`;
}

/** There is nothing to follow: its report is shown, as `status` does. */
async function showEnded(
  report: ApplicationReport,
  applications: Applications,
  { output, now }: ClientContext,
): Promise<ExitCode> {
  const { inspectionLines } = await import("../master/inspection.ts");
  const status = await applications.finalStatus(report);
  const inspection = { report, ...(status === undefined ? {} : { status }) };
  output.print(inspectionLines(inspection, now()).join("\n"));
  return exitCodeOf(outcomeOf(report, status?.outcome, now()));
}
