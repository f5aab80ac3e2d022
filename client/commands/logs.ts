import type { OutputStream } from "../../src/api/messages.ts";
import { ExitCode, usageError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { LineFilter } from "../../src/logs/ordered-output.ts";
import { type Applications, hasEnded } from "../applications/applications.ts";
import { openApplications } from "../applications/backend.ts";
import { exitCodeOf, outcomeOf } from "../applications/outcome.ts";
import { registeredReport } from "../applications/registered-report.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { parseMoment } from "../command-line/option-values.ts";
import type { ClientContext } from "../context.ts";
import { LogPrinter } from "../logs/log-printer.ts";
import { type LogSelection, parseLogSelection } from "../logs/log-selection.ts";
import { printEvent } from "../logs/print-event.ts";

export const logs = defineCommand({
  verb: "logs",
  summary: "Print what a job's programs or its AM wrote, while it runs and afterwards",
  positionals: {
    application: applicationArgument,
    task: {
      describe:
        "worker:0, worker, of a search trial:17 or trial:17/worker:0, or am for the ApplicationMaster's own log; default the chief or worker:0",
    },
  },
  options: {
    follow: { type: "boolean", alias: "f", default: false, describe: "Go on as the log grows, until the job ends" },
    logs: { type: "string", describe: "all, or several tasks: worker:0,worker:1" },
    tail: { type: "number", describe: "Only this many of the last lines of each task" },
    since: { type: "string", describe: "Only what was written since: 10m, or 2026-11-22T14:00" },
    generation: { type: "number", describe: "Only what this generation wrote" },
    grep: {
      type: "string",
      describe: "Only lines that this regular expression matches, of all tasks unless some are named",
    },
    stream: { choices: ["stdout", "stderr"], describe: "Only what programs wrote to this stream" },
    executor: {
      type: "boolean",
      default: false,
      describe: "The log of each task's executor: how its program was prepared, started and stopped",
    },
    split: {
      type: "boolean",
      default: false,
      describe:
        "What programs wrote to stderr goes to stderr; default: all to stdout, in the order in which it was written",
    },
    ...settingOptions,
    ...jsonOption,
  },
  printsEvents: true,
  examples: [
    ["logs application_1795305600000_0009 worker:1", "One task"],
    ["logs application_1795305600000_0009 --tail 20 -f", "The last lines, and what follows"],
    ["logs application_1795305600000_0009 --grep 'nan|inf' --since 1h", "Who wrote that, in the last hour"],
    ["logs application_1795305600000_0009 trial:17", "Of a search: what the tasks of trial 17 printed"],
    ["logs application_1795305600000_0009 am", "The ApplicationMaster's log; with --json the lines as they are"],
    ["logs application_1795305600000_0009 worker:1 --executor", "Why a program did not start, or did not stop"],
  ],
  run: async (args, context) => {
    const { application, task, follow, conf, json, executor, split } = args;
    if (task !== undefined && args.logs !== undefined) throw usageError("Give a task or --logs, not both");
    const ofAll = args.grep === undefined ? undefined : "all";
    const selection: LogSelection =
      task === "am"
        ? { kind: "master" }
        : parseLogSelection(task ?? args.logs ?? ofAll, task === undefined ? "--logs" : "TASK");
    if (executor && selection.kind === "master") throw usageError("The AM has no executor: leave out --executor");
    if (args.stream !== undefined && (executor || selection.kind === "master"))
      throw usageError("--stream applies only to what programs write: leave it out");
    if (split && json) throw usageError("With --json each line names its stream: leave out --split");
    const filter = lineFilter(args, context.now());
    if (follow && filter.generation !== undefined) throw usageError("--generation looks back: leave out --follow");
    const applications = await openApplications(application, conf, context);
    try {
      const report = await registeredReport(applications, await applications.report(application), context);
      const printer = new LogPrinter(context.output, { json, split });
      const request = { report, selection, filter, executor };
      if (follow && !hasEnded(report)) {
        const { followLogs } = await import("../following/follow-logs.ts");
        await followLogs(applications, request, { printer, json }, context);
        return ExitCode.succeeded;
      }
      const { liveLogs } = await import("../logs/live-logs.ts");
      const live = hasEnded(report) ? undefined : await liveLogs(applications, { ...request, follow: false }, printer);
      if (live === undefined) {
        const { storedLogs } = await import("../logs/stored-logs.ts");
        await storedLogs(applications, request, printer, context);
      }
      if (json) await tellEnd(applications, report, context);
      return ExitCode.succeeded;
    } finally {
      applications.close();
    }
  },
});

/** The last event where the job is not followed: how it ended, if it has. */
async function tellEnd(
  applications: Applications,
  report: ApplicationReport,
  { output, now }: ClientContext,
): Promise<void> {
  if (!hasEnded(report)) {
    printEvent(output, { event: "end", outcome: null, exitCode: ExitCode.unknown });
    return;
  }
  const status = await applications.finalStatus(report);
  const outcome = outcomeOf(report, status?.outcome, now());
  printEvent(output, { event: "end", outcome, exitCode: exitCodeOf(outcome) });
}

interface Chosen {
  readonly tail?: number | undefined;
  readonly since?: string | undefined;
  readonly generation?: number | undefined;
  readonly grep?: string | undefined;
  readonly stream?: OutputStream | undefined;
}

function lineFilter({ tail, since, generation, grep, stream }: Chosen, nowMs: number): LineFilter {
  for (const [name, value] of Object.entries({ tail, generation })) {
    if (value !== undefined && (!Number.isInteger(value) || value < 1))
      throw usageError(`--${name} takes a whole number above 0`);
  }
  return {
    ...(tail === undefined ? {} : { tail }),
    ...(since === undefined ? {} : { sinceMs: parseMoment("--since", since, nowMs) }),
    ...(generation === undefined ? {} : { generation }),
    ...(grep === undefined ? {} : { pattern: patternOf(grep) }),
    ...(stream === undefined ? {} : { stream }),
  };
}

function patternOf(grep: string): RegExp {
  try {
    return new RegExp(grep);
  } catch (error) {
    throw usageError(`--grep takes a regular expression: ${errorMessage(error)}`);
  }
}
