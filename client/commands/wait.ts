import { createInterface } from "node:readline";
import { ExitCode, usageError } from "../../src/errors.ts";
import type { Applications } from "../applications/applications.ts";
import { checkId, openApplications } from "../applications/backend.ts";
import { isLocalId } from "../applications/local-folder.ts";
import { applicationArgument, settingOptions } from "../command-line/application-options.ts";
import { defineCommand, jsonOption } from "../command-line/command.ts";
import { reportError } from "../command-line/handle-errors.ts";
import type { ClientContext } from "../context.ts";
import type { FollowEvent } from "../printed-json.ts";

export const wait = defineCommand({
  verb: "wait",
  summary: "Wait until a job ends, without its output; exits with the job's exit code",
  positionals: { application: { describe: applicationArgument.describe } },
  options: {
    stdin: {
      type: "boolean",
      default: false,
      describe:
        "Wait for all jobs whose ids are read from there, one per line; exits with the code of the first that failed",
    },
    ...settingOptions,
    ...jsonOption,
  },
  printsEvents: true,
  examples: [["wait application_1795305600000_0007 && echo done", "For scripts; Ctrl-C leaves the job alone"]],
  run: async ({ application, conf, json, stdin }, context) => {
    if ((application !== undefined) === stdin)
      throw usageError(stdin ? "Give an id, or --stdin, not both" : applicationArgument.missing);
    const opened = new Map<boolean, Promise<Applications>>();
    const open = (id: string) => {
      checkId(id);
      const isLocal = isLocalId(id);
      const applications = opened.get(isLocal) ?? openApplications(id, conf, context);
      opened.set(isLocal, applications);
      return applications;
    };
    try {
      if (application !== undefined) return await waitFor(application, await open(application), json, context);
      const wait = async (id: string) => waitFor(id, await open(id), json, context, { applicationId: id });
      return await waitForJobs(createInterface({ input: context.streams.stdin }), wait, json, context);
    } finally {
      for (const applications of opened.values())
        await applications.then((each) => each.close()).catch(() => undefined);
    }
  },
});

/** @param of the fields that each event gets in addition, where several jobs are waited for */
async function waitFor(
  id: string,
  applications: Applications,
  json: boolean,
  { output, now }: ClientContext,
  of: { readonly applicationId?: string } = {},
): Promise<ExitCode> {
  const report = await applications.report(id);
  const [{ QuietView }, { EventView }, { jobEvent }, { LogPrinter }, { watchJob }] = await Promise.all([
    import("../following/quiet-view.ts"),
    import("../following/event-view.ts"),
    import("../following/json-view.ts"),
    import("../logs/log-printer.ts"),
    import("../following/watch-job.ts"),
  ]);
  const logs = { kind: "none" } as const;
  const event = (told: FollowEvent) => output.jsonLine({ ...told, ...of });
  const quietly = {
    selection: logs,
    printer: new LogPrinter(output, { json }),
    end: (line: string) => output.print(line),
  };
  const view = json
    ? new EventView({ event, problem: (text) => output.problem(text) })
    : new QuietView(output, quietly);
  if (json) event(jobEvent(report));
  return await watchJob(report, { applications, view, now, logs });
}

/**
 * Waits for the jobs whose ids arrive, all of them at once, until no more ids arrive and each job has ended. A problem with one job is
 * reported for that one.
 * @returns the exit code of the first that did not succeed, in the order of the ids
 */
export async function waitForJobs(
  ids: AsyncIterable<string>,
  wait: (id: string) => Promise<ExitCode>,
  json: boolean,
  { output }: Pick<ClientContext, "output">,
): Promise<ExitCode> {
  const ends: Promise<ExitCode>[] = [];
  for await (const line of ids) {
    const id = line.trim();
    if (id !== "") ends.push(wait(id).catch((error: unknown) => told(id, error)));
  }
  return (await Promise.all(ends)).find((exitCode) => exitCode !== ExitCode.succeeded) ?? ExitCode.succeeded;

  function told(applicationId: string, thrown: unknown): ExitCode {
    const { code, exitCode, message, retryable } = reportError(thrown);
    const error = { code, message, retryable };
    if (json) output.jsonLine({ event: "end", applicationId, outcome: null, error, exitCode });
    output.problem(`tony-ts: ${applicationId}: ${message}`);
    return exitCode;
  }
}
