import { ExitCode } from "../../src/errors.ts";
import { openApplications } from "../applications/backend.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";

export const status = defineCommand({
  verb: "status",
  summary: "Show how a job is doing, or how it ended",
  positionals: { application: applicationArgument },
  options: { ...settingOptions, ...jsonOption },
  examples: [["status application_1795305600000_0007", "The tasks, what is waited for, the last checkpoint"]],
  run: async ({ application, conf, json }, context) => {
    const applications = await openApplications(application, conf, context);
    try {
      const { inspect, inspectionJson, inspectionLines } = await import("../master/inspection.ts");
      const { connectMaster } = await import("../master/master-connection.ts");
      const inspection = await inspect(application, applications, connectMaster);
      if (json) context.output.json(inspectionJson(inspection, context.now()));
      else context.output.print(inspectionLines(inspection, context.now()).join("\n"));
      return ExitCode.succeeded;
    } finally {
      applications.close();
    }
  },
});
