import { ExitCode } from "../../src/errors.ts";
import type { ApplicationReport, ApplicationState } from "../../src/hadoop/yarn/records.ts";
import { finalState } from "../applications/applications.ts";
import { openLocalApplications, openYarnApplications, placeOptions } from "../applications/backend.ts";
import { defineCommand, jsonOption, usageError } from "../command-line/command.ts";
import { formatDate, formatMemory, formatTable, formatWholeSeconds } from "../output/format.ts";

const live: readonly ApplicationState[] = ["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING"];
const usualLimit = 50;

export const list = defineCommand({
  verb: "list",
  summary: "List jobs: your own that run, unless told otherwise",
  positionals: {},
  options: {
    all: { type: "boolean", default: false, describe: "Those that have ended, too" },
    queue: { type: "string", describe: "Everything in this queue, whoever's and whatever it is" },
    user: { type: "string", describe: "Another user's jobs" },
    scheduler: { choices: ["yarn", "local"], default: "yarn", describe: "The cluster, or this machine" },
    limit: { type: "number", default: usualLimit, describe: "At most so many, the newest" },
    ...placeOptions,
    ...jsonOption,
  },
  run: async ({ all, queue, user, scheduler, limit, conf, json }, context) => {
    if (!Number.isInteger(limit) || limit < 1) throw usageError("--limit takes a whole number above 0");
    const local = scheduler === "local";
    const applications = local ? await openLocalApplications(context) : await openYarnApplications(conf, context);
    try {
      const whose = queue === undefined ? { users: [user ?? applications.user], types: ["TONY"] } : { queues: [queue] };
      const reports = await applications.reports({ ...whose, ...(all ? {} : { states: live }) });
      const newest = reports.sort((a, b) => b.startTimeMs - a.startTimeMs).slice(0, limit);
      if (json) context.output.json(newest);
      else context.output.print(table(newest, context.now()));
      await applications.sweep().catch(() => undefined);
      return ExitCode.succeeded;
    } finally {
      applications.close();
    }
  },
});

function table(reports: readonly ApplicationReport[], nowMs: number): string {
  if (reports.length === 0) return "No jobs (tony-ts list --all shows those that have ended)";
  const rows = reports.map((report) => [
    report.id,
    finalState(report),
    report.name,
    report.user,
    report.queue.slice(report.queue.lastIndexOf(".") + 1),
    formatDate(report.startTimeMs),
    formatWholeSeconds((report.finishTimeMs === 0 ? nowMs : report.finishTimeMs) - report.startTimeMs),
    report.usage === undefined || report.usage.usedContainers <= 0 ? "–" : formatMemory(report.usage.used.memoryMiB),
  ]);
  return formatTable([["application", "state", "name", "user", "queue", "start", "time", "memory"], ...rows]).join(
    "\n",
  );
}
