import type { ExitCode } from "../../src/errors.ts";
import type { sleep } from "../../src/hadoop/clock.ts";
import type { Applications, MasterContact } from "../applications/applications.ts";
import type { LogSelection } from "../logs/log-selection.ts";
import type { TaskTailsOptions } from "../logs/task-tails.ts";
import type { AttemptConnection } from "../master/attempt-connection.ts";
import type { FollowListener } from "./follow-listener.ts";

/** Which job to follow, how to reach it, and what to show of it. */
export interface FollowOptions {
  readonly id: string;
  readonly applications: Applications;
  readonly connect: (contact: MasterContact) => AttemptConnection;
  readonly view: FollowListener;
  readonly now: () => number;
  /** Default: real time. */
  readonly sleep?: typeof sleep;
  /** When it was submitted, as far as is known. */
  readonly sinceMs: number;
  readonly logs: LogSelection;
  /** Where in earlier output to begin; negative: so many bytes before its end. Default 0. */
  readonly logsFrom?: TaskTailsOptions["from"];
  /** As in `LogsRequest.executor`. */
  readonly executor?: boolean;
  readonly leadTask?: string;
  /** All tasks of the job, where they are known before its AM reports them. */
  readonly tasks?: readonly string[];
  /** The application is killed when its AM does not run by then. */
  readonly startupLimitMs?: number;
  /** Aborted when the job is to be ended; its reason says by which signal. */
  readonly stop: AbortSignal;
  /** Turns that reason into words for who ends the job; default: the reason is the name of a signal. */
  readonly stoppedBy?: (reason: unknown) => string;
  /** How long after `stop` the ResourceManager is asked to kill a job that has not ended; the AM's own grace period is ignored then. */
  readonly endWithinMs?: number;
  /** Called once the AM, or the ResourceManager, has accepted that request. */
  readonly ending?: () => void;
  /** Called with the exit code before anything of the end is shown. */
  readonly ended?: (exitCode: ExitCode) => void;
}

/** After this time the silence of the AM, or of the ResourceManager, is reported. */
export const tellSilenceAfterMs = 5_000;
