import { ExitCode } from "../../src/errors.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";

export const stacks = defineCommand({
  verb: "stacks",
  summary: "Show where in their code the Python programs of a job's tasks are",
  positionals: {
    application: applicationArgument,
    task: { describe: "worker:0, or of a search trial:17 or trial:17/worker:0; without it all that run" },
  },
  options: { ...settingOptions, ...jsonOption },
  examples: [
    ["stacks application_1795305600000_0007", "Which tasks stand at the same place, then the stacks of all threads"],
  ],
  run: async ({ application, task, conf, json }, context) => {
    const { connectRunningJob } = await import("../sessions/running-job.ts");
    const { stacksJson, stacksLines } = await import("../sessions/stacks.ts");
    const master = await connectRunningJob(application, conf, context);
    try {
      const taken = await stacksJson(master, task);
      if (json) context.output.json(taken);
      else context.output.print(stacksLines(taken).join("\n"));
      return ExitCode.succeeded;
    } finally {
      master.close();
    }
  },
});
