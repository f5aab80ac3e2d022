import { readFileSync } from "node:fs";
import path from "node:path";
import { type ExitCode, usageError } from "../../src/errors.ts";
import { checkJob, type JobText } from "../../src/job/build/load-job.ts";
import { notRun } from "../../src/job/build/search-run.ts";
import { isSetting } from "../../src/job/build/submission.ts";
import { invalidJob } from "../../src/job/problem.ts";
import { optunaProgramPath } from "../../src/programs.ts";
import { localRoot } from "../applications/local-folder.ts";
import type { ClientContext } from "../context.ts";
import { SearchView, type SearchViewOptions } from "../following/search-view.ts";
import { printEvent } from "../logs/print-event.ts";
import { jobContextOf } from "./check-offline.ts";
import { runSubmission, type SubmissionChoices } from "./run-submission.ts";

interface Resumption {
  /** The id of an earlier search, or a file of its trials, that this one continues. */
  readonly resume: string | undefined;
  readonly conf: readonly string[] | undefined;
}

/**
 * Runs the trials of a search, and follows it like any job unless it is detached.
 * @param given the words of the command line that describe the job
 */
export async function runSearch(
  text: JobText,
  given: readonly string[],
  { local, detach, json, resume, conf }: Pick<SubmissionChoices, "local" | "detach" | "json"> & Resumption,
  context: ClientContext,
): Promise<ExitCode> {
  const asWritten = checkJob({ ...text, submission: { ...text.submission, runsSearch: false } }, jobContextOf(context));
  const { spec, search, problems } = asWritten;
  if (spec === undefined) throw invalidJob(problems);
  if (search === undefined) throw usageError(`${spec.name} is not a search`);
  const why = notRun(spec, search);
  if (why !== undefined) throw usageError(`This search does not run: ${why}`);
  const choices = { detach, json, logs: { kind: "none" }, local } as const;
  const view = new SearchView(context.output, context.now, searchAsGiven(given, local, context));
  const shown = json || detach ? choices : { ...choices, display: { view, submitted: () => undefined } };
  const program = search.algorithm === "optuna" && { optunaProgram: readFileSync(optunaProgramPath(), "utf8") };
  const submission = { ...text.submission, ...program };
  if (resume === undefined) return await runSubmission({ ...text, submission }, shown, context);
  const { tookOver, trialsBefore } = await import("./search-resumption.ts");
  const before = await trialsBefore(resume, search, conf?.filter(isSetting), context);
  const words = tookOver(resume, before);
  if (detach) context.output.problem(words);
  else if (json) printEvent(context.output, { event: "remark", text: words });
  else context.output.print(words);
  return await runSubmission({ ...text, submission: { ...submission, trialsBefore: before } }, shown, context);
}

/** How the search was run, and where it keeps its files, for the commands that are shown at its end. */
export function searchAsGiven(
  given: readonly string[],
  local: boolean,
  { environment }: Pick<ClientContext, "environment">,
): Pick<SearchViewOptions, "given" | "localFolder"> {
  if (!local) return { given };
  const localFolder = (id: string) => path.join(localRoot(environment), id);
  return { given: [...given, "--scheduler", "local"], localFolder };
}
