import { usageError } from "../../src/errors.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { jobArgument, jobOptions, strictOption } from "../command-line/job-options.ts";
import { readJobOf } from "../command-line/read-job.ts";

export const search = defineCommand({
  verb: "search",
  summary: "Show which trials a search for good parameters would run",
  positionals: { job: jobArgument },
  options: {
    ...jobOptions,
    ...strictOption,
    "dry-run": { type: "boolean", default: false, describe: "Run nothing: show the next trials and their commands" },
    after: {
      type: "string",
      describe: "A file of trials that there are already, a JSON object on each line; shows what comes next",
    },
    trials: { type: "string", describe: "How many trials to show; default as many as run at once" },
    ...jsonOption,
  },
  examples: [
    ["search --dry-run job.xml", "The first trials, as many as run at once"],
    ["search --dry-run --after trials.jsonl --trials 1 --json job.xml", "What to try next, given these results"],
  ],
  run: async (args, context) => {
    if (!args["dry-run"]) {
      throw usageError("Searches do not run on a cluster yet: --dry-run shows the next trials, for you to run");
    }
    const count = args.trials === undefined ? undefined : countOf(args.trials);
    const text = await readJobOf("search", args, context);
    const { forecastSearch } = await import("../submission/search-forecast.ts");
    return forecastSearch(text, { after: args.after, count, json: args.json }, context);
  },
});

function countOf(text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw usageError(`--trials takes a number of trials from 1 to 99999, not ${text}`);
  return count;
}
