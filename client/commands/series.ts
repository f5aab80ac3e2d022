import { ExitCode } from "../../src/errors.ts";
import { openApplications } from "../applications/backend.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import type { SeriesJson } from "../printed-json.ts";

export const series = defineCommand({
  verb: "series",
  summary: "Show what the tasks of a job that ended used and reported over time",
  positionals: {
    application: applicationArgument,
    task: { describe: "Only this task or role: worker:0, or worker" },
  },
  options: { ...settingOptions, ...jsonOption },
  examples: [
    ["series application_1795305600000_0007", "Cores, memory, GPUs, steps a second and each metric, of every task"],
    ["series application_1795305600000_0007 worker:0", "The same of one task"],
  ],
  run: async ({ application, task, conf, json }, context) => {
    const { seriesOf, seriesLines } = await import("../results/job-series.ts");
    const applications = await openApplications(application, conf, context);
    try {
      const found = await seriesOf(application, task, conf ?? [], applications, context);
      if (json) context.output.json({ ...found.axis, tasks: found.rows } satisfies SeriesJson);
      else context.output.print(seriesLines(found).join("\n"));
      return ExitCode.succeeded;
    } finally {
      applications.close();
    }
  },
});
