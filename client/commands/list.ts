import { ExitCode, usageError } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { countWords, durationWords, memoryWords } from "../../src/job/reasons/words.ts";
import { type Applications, durationMs, finalState } from "../applications/applications.ts";
import { openLocalApplications, openYarnApplications } from "../applications/backend.ts";
import { chooseJobs, type JobFilter, queueName, stateWords } from "../applications/job-filter.ts";
import { localIds, localRoot } from "../applications/local-folder.ts";
import { configurationFolder, noConfiguration } from "../cluster/hadoop-configuration.ts";
import { settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import type { ClientContext } from "../context.ts";
import { formatDate, formatTable } from "../output/format.ts";
import type { ListJson, ListPlace } from "../printed-json.ts";

const usualLimit = 50;

export const list = defineCommand({
  verb: "list",
  summary: "List jobs of the cluster and of this machine: your own that run, unless options say otherwise",
  positionals: {},
  options: {
    all: { type: "boolean", default: false, describe: "Also jobs that have ended" },
    state: { choices: stateWords, array: true, describe: "Only jobs in this state; may be repeated" },
    name: { type: "string", describe: "Only jobs with this text in their name" },
    queue: {
      type: "string",
      describe: "All applications in this queue, of any user and type: its name, or its path (root.ml)",
    },
    user: { type: "string", describe: "Another user's jobs" },
    scheduler: { choices: ["yarn", "local"], describe: "Only the cluster's jobs, or only this machine's" },
    limit: { type: "number", default: usualLimit, describe: "At most this many, the newest" },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [["list --state failed --name bert", "Yours that failed and have bert in their name"]],
  run: async ({ all, state, name, queue, user, scheduler, limit, conf, json }, context) => {
    if (!Number.isInteger(limit) || limit < 1) throw usageError("--limit takes a whole number above 0");
    const opened = await openPlaces({ scheduler, own: queue === undefined && user === undefined, conf }, context);
    const places = [...opened.values()];
    try {
      const filter: JobFilter = { all, states: state, name, queue, user };
      const found = await Promise.all(places.map((applications) => chooseJobs(applications, filter)));
      const jobs = found.flat().sort((a, b) => b.startTimeMs - a.startTimeMs);
      if (!opened.has("yarn") && scheduler === undefined) sayUnasked(jobs, context);
      const newest = jobs.slice(0, limit);
      const more = jobs.length - newest.length;
      if (json) context.output.json({ jobs: newest, more, places: [...opened.keys()] } satisfies ListJson);
      else context.output.print([table(newest, filter, context.now()), ...hint(newest, more)].join("\n"));
      await Promise.all(places.map((applications) => applications.sweep().catch(() => undefined)));
      return ExitCode.succeeded;
    } finally {
      for (const applications of places) applications.close();
    }
  },
});

/** Where jobs are looked for. Where no cluster is configured those of this machine are all there are, if it ever had any. */
async function openPlaces(
  asked: {
    readonly scheduler: string | undefined;
    readonly own: boolean;
    readonly conf: readonly string[] | undefined;
  },
  context: ClientContext,
): Promise<ReadonlyMap<ListPlace, Applications>> {
  const { scheduler, own, conf } = asked;
  const here = async () => ["local", await openLocalApplications(context)] as const;
  if (scheduler === "local") return new Map([await here()]);
  const ranHere = scheduler === undefined && own && localIds(localRoot(context.environment)).length > 0;
  if (ranHere && configurationFolder(context.environment) === undefined) return new Map([await here()]);
  const cluster = ["yarn", await openYarnApplications(conf, context)] as const;
  return new Map<ListPlace, Applications>(ranHere ? [cluster, await here()] : [cluster]);
}

/** Without a configured cluster an empty list would read as if nothing ran. @throws UserError (`NO_CLUSTER`) when there are no jobs */
function sayUnasked(jobs: readonly ApplicationReport[], { environment, output }: ClientContext): void {
  const why = noConfiguration(environment);
  if (jobs.length === 0) throw why;
  output.problem(`Jobs of this machine only. ${why.message.split("\n")[0]}`);
}

function table(reports: readonly ApplicationReport[], { all, states }: JobFilter, nowMs: number): string {
  const ended = all || states !== undefined ? "" : " (tony-ts list --all shows those that have ended)";
  if (reports.length === 0) return `No jobs${ended}`;
  const rows = reports.map((report) => [
    report.id,
    finalState(report),
    report.name,
    report.user,
    queueName(report.queue),
    formatDate(report.startTimeMs),
    durationWords(durationMs(report, nowMs)),
    report.usage === undefined || report.usage.usedContainers <= 0 ? "–" : memoryWords(report.usage.used.memoryMiB),
  ]);
  return formatTable([["application", "state", "name", "user", "queue", "start", "time", "memory"], ...rows]).join(
    "\n",
  );
}

function hint(shown: readonly ApplicationReport[], more: number): string[] {
  if (more === 0) return [];
  return [`and ${countWords(more, "older job")} more: --limit ${shown.length + more} shows all`];
}
