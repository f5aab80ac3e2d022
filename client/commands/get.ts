import { type ExitCode, usageError } from "../../src/errors.ts";
import { openApplications } from "../applications/backend.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";

export const get = defineCommand({
  verb: "get",
  summary: "Fetch a job's results, its last checkpoint or its history",
  positionals: {
    application: applicationArgument,
    task: { describe: "Only the results of worker:0, of the role worker, or of a search's trial:17" },
  },
  options: {
    checkpoint: { type: "boolean", default: false, describe: "Fetch the last complete checkpoint" },
    history: { type: "boolean", default: false, describe: "Fetch the job's folder of tony.history.location" },
    to: { type: "string", describe: "Folder for the files; default one with the job's id" },
    force: { type: "boolean", default: false, describe: "Overwrite files that are there already" },
    "dry-run": { type: "boolean", default: false, describe: "Show what would be fetched; fetch nothing" },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [
    ["get application_1795305600000_0007", "What each task left in TONY_OUTPUT_LOCAL_DIR, in a folder for each"],
    ["get application_1795305600000_0007 worker:0 --to results", "The results of one task, into a folder"],
    ["get application_1795305600000_0007 --checkpoint --to bert", "The last checkpoint"],
    ["get application_1795305600000_0007 trial:17 --checkpoint", "Of a search: that of one trial"],
  ],
  run: async (
    { application, task, checkpoint, history, to, force, "dry-run": dryRun, conf, json },
    context,
  ): Promise<ExitCode> => {
    if (checkpoint && history) throw usageError("Choose --checkpoint or --history, not both");
    if (task !== undefined && (history || (checkpoint && !task.startsWith("trial:"))))
      throw usageError(`${checkpoint ? "--checkpoint" : "--history"} applies to the whole job: do not name a task`);
    const { getFiles } = await import("../results/get-files.ts");
    const applications = await openApplications(application, conf, context);
    const what = checkpoint ? "checkpoint" : history ? "history" : "results";
    try {
      return await getFiles({ application, what, task, to, force, dryRun, conf, json }, applications, context);
    } finally {
      applications.close();
    }
  },
});
