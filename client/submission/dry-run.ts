import { ExitCode } from "../../src/errors.ts";
import { wholeJob } from "../../src/job/amounts.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import { formatProblem, type Problem } from "../../src/job/problem.ts";
import { amountWords, countWords } from "../../src/job/reasons/words.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { ClientContext } from "../context.ts";
import type { LogSelection } from "../logs/log-selection.ts";
import { describeRoles } from "../output/progress.ts";
import type { DryRunJson } from "../printed-json.ts";
import type { PlannedFile } from "../shipping/shipping.ts";
import { planLine, uploadRemark } from "../shipping/upload-lines.ts";
import { checkOffline, type OfflineCheck } from "./check-offline.ts";
import { type FeedInputs, feedLine, forecastFeeds } from "./feed-inputs.ts";
import type { JobCluster } from "./job-cluster.ts";
import { checkOnMachine } from "./machine-checks.ts";

/** What a submission would do. */
interface Forecast {
  readonly spec: JobSpec;
  readonly problems: readonly Problem[];
  /** Absent on this machine, where files are used in place. */
  readonly files?: readonly PlannedFile[];
  readonly feeds: FeedInputs["feeds"];
}

/** Makes all the checks of a submission, including the cluster's or the machine's, and says what it would upload and ask for. Nothing is started. */
export async function dryRun(
  text: JobText,
  choices: { readonly local: boolean; readonly json: boolean; readonly logs: LogSelection },
  context: ClientContext,
  place: JobCluster,
): Promise<ExitCode> {
  const { output } = context;
  const draft = checkOffline(text, choices.logs, context);
  const { spec, problems, files, ...found }: Forecast = choices.local
    ? { ...draft, ...(await checkOnMachine(text, draft.spec, context.environment)) }
    : await askCluster(text, draft, context, place);
  const { containers, resource } = wholeJob(spec);
  const feeds = forecastFeeds(spec, found.feeds);
  if (choices.json) {
    const asks = { containers, ...resource };
    output.json({ dryRun: true, spec, problems, asks, files: files ?? [], feeds } satisfies DryRunJson);
    return ExitCode.succeeded;
  }
  for (const problem of problems) output.problem(formatProblem(problem));
  const where = choices.local ? "on this machine" : `queue ${spec.queue}`;
  const lines = [
    `${spec.name} · ${where} · AM (${amountWords(spec.am.resource)}), ${describeRoles(spec.roles)}`,
    `  asks for     ${countWords(containers, "container")}: ${amountWords(resource)}`,
    ...feeds.map(feedLine),
    ...(files === undefined ? [] : [planLine(files)]),
    ...new Set((files ?? []).flatMap(({ link, remarks }) => remarks.map((remark) => uploadRemark(link, remark)))),
    `Nothing was uploaded or submitted; ${verdict(problems)}`,
  ];
  output.print(lines.join("\n"));
  return ExitCode.succeeded;
}

/** A warning may concern something that YARN refuses, or never grants: only YARN knows. */
export function verdict({ length: warnings }: readonly Problem[]): string {
  return warnings === 0 ? "every check passed" : `no errors, ${countWords(warnings, "warning")}`;
}

async function askCluster(
  text: JobText,
  draft: OfflineCheck,
  context: ClientContext,
  place: JobCluster,
): Promise<Forecast> {
  const [{ cluster }, { addressProblems }, { checkOnCluster }, { planFiles }, { runtimeAsItIs }] = await Promise.all([
    place.open(),
    import("../cluster/address-checks.ts"),
    import("./check-on-cluster.ts"),
    import("./job-shipping.ts"),
    import("./prepared-runtime.ts"),
  ]);
  return await cluster.use(async () => {
    const [{ spec, root, keytab, feeds, ...checked }, ofAddresses] = await Promise.all([
      checkOnCluster(text, draft, cluster),
      addressProblems(cluster),
    ]);
    const problems = [...checked.problems, ...ofAddresses];
    const runtime = await runtimeAsItIs(checked.runtime, context);
    return { spec, problems, feeds, files: await planFiles({ text, spec, cluster, runtime, root, keytab }, context) };
  });
}
