import type { ExitCode } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { type Applications, hasEnded } from "../applications/applications.ts";
import { openApplications } from "../applications/backend.ts";
import { exitCodeOf, outcomeOf } from "../applications/outcome.ts";
import { applicationArgument, ownOption, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import type { ClientContext } from "../context.ts";
import { parseLogSelection } from "../logs/log-selection.ts";

export const attach = defineCommand({
  verb: "attach",
  summary: "Follow a job to its end; Ctrl-C leaves it running, and the exit code is the job's",
  positionals: { application: applicationArgument },
  options: {
    logs: {
      type: "string",
      describe: "Whose output to show: none, all, worker:1, worker; default the chief's or worker:0's",
    },
    own: ownOption,
    ...settingOptions,
    ...jsonOption,
  },
  printsEvents: true,
  examples: [
    ["attach application_1795305600000_0007", "Shows the last lines of output, then follows to the end"],
    ["attach --own application_1795305600000_0007", "Ctrl-C and SIGTERM end the job"],
  ],
  run: async ({ application, logs, own, conf, json }, context) => {
    const selection = parseLogSelection(logs);
    const applications = await openApplications(application, conf, context);
    try {
      const report = await applications.report(application);
      if (hasEnded(report) && !json) return await showEnded(report, applications, context);
      const { followAgain } = await import("../following/follow-again.ts");
      return await followAgain(report, { applications, logs: selection, json, owns: own }, context);
    } finally {
      applications.close();
    }
  },
});

/** There is nothing left to follow: the report is shown, as by `status`. */
async function showEnded(
  report: ApplicationReport,
  applications: Applications,
  { output, now }: ClientContext,
): Promise<ExitCode> {
  const { inspectionLines, whyUnknown } = await import("../master/inspection.ts");
  const status = await applications.finalStatus(report);
  const inspection = { report, ...(status === undefined ? whyUnknown(report, applications) : { status }) };
  output.print(inspectionLines(inspection, now()).join("\n"));
  return exitCodeOf(outcomeOf(report, status?.outcome, now()));
}
