import { defineCommand, jsonOption, usageError } from "../command-line/command.ts";
import { jobOptions, optionRemarks, readJobOf } from "../command-line/job-options.ts";
import { parseLogSelection } from "../logs/log-selection.ts";

export const submit = defineCommand({
  verb: "submit",
  summary: "Submit a job and follow it to its end",
  positionals: {},
  options: {
    ...jobOptions,
    scheduler: { choices: ["yarn", "local"], default: "yarn", describe: "The cluster, or this machine alone" },
    detach: { type: "boolean", default: false, describe: "Print the application's id and leave; the job runs on" },
    logs: {
      type: "string",
      describe: "Whose output to show: none, all, worker:1, worker; default the chief's or worker:0's",
    },
    ...jsonOption,
  },
  examples: [
    ["submit --conf job.xml", "Follows until the end; the exit code is the job's"],
    ["submit --conf job.xml -conf tony.worker.instances=4", "With one setting changed"],
    ["submit --scheduler local --conf job.xml", "Without a cluster"],
  ],
  run: async (args, context) => {
    const { detach, json } = args;
    if (json && !detach) throw usageError("--json goes with --detach; a job that is followed prints its progress");
    const logs = parseLogSelection(args.logs);
    const text = readJobOf(args, context);
    for (const remark of optionRemarks(args)) context.output.problem(remark);
    const { runSubmission } = await import("../submission/run-submission.ts");
    return await runSubmission(text, { detach, json, logs, local: args.scheduler === "local" }, context);
  },
});
