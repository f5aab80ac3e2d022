import { readFileSync } from "node:fs";
import path from "node:path";
import { ExitCode, usageError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { checkJob, type JobText } from "../../src/job/build/load-job.ts";
import { formatProblem, invalidJob } from "../../src/job/problem.ts";
import { countWords } from "../../src/job/reasons/words.ts";
import { type Proposal, propose } from "../../src/job/search/propose.ts";
import type { Parameters } from "../../src/job/search/space.ts";
import { stopOf } from "../../src/job/search/stop.ts";
import { readTrialLine, trialOfLine } from "../../src/job/search/trial-line.ts";
import { fillCommand } from "../../src/job/search/trial-program.ts";
import type { Search, Trial } from "../../src/job/search/trials.ts";
import { searchLine, stopWords, valueWords } from "../../src/job/search/words.ts";
import type { ClientContext } from "../context.ts";
import { formatTable } from "../output/format.ts";
import { describeRoles } from "../output/progress.ts";
import type { SearchDryRunJson } from "../printed-json.ts";
import { jobContextOf } from "./check-offline.ts";
import { misfit, requireSame } from "./search-resumption.ts";

interface Asked {
  readonly after: string | undefined;
  readonly count: number | undefined;
  readonly json: boolean;
}

/** The trials that a search would run next, and their commands. Starts nothing and asks no cluster. */
export function forecastSearch(text: JobText, { after, count, json }: Asked, context: ClientContext): ExitCode {
  const { output } = context;
  const { spec, search, problems } = checkJob(text, jobContextOf(context));
  if (spec === undefined) throw invalidJob(problems);
  if (search === undefined) {
    throw usageError(
      `${spec.name} is not a search: set tony.search.param.NAME, tony.search.metric and tony.search.direction`,
    );
  }
  const before = after === undefined ? [] : readTrials(after, search, context);
  const { trials, end } = nextTrials(search, before, count ?? search.maxParallel);
  const stops = before.flatMap((trial, number) => {
    const stop = trial.state === "running" ? stopOf(search, trial, before) : undefined;
    return stop === undefined ? [] : [{ number, ...stop }];
  });
  const commands = spec.roles.map(({ name, command }) => ({ role: name, command }));
  const next = trials.map((params, index) => ({
    number: before.length + index,
    params,
    commands: Object.fromEntries(commands.map(({ role, command }) => [role, fillCommand(command, params)])),
  }));
  if (json) {
    output.json({
      dryRun: true,
      search,
      trials: next,
      stops,
      ...(end === undefined ? {} : { end }),
    } satisfies SearchDryRunJson);
    return ExitCode.succeeded;
  }
  for (const problem of problems) output.problem(formatProblem(problem));
  const names = search.space.map(({ name }) => name);
  const [first] = next;
  const lines = [
    `${spec.name} · ${searchLine(search)} · ${describeRoles(spec.roles)}`,
    ...stops.map((stop) => `trial ${stop.number} is to be stopped: ${stopWords(stop)}`),
    ...formatTable([
      ["trial", ...names],
      ...next.map(({ number, params }) => [String(number), ...names.map((name) => valueWords(params[name]))]),
    ]),
    ...(first === undefined
      ? []
      : Object.entries(first.commands).map(([role, line]) => `trial ${first.number} · ${role}: ${line}`)),
    ...(end === undefined ? [] : [endWords[end](before.length + next.length, search)]),
    "Nothing was run.",
  ];
  output.print(lines.join("\n"));
  return ExitCode.succeeded;
}

const endWords: Readonly<
  Record<"enough" | "exhausted" | "waits", (count: number, search: Pick<Search, "algorithm">) => string>
> = {
  waits: (_, { algorithm }) =>
    algorithm === "optuna"
      ? "What comes next is up to Optuna, which is asked only while the search runs."
      : "What comes next depends on the running trials.",
  enough: (count) => `These are all: ${countWords(count, "trial")} (tony.search.max-trials).`,
  exhausted: (count) => `These are all: ${countWords(count, "trial")} is everything that there is to try.`,
};

function nextTrials(search: Search, before: readonly Trial[], count: number) {
  const trials: Parameters[] = [];
  while (trials.length < count) {
    const proposal: Proposal = propose(search, [
      ...before,
      ...trials.map((params): Trial => ({ params, state: "running" })),
    ]);
    if ("none" in proposal) return { trials, end: proposal.none };
    trials.push(proposal.params);
  }
  return { trials };
}

function readTrials(file: string, search: Search, { workingDirectory }: ClientContext): Trial[] {
  let text: string;
  try {
    text = readFileSync(path.resolve(workingDirectory, file), "utf8");
  } catch (error) {
    throw usageError(`--after ${file} cannot be read: ${errorMessage(error)}`);
  }
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      const { params, search: before, ...rest } = readTrialLine(line);
      if (before !== undefined) requireSame("it", before, search);
      const why = misfit(search.space, params);
      if (why !== undefined) throw new RangeError(why);
      return [trialOfLine({ params, ...rest })];
    } catch (error) {
      throw usageError(`${file}:${index + 1}: ${errorMessage(error)}`);
    }
  });
}
