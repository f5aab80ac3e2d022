import type { ClientHandler, Follower, LogReader } from "../src/api/client-endpoint.ts";
import type { ReadLogRequest } from "../src/api/messages.ts";
import type { JobSpec } from "../src/job/spec.ts";
import { parseTaskId } from "../src/job/task.ts";
import type { RotatingLog } from "../src/rotating-log.ts";
import type { LogTails } from "./log-tails.ts";
import { readOwnLog } from "./own-log.ts";
import type { StatusFeed } from "./status-feed.ts";

export interface ClientCallsOptions {
  readonly spec: JobSpec;
  readonly feed: StatusFeed;
  readonly tails: LogTails;
  /** The ApplicationMaster's own log. */
  readonly ownLog: RotatingLog;
  /** Asks for the job's end. */
  readonly stop: (reason: string) => void;
}

/** What `tony-ts` asks of this ApplicationMaster. */
export class ClientCalls implements ClientHandler {
  readonly #options: ClientCallsOptions;

  constructor(options: ClientCallsOptions) {
    this.#options = options;
  }

  follow(follower: Follower): () => void {
    return this.#options.feed.follow(follower);
  }

  readLog(request: ReadLogRequest, reader: LogReader): () => void {
    if (request.task === "am") return readOwnLog(this.#options.ownLog, request, reader);
    if (this.#exists(request.task)) return this.#options.tails.open(request, reader);
    const roles = this.#options.spec.roles.map(({ name, instances }) => `${name}:0 to ${name}:${instances - 1}`);
    reader.fail(`The job has no task ${request.task}; there are am, ${roles.join(", ")}`);
    return () => {};
  }

  stop(reason: string): boolean {
    this.#options.stop(reason);
    return true;
  }

  #exists(task: string): boolean {
    const name = parseTaskId(task);
    const role = this.#options.spec.roles.find((candidate) => candidate.name === name?.role);
    return name !== undefined && role !== undefined && name.index < role.instances;
  }
}
