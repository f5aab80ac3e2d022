import { usageError } from "../../src/errors.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { jobArgument, jobOptions, jobWords, strictOption } from "../command-line/job-options.ts";
import { trialCount } from "../command-line/option-values.ts";
import { readJobOf } from "../command-line/read-job.ts";

export const search = defineCommand({
  verb: "search",
  summary: "Run a search for good parameters, or show what it would try next",
  positionals: { job: jobArgument },
  options: {
    ...jobOptions,
    ...strictOption,
    scheduler: { choices: ["yarn", "local"], default: "yarn", describe: "The cluster, or only this machine" },
    "dry-run": { type: "boolean", default: false, describe: "Run nothing: show the next trials and their commands" },
    after: {
      type: "string",
      describe: "A file of existing trials, one JSON object on each line; shows what comes next",
    },
    resume: {
      type: "string",
      describe: "Continue a search that has ended: its application's id, or the file of its trials",
    },
    trials: { type: "string", describe: "How many trials to show; default as many as run at once" },
    detach: { type: "boolean", default: false, describe: "Print the application's id and exit; the search goes on" },
    ...jsonOption,
  },
  printsEvents: true,
  examples: [
    ["search job.xml", "Runs the trials and shows the best ones"],
    ["search --scheduler local job.xml", "Without a cluster"],
    [
      "search job.xml --resume application_1795305600000_0007",
      "Goes on with one that was killed, failed or ran out of time",
    ],
    ["search --detach job.xml", "tony-ts attach ID follows it, tony-ts trials ID shows what it has found"],
    ["search --dry-run job.xml", "The first trials, as many as run at once"],
    ["search --dry-run --after trials.jsonl --trials 1 --json job.xml", "What to try next, given these results"],
  ],
  run: async (args, context) => {
    const count = args.trials === undefined ? undefined : trialCount("trials", args.trials);
    const { detach, json, "dry-run": isDryRun } = args;
    if (!isDryRun) {
      if (count !== undefined || args.after !== undefined) throw usageError("--trials and --after need --dry-run");
      const { runSearch } = await import("../submission/run-search.ts");
      return await runSearch(
        await readJobOf("search", { ...args, runsSearch: true }, context),
        jobWords(args),
        { local: args.scheduler === "local", detach, json, resume: args.resume, conf: args.conf },
        context,
      );
    }
    if (detach) throw usageError("--dry-run runs nothing, so there is no search to leave with --detach");
    if (args.resume !== undefined) throw usageError("--resume runs a search; --dry-run goes on with --after FILE");
    const text = await readJobOf("search", args, context);
    const { forecastSearch } = await import("../submission/search-forecast.ts");
    return forecastSearch(text, { after: args.after, count, json }, context);
  },
});
