import { ExitCode } from "../../src/errors.ts";
import { hasEnded } from "../applications/applications.ts";
import { applicationArgument, openApplications, placeOptions } from "../applications/backend.ts";
import { defineCommand, usageError } from "../command-line/command.ts";
import { parseLogSelection } from "../logs/log-selection.ts";

export const logs = defineCommand({
  verb: "logs",
  summary: "Print what a job's programs or its AM wrote, while it runs and afterwards",
  positionals: {
    application: applicationArgument,
    task: { describe: "worker:0, worker, or am for the ApplicationMaster's own log; default the chief or worker:0" },
  },
  options: {
    follow: { type: "boolean", alias: "f", default: false, describe: "Go on as the log grows, until the job ends" },
    logs: { type: "string", describe: "all, or several tasks: worker:0,worker:1" },
    ...placeOptions,
  },
  examples: [
    ["logs application_1795305600000_0009 worker:1", "One task"],
    ["logs application_1795305600000_0009 am", "The ApplicationMaster's log, JSON lines"],
  ],
  run: async ({ application, task, follow, logs: selected, conf }, context) => {
    if (task !== undefined && selected !== undefined) throw usageError("Give a task or --logs, not both");
    const selection = parseLogSelection(task === "am" ? "none" : (task ?? selected));
    const applications = await openApplications(application, conf, context);
    try {
      const report = await applications.report(application);
      const { liveLogs } = await import("../logs/live-logs.ts");
      const request = { report, selection, master: task === "am", follow };
      const live = hasEnded(report) ? false : await liveLogs(applications, request, context);
      if (live) return ExitCode.succeeded;
      const { storedLogs } = await import("../logs/stored-logs.ts");
      await storedLogs(applications, request, context);
      return ExitCode.succeeded;
    } finally {
      applications.close();
    }
  },
});
