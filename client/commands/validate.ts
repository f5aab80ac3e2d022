import { ExitCode, UserError } from "../../src/errors.ts";
import { checkJob, lookUpLocalPath } from "../../src/job/build/load-job.ts";
import { notRun } from "../../src/job/build/search-run.ts";
import { formatProblem, hasErrors, type Problem } from "../../src/job/problem.ts";
import { countWords } from "../../src/job/reasons/words.ts";
import { searchLine } from "../../src/job/search/words.ts";
import type { FileToShip, JobSpec } from "../../src/job/spec.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { jobArgument, jobOptions, strictOption } from "../command-line/job-options.ts";
import { readJobOf } from "../command-line/read-job.ts";
import { describeRoles } from "../output/progress.ts";
import { spaceLines } from "../output/search-lines.ts";
import type { ValidateJson } from "../printed-json.ts";
import { packingForOthers } from "../shipping/packing/packing.ts";
import { jobContextOf } from "../submission/check-offline.ts";
import { secretProblems } from "../submission/read-secrets.ts";

export const validate = defineCommand({
  verb: "validate",
  summary: "Check a job without a cluster",
  positionals: { job: jobArgument },
  options: { ...jobOptions, ...strictOption, ...jsonOption },
  examples: [
    ["validate job.xml", "Show every mistake in the job, with its line"],
    ["validate --strict job.xml", "Fail on warnings too"],
  ],
  run: async (args, context) => {
    const { output } = context;
    const text = await readJobOf("validate", args, context);
    const checked = checkJob(text, jobContextOf(context));
    const { spec, search } = checked;
    const problems = [...checked.problems, ...secretProblems(text.settings, context), ...(await folderProblems(spec))];
    const invalid = spec === undefined || hasErrors(problems);
    if (args.json) {
      const result: ValidateJson = {
        valid: !invalid,
        problems,
        ...(spec === undefined ? {} : { spec }),
        ...(search === undefined ? {} : { search }),
      };
      output.json(result);
    } else {
      for (const problem of problems) output.problem(formatProblem(problem));
      const warnings = problems.length === 0 ? "" : ` (${countWords(problems.length, "warning")})`;
      if (invalid) return ExitCode.usage;
      output.print(`${spec.name} is valid: ${describeRoles(spec.roles)} · queue ${spec.queue}${warnings}`);
      if (search !== undefined) output.print([`search: ${searchLine(search)}`, ...spaceLines(search)].join("\n"));
      const why = search && notRun(spec, search);
      if (why !== undefined) output.print(`tony-ts search does not run it: ${why}`);
    }
    return invalid ? ExitCode.usage : ExitCode.succeeded;
  },
});

/** The problems that a submission finds when it packs the folders to upload. */
async function folderProblems(spec: JobSpec | undefined): Promise<Problem[]> {
  if (spec === undefined) return [];
  const files = [...spec.files, ...spec.am.files, ...spec.roles.flatMap((role) => role.files)];
  const folders = files.filter(({ source }) => lookUpLocalPath(source) === "directory");
  return (await Promise.all(folders.map((folder) => problemsOfFolder(folder, files)))).flat();
}

async function problemsOfFolder({ name, source, as }: FileToShip, all: readonly FileToShip[]): Promise<Problem[]> {
  try {
    const { warnings } = await packingForOthers(
      source,
      as,
      all.map((one) => one.source),
    );
    return warnings.map((remark) => ({ severity: "warning", message: `${name}: ${remark}` }));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [{ severity: "error", message: error.message }];
  }
}
