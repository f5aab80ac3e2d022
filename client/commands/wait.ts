import { openApplications } from "../applications/backend.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";

export const wait = defineCommand({
  verb: "wait",
  summary: "Wait until a job ends, without its output; exits with the job's exit code",
  positionals: { application: applicationArgument },
  options: { ...settingOptions, ...jsonOption },
  printsEvents: true,
  examples: [["wait application_1795305600000_0007 && echo done", "For scripts; Ctrl-C leaves the job alone"]],
  run: async ({ application, conf, json }, { output, now, ...rest }) => {
    const applications = await openApplications(application, conf, { output, now, ...rest });
    try {
      const report = await applications.report(application);
      const [{ QuietView }, { jobEvent, jsonView }, { LogPrinter }, { watchJob }] = await Promise.all([
        import("../following/quiet-view.ts"),
        import("../following/json-view.ts"),
        import("../logs/log-printer.ts"),
        import("../following/watch-job.ts"),
      ]);
      const logs = { kind: "none" } as const;
      const quietly = {
        selection: logs,
        printer: new LogPrinter(output, { json }),
        end: (line: string) => output.print(line),
      };
      const view = json ? jsonView(output) : new QuietView(output, quietly);
      if (json) output.jsonLine(jobEvent(report));
      return await watchJob(report, { applications, view, now, logs });
    } finally {
      applications.close();
    }
  },
});
