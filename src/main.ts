/** The library's entry, `import … from "tony-ts"`: reads jobs and interprets how they end. `tony-ts/hadoop` is Hadoop for Node. */
export { ExitCode, TonyError, UserError } from "./errors.ts";
export type { TonyEvent, TonyMetric } from "./history/tony/events.ts";
export { readTonyEvents } from "./history/tony/read-events.ts";
export { checkJob, readJob } from "./job/build/load-job.ts";
export type { JobSpec, RoleSpec } from "./job/spec.ts";
export type { Cause, JobOutcome, JobState, JobStatus, RoleStatus, TaskState, TaskStatus } from "./job/status.ts";
export { JobSpecError, parseJobSpec } from "./job/stored/parse-spec.ts";
