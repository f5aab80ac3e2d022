import { ExitCode, usageError } from "../../src/errors.ts";
import { openApplications } from "../applications/backend.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { trialCount } from "../command-line/option-values.ts";
import type { TrialsJson } from "../printed-json.ts";

export const trials = defineCommand({
  verb: "trials",
  summary: "Show the trials of a search, the best first",
  positionals: { application: applicationArgument },
  options: {
    ...settingOptions,
    top: { type: "string", describe: "How many of the best to show; default all" },
    csv: { type: "boolean", default: false, describe: "As lines of CSV" },
    ...jsonOption,
  },
  examples: [
    ["trials application_1795305600000_0007 --top 10", "The ten best, with their values and parameters"],
    ["trials application_1795305600000_0007 --csv", "All, for a spreadsheet"],
  ],
  run: async ({ application, conf, top, csv, json }, context) => {
    if (csv && json) throw usageError("--csv and --json exclude each other");
    const count = top === undefined ? Number.POSITIVE_INFINITY : trialCount("top", top);
    const applications = await openApplications(application, conf, context);
    try {
      const { inspect } = await import("../master/inspection.ts");
      const { connectMaster } = await import("../master/master-connection.ts");
      const { status, remark } = await inspect(application, applications, connectMaster);
      if (status === undefined)
        throw usageError(`${application} has no trials to show: ${remark ?? "nothing was kept about it"}`);
      const { search } = status;
      if (search === undefined) throw usageError(`${application} is not a search`);
      const table = await import("../output/trial-table.ts");
      const { bestOf, trialsOf } = await import("../../src/job/search/trial-list.ts");
      const { typedParameters } = await import("../../src/job/search/random-search.ts");
      const { parseParameter } = await import("../../src/job/search/parse-parameter.ts");
      const { aloneCommand, failureLines, trialTable } = table;
      const given = table.givenOf(search, application);
      const all = trialsOf(status, search);
      const shown = all.slice(0, count);
      const best = bestOf(all);
      if (json) {
        const { parameters, space: words = [] } = search;
        const space = words.map((text, at) => ({ name: parameters[at] ?? "", ...parseParameter(text) }));
        const typed = shown.map((trial) => ({ ...trial, params: typedParameters(trial.params, space) }));
        const notKept = table.keysGiven(search);
        const alone = best && {
          ...{ number: best.number, command: aloneCommand(best.params, given), program: table.programOf(best, search) },
          ...(notKept.length > 0 && { notKept }),
        };
        const json = { applicationId: application, search, trials: typed, ...(alone && { best: alone }) };
        context.output.json(json satisfies TrialsJson);
      } else if (csv) context.output.print(table.trialCsv(shown, search).join("\n"));
      else {
        const lines = [table.trialCounts(all) || "No trial has begun.", ...trialTable(all, search, count)];
        const commands = [
          ...failureLines(all, status),
          ...table.bestTrialLines(best, search, given),
          ...(best === undefined ? [] : table.notGivenLines(search)),
        ];
        context.output.print(lines.join("\n"));
        if (commands.length > 0) context.output.preformatted(commands.join("\n"));
      }
      return ExitCode.succeeded;
    } finally {
      applications.close();
    }
  },
});
