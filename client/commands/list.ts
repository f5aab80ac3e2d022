import { ExitCode, UserError, usageError } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { Applications } from "../applications/applications.ts";
import { openLocalApplications, openYarnApplications } from "../applications/backend.ts";
import { chooseJobs, type JobFilter, stateWords } from "../applications/job-filter.ts";
import { jobTable, moreWords, type TableSite } from "../applications/job-list.ts";
import { localIds, localRoot } from "../applications/local-folder.ts";
import { configurationFolder, noConfiguration } from "../cluster/hadoop-configuration.ts";
import { readSiteSettings } from "../cluster/site-settings.ts";
import { settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { parseMoment } from "../command-line/option-values.ts";
import type { ClientContext } from "../context.ts";
import type { ListJson, ListPlace } from "../printed-json.ts";

const usualLimit = 50;

export const list = defineCommand({
  verb: "list",
  summary: "List jobs of the cluster and of this machine; without options, your own running jobs",
  positionals: {},
  options: {
    all: { type: "boolean", default: false, describe: "Also jobs that have ended" },
    state: { choices: stateWords, array: true, describe: "Only jobs in this state; may be repeated" },
    name: { type: "string", describe: "Only jobs with this text in their name" },
    queue: {
      type: "string",
      describe:
        "All applications in this queue and those below it, of any user and type: its name, or its path (root.ml)",
    },
    user: { type: "string", describe: "Another user's jobs" },
    "all-users": { type: "boolean", default: false, describe: "Everybody's jobs" },
    since: {
      type: "string",
      describe: "Only jobs submitted since, also those that have ended: 2d, or 2026-11-22T14:00",
    },
    until: { type: "string", describe: "Only jobs submitted until then, also those that have ended" },
    scheduler: { choices: ["yarn", "local"], describe: "Only the cluster's jobs, or only this machine's" },
    limit: { type: "number", default: usualLimit, describe: "At most this many, the newest" },
    ...settingOptions,
    ...jsonOption,
  },
  examples: [
    ["list --state failed --name bert", "Yours that failed and have bert in their name"],
    ["list --all-users --since 1d", "What everybody submitted in the last 24 hours"],
  ],
  run: async ({ state, name, queue, user, scheduler, limit, conf, json, ...args }, context) => {
    const { "all-users": allUsers, since, until } = args;
    if (allUsers && user !== undefined) throw usageError("--all-users and --user: leave one of them out");
    const submittedMs = {
      ...(since !== undefined && { from: parseMoment("--since", since, context.now()) }),
      ...(until !== undefined && { to: parseMoment("--until", until, context.now()) }),
    };
    const all = args.all || since !== undefined || until !== undefined;
    if (!Number.isInteger(limit) || limit < 1) throw usageError("--limit takes a whole number above 0");
    const opened = await openPlaces({ scheduler, own: queue === undefined && user === undefined, conf }, context);
    const places = [...opened.values()];
    try {
      const filter: JobFilter = { all, states: state, name, queue, user, allUsers, submittedMs };
      const { found, asked, unasked } = await jobsOf(opened, filter);
      const jobs = found.sort((a, b) => b.startTimeMs - a.startTimeMs);
      if (unasked !== undefined) context.output.problem(`Jobs of this machine only. ${unasked.message}`);
      else if (!opened.has("yarn") && scheduler === undefined) sayUnasked(context);
      const newest = jobs.slice(0, limit);
      const more = jobs.length - newest.length;
      const isUnknown = user !== undefined && jobs.length === 0 && (await isStranger(user, opened.get("yarn")));
      if (json) {
        const unknown = isUnknown ? { unknownUser: user } : {};
        context.output.json({ jobs: newest, more, places: asked, ...unknown } satisfies ListJson);
      } else if (isUnknown) {
        context.output.print(
          `No jobs: unknown user ${user}: the ResourceManager has no applications of theirs, of any kind`,
        );
      } else {
        const gpuTypes = opened.has("yarn") ? readSiteSettings(conf ?? [], context).gpuTypes : [];
        context.output.print(
          [...lines(newest, filter, { nowMs: context.now(), gpuTypes }), ...moreWords(newest.length, more)].join("\n"),
        );
      }
      await Promise.all(places.map((applications) => applications.sweep().catch(() => undefined)));
      return unasked?.exitCode ?? ExitCode.succeeded;
    } finally {
      for (const applications of places) applications.close();
    }
  },
});

/** The places to look for jobs. Where no cluster is configured, this machine is the only one, if jobs ever ran on it. */
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

/** The jobs of each place. When the cluster does not answer, this machine's jobs are shown with the reason, if there are any. */
async function jobsOf(opened: ReadonlyMap<ListPlace, Applications>, filter: JobFilter) {
  const found: ApplicationReport[] = [];
  const asked: ListPlace[] = [];
  let unasked: UserError | undefined;
  if (opened.size > 1) opened.get("yarn")?.askBriefly();
  for (const [place, applications] of opened) {
    try {
      found.push(...(await chooseJobs(applications, filter)));
      asked.push(place);
    } catch (error) {
      if (opened.size === 1 || !(error instanceof UserError) || error.exitCode !== ExitCode.cluster) throw error;
      unasked = error;
    }
  }
  if (unasked !== undefined && found.length === 0) throw unasked;
  return { found, asked, unasked };
}

/** Without a configured cluster a list of this machine's jobs would read as if nothing ran elsewhere. */
function sayUnasked({ environment, output }: ClientContext): void {
  output.problem(`Jobs of this machine only. ${noConfiguration(environment).message.split("\n")[0]}`);
}

/** A ResourceManager knows a user only by the applications that the user has. */
async function isStranger(user: string, cluster: Applications | undefined): Promise<boolean> {
  return cluster !== undefined && (await cluster.reports({ users: [user], limit: 1 })).length === 0;
}

function lines(reports: readonly ApplicationReport[], { all, states }: JobFilter, site: TableSite): string[] {
  if (reports.length > 0) return jobTable(reports, site);
  return [`No jobs${all || states !== undefined ? "" : " (tony-ts list --all shows those that have ended)"}`];
}
