import type { Applications } from "../applications/applications.ts";
import type { ClientContext } from "../context.ts";
import { liveLogs } from "../logs/live-logs.ts";
import type { LogPrinter } from "../logs/log-printer.ts";
import type { LogsRequest } from "../logs/log-selection.ts";
import { printEvent } from "../logs/print-event.ts";
import { connectMaster } from "../master/master-connection.ts";
import type { FollowOptions } from "./follow-options.ts";
import { QuietView } from "./quiet-view.ts";
import { watchJob } from "./watch-job.ts";

/** Prints logs as they grow until the job ends, and then how it ended: next to the result, or as the last event. */
export async function followLogs(
  applications: Applications,
  request: LogsRequest,
  { printer, json }: { readonly printer: LogPrinter; readonly json: boolean },
  { output, now }: ClientContext,
  connect: FollowOptions["connect"] = connectMaster,
): Promise<void> {
  const { report, selection, filter, executor = false } = request;
  const someOnly = filter.tail !== undefined || filter.sinceMs !== undefined;
  const printedTo = someOnly ? await liveLogs(applications, { ...request, follow: true }, printer, connect) : undefined;
  const view = new QuietView(output, {
    selection,
    printer,
    filter,
    end: (line, { outcome, exitCode }) => {
      if (json) printEvent(output, { event: "end", outcome, exitCode });
      else output.problem(line);
    },
  });
  await watchJob(report, {
    applications,
    view,
    now,
    connect,
    logs: selection,
    executor,
    ...(printedTo === undefined ? {} : { logsFrom: printedTo }),
  });
}
