import { ExitCode } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { Applications } from "../applications/applications.ts";
import { queueName } from "../applications/job-filter.ts";
import type { ClientContext } from "../context.ts";
import type { LogSelection } from "../logs/log-selection.ts";
import { formatDate } from "../output/format.ts";
import { askToEnd, ownTerminal } from "./ask-to-end.ts";
import type { FollowListener } from "./follow-listener.ts";
import type { FollowOptions } from "./follow-options.ts";
import { JobSignals } from "./job-signals.ts";
import { jobEvent, jsonView } from "./json-view.ts";
import { SearchView } from "./search-view.ts";
import { watchJob } from "./watch-job.ts";

/** How much of each stream's earlier output is shown: enough for the last lines. */
const lastOutputBytes = 4_096;

export interface FollowAgainOptions {
  readonly applications: Applications;
  readonly logs: LogSelection;
  readonly json: boolean;
  /** Shows the job in place of the view that `json` chooses. */
  readonly view?: FollowListener;
  /** Whether Ctrl-C and SIGTERM end the job without a question. */
  readonly owns: boolean;
  /** As `FollowOptions.endWithinMs`. */
  readonly endWithinMs?: NonNullable<FollowOptions["endWithinMs"]>;
  /** Default: over the network. */
  readonly connect?: FollowOptions["connect"];
}

/** Follows a job that was submitted before, from the last lines of its output to its end. */
export async function followAgain(
  report: ApplicationReport,
  { applications, logs, json, owns, view: given, ...others }: FollowAgainOptions,
  { output, now }: ClientContext,
): Promise<ExitCode> {
  const sinceMs = Math.min(now(), report.startTimeMs);
  // Only the job's AM says whether it is a search.
  const own = () =>
    json
      ? jsonView(output)
      : new SearchView(output, now, { sinceMs, owns, localFolder: (id) => applications.folder?.(id) });
  const view = given ?? own();
  const terminal = ownTerminal();
  const signals = new JobSignals((reason) => view.left(reason, ExitCode.unknown), {
    owns,
    ...(terminal !== undefined && { askToEnd: () => askToEnd(report.id, output, terminal) }),
  });
  signals.named(report.id);
  signals.submitted();
  try {
    if (json) output.jsonLine(jobEvent(report));
    else output.print(firstLine(report));
    if (view !== given) output.problem(ctrlCLine(report.id, { owns, asks: terminal !== undefined }));
    const logsFrom = () => -lastOutputBytes;
    const { stop, ending, ended } = signals;
    return await watchJob(report, { applications, view, now, logs, logsFrom, stop, ending, ended, ...others });
  } finally {
    signals.unwatch();
  }
}

/** Says what Ctrl-C does before anybody presses it. */
function ctrlCLine(id: string, { owns, asks }: { readonly owns: boolean; readonly asks: boolean }): string {
  if (owns) return "Ctrl-C ends the job.";
  const leaves = `To end the job: tony-ts kill ${id}`;
  return asks
    ? `Ctrl-C leaves the job running, or ends it if you confirm.`
    : `Ctrl-C leaves the job running. ${leaves}`;
}

function firstLine({ id, name, queue, startTimeMs }: ApplicationReport): string {
  return `${id}  ${name} · queue ${queueName(queue)} · since ${formatDate(startTimeMs)}`;
}
