import type { JobOutcome, JobStatus } from "../../src/job/status.ts";

/** What is known of a job at its end. */
export interface FlowJobEnd {
  readonly id: string;
  readonly trackingUrl: string;
  readonly outcome: JobOutcome;
  /** Its last status, where its AM told one. */
  readonly status: JobStatus | undefined;
}

/**
 * What later jobs of the flow can refer to, as `${tonyts.application.id}`: Azkaban allows letters, digits, `_` and `.` in such a name
 * (azkaban.utils.PropsUtils); none begins with `tony.`, which would be a setting of the next job.
 */
export function outputProperties({ id, trackingUrl, outcome, status }: FlowJobEnd): Record<string, string> {
  const { checkpoint } = status ?? {};
  const outputs = (status?.tasks ?? []).flatMap(({ task, transfers = [] }) =>
    transfers.flatMap(({ what, state, url }): [string, string][] =>
      what === "output" && state === "done" ? [[`tonyts.output.${propertyName(task)}`, url]] : [],
    ),
  );
  const metrics = (status?.tasks ?? []).flatMap(({ task, metrics = {} }) =>
    Object.entries(metrics).map(([name, value]) => [`tonyts.metric.${propertyName(`${task}.${name}`)}`, String(value)]),
  );
  return {
    "tonyts.application.id": id,
    "tonyts.final.status": outcome.result.toUpperCase(),
    "tonyts.summary": outcome.summary,
    "tonyts.tracking.url": trackingUrl,
    ...(checkpoint && { "tonyts.checkpoint.path": checkpoint.path, "tonyts.checkpoint.step": String(checkpoint.step) }),
    ...Object.fromEntries([...outputs, ...metrics]),
  };
}

/** `worker:0` → `worker.0` */
function propertyName(name: string): string {
  return name.replace(":", ".").replaceAll(/[^a-zA-Z0-9_.]/g, "_");
}
