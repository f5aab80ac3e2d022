import { usageError } from "../../src/errors.ts";
import { ownOption } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { jobArgument, jobOptions, strictOption, submissionOverrides } from "../command-line/job-options.ts";
import { readJobOf } from "../command-line/read-job.ts";
import { parseLogSelection } from "../logs/log-selection.ts";
import { JobCluster } from "../submission/job-cluster.ts";

export const submit = defineCommand({
  verb: "submit",
  summary: "Submit a job and follow it to its end",
  positionals: { job: jobArgument },
  options: {
    ...jobOptions,
    ...submissionOverrides,
    ...strictOption,
    "resume-from": {
      type: "string",
      describe:
        "An earlier job's id: its last checkpoint is the program's TONY_CHECKPOINT; or a checkpoint's path or URL",
    },
    scheduler: { choices: ["yarn", "local"], default: "yarn", describe: "The cluster, or only this machine" },
    detach: { type: "boolean", default: false, describe: "Print the application's id and exit; the job goes on" },
    "application-tag": {
      type: "string",
      describe: "A YARN tag; if a job of yours with it has not ended, follow that job and submit nothing",
    },
    own: ownOption,
    logs: {
      type: "string",
      describe: "Whose output to show: none, all, worker:1, worker; default the chief's or worker:0's",
    },
    "dry-run": {
      type: "boolean",
      default: false,
      describe: "Run all checks, the cluster's too, and show what would be uploaded and requested",
    },
    ...jsonOption,
  },
  printsEvents: true,
  examples: [
    ["submit job.xml", "Follows until the end; the exit code is the job's"],
    ["submit job.xml -conf tony.worker.instances=4", "With one setting changed"],
    ["submit job.xml --queue ml --priority 5 --env EPOCHS=3", "In another queue, with a variable for the program"],
    ["submit job.xml --resume-from application_1795305600000_0009", "Begins with that job's last checkpoint"],
    ["submit --scheduler local job.xml", "Without a cluster"],
    ["submit --detach --name try-2 job.xml", "Under another name; tony-ts attach ID follows it again"],
    [
      "submit --application-tag nightly job.xml",
      "Run again while that job runs, it follows it instead of starting a second",
    ],
  ],
  run: async (args, context) => {
    const { detach, json, own, "dry-run": isDryRun } = args;
    if (detach && isDryRun) throw usageError("--dry-run submits nothing, so there is no job to leave with --detach");
    for (const name of ["name", "queue", "priority", "resume-from"] as const)
      if (args[name]?.trim() === "") throw usageError(`--${name} needs a value`);
    const logs = parseLogSelection(args.logs);
    const local = args.scheduler === "local";
    for (const name of local ? yarnOnly : [])
      if (args[name] !== undefined)
        throw usageError(`--${name} has no effect with --scheduler local: leave one of them out`);
    const applicationTag = checkedTag(args["application-tag"]);
    const tags = applicationTag === undefined ? {} : { tags: [applicationTag] };
    const read = (resumeFrom?: string) => readJobOf("submit", { ...args, ...tags, resumeFrom }, context);
    const asWritten = await read();
    const from = args["resume-from"];
    const place = new JobCluster(asWritten, context);
    try {
      const pointToResume = async (id: string) => {
        const { resumePoint } = await import("../submission/resume-point.ts");
        return await resumePoint(id, asWritten, local, context, place);
      };
      const text = from === undefined ? asWritten : await read(await pointToResume(from));
      if (isDryRun) {
        const { dryRun } = await import("../submission/dry-run.ts");
        return await dryRun(text, { local, json, logs }, context, place);
      }
      const { runSubmission } = await import("../submission/run-submission.ts");
      const unique = applicationTag === undefined ? {} : { applicationTag, own };
      return await runSubmission(text, { detach, json, logs, local, ...unique }, context, place);
    } finally {
      await place.close();
    }
  },
});

/** Options that only a ResourceManager acts on. */
const yarnOnly = ["queue", "priority", "application-tag"] as const;

/** YARN's own limits (ApplicationSubmissionContextPBImpl); its clients write tags in lower case. */
function checkedTag(tag: string | undefined): string | undefined {
  if (tag === undefined) return undefined;
  if (!/^[\x21-\x7e]{1,100}$/.test(tag) || tag.includes(",")) {
    throw usageError(
      "--application-tag takes up to 100 letters, digits and punctuation of ASCII, without spaces and commas",
    );
  }
  return tag.toLowerCase();
}
