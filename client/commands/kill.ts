import { ExitCode } from "../../src/errors.ts";
import { finalState, hasEnded } from "../applications/applications.ts";
import { openApplications, placeOptions } from "../applications/backend.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";

export const kill = defineCommand({
  verb: "kill",
  summary: "End a job",
  positionals: { application: { describe: "application_… or local_…", required: true } },
  options: {
    reason: { type: "string", describe: "Shown to those who look at the job later" },
    ...placeOptions,
    ...jsonOption,
  },
  run: async ({ application, conf, json, reason }, context) => {
    const applications = await openApplications(application, conf, context);
    try {
      const { endApplication } = await import("../applications/end-application.ts");
      const before = await applications.report(application);
      const report = hasEnded(before) ? before : await endApplication(applications, before, reason, context);
      const cleaned = await applications.clean(application).catch(() => false);
      if (json)
        context.output.json({ applicationId: application, state: report.state, finalStatus: report.finalStatus });
      else if (before === report) context.output.print(`${application} had ended already: ${finalState(report)}`);
      else
        context.output.print(`${application} ${finalState(report)}${cleaned ? "; its staging folder is removed" : ""}`);
      await applications.sweep().catch(() => undefined);
      return ExitCode.succeeded;
    } finally {
      applications.close();
    }
  },
});
