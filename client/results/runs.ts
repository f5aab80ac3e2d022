import type { Run, RunSeries } from "../../src/advice/run.ts";
import { UserError, usageError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { type Applications, hasEnded, type MasterContact, NOT_KEPT } from "../applications/applications.ts";
import { chooseJobs, ownJobs } from "../applications/job-filter.ts";
import type { ClientContext } from "../context.ts";
import { inspect } from "../master/inspection.ts";
import { connectMaster, type MasterConnection } from "../master/master-connection.ts";
import { storedSeries } from "./job-series.ts";
import { nothingLeft } from "./nothing-left.ts";
import { runningSeries } from "./running-series.ts";

type Connect = (contact: MasterContact) => Pick<MasterConnection, "follow" | "readLog" | "stop" | "askPage" | "close">;

/** The newest first. */
export type Runs = readonly [Run, ...Run[]];

/** So many runs of a name: older ones say little about the next one. */
const MOST_RUNS = 10;

/** The run with an id. @throws UserError where nothing is known of its tasks */
export async function runOf(
  id: string,
  conf: readonly string[],
  applications: Applications,
  context: ClientContext,
  connect: Connect = connectMaster,
): Promise<Run> {
  const { report, status, remark } = await inspect(id, applications, connect);
  if (status === undefined) throw nothingLeft(`Nothing is known about the tasks of ${id}: ${remark ?? NOT_KEPT}`);
  const series = hasEnded(report)
    ? await seriesIfThere(report, conf, applications, context)
    : await seriesSoFar(report, applications, connect);
  return { status, submittedAtMs: report.startTimeMs, ...(series === undefined ? {} : { series }) };
}

/** The last ended runs among the caller's jobs of a name, the newest first. @throws UserError where there are none */
export async function runsOf(
  name: string,
  conf: readonly string[],
  applications: Applications,
  context: ClientContext,
): Promise<Runs> {
  const found = await chooseJobs(applications, { ...ownJobs, all: true, name });
  const ended = found.filter((report) => report.name === name && hasEnded(report));
  if (ended.length === 0)
    throw usageError(
      `None of your jobs called ${name} has ended: tony-ts list --all shows their names; you can also give the id of a running one`,
    );
  const newest = ended.sort((a, b) => b.startTimeMs - a.startTimeMs).slice(0, MOST_RUNS);
  const runs = await Promise.all(
    newest.map(async ({ id }) => await runOf(id, conf, applications, context).catch(ifNothingLeft)),
  );
  const [first, ...others] = runs.filter((run) => run !== undefined);
  if (first === undefined)
    throw nothingLeft(
      `Nothing is known about ${newest.map(({ id }) => id).join(", ")}: ${applications.noStatusReason() ?? NOT_KEPT}`,
    );
  return [first, ...others];
}

async function seriesIfThere(
  report: ApplicationReport,
  conf: readonly string[],
  applications: Applications,
  context: ClientContext,
): Promise<RunSeries | undefined> {
  try {
    return await storedSeries(report, conf, applications, context);
  } catch (error) {
    if (!(error instanceof UserError)) context.output.problem(`${report.id}: ${errorMessage(error)}`);
    return undefined;
  }
}

async function seriesSoFar(
  report: ApplicationReport,
  applications: Applications,
  connect: Connect,
): Promise<RunSeries | undefined> {
  const contact = await applications.contact(report);
  if (contact === undefined) return undefined;
  const link = connect(contact);
  return await runningSeries(link).finally(() => link.close());
}

function ifNothingLeft(error: unknown): undefined {
  if (!(error instanceof UserError)) throw error;
}
