import type { JobFile } from "./job-file.ts";

/** What an executor is told of the job when the ApplicationMaster welcomes it; JSON. It holds no secret. */
export type ExecutorJob = Omit<JobFile, "files" | "node" | "nodes">;
