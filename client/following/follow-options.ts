import type { ExitCode } from "../../src/errors.ts";
import type { sleep } from "../../src/hadoop/clock.ts";
import type { Applications, MasterContact } from "../applications/applications.ts";
import type { LogSelection } from "../logs/log-selection.ts";
import type { TaskTailsOptions } from "../logs/task-tails.ts";
import type { AttemptConnection } from "../master/attempt-connection.ts";
import type { FollowListener } from "./follow-listener.ts";

/** Which job is followed, how it is reached, and what is shown of it. */
export interface FollowOptions {
  readonly id: string;
  readonly applications: Applications;
  readonly connect: (contact: MasterContact) => AttemptConnection;
  readonly view: FollowListener;
  readonly now: () => number;
  /** Default: the machine's own time. */
  readonly sleep?: typeof sleep;
  /** When it was submitted, as far as is known. */
  readonly sinceMs: number;
  readonly logs: LogSelection;
  /** Where output begins that is there already; negative: so many bytes before its end. Default 0. */
  readonly logsFrom?: TaskTailsOptions["from"];
  /** As `LogsRequest.executor`. */
  readonly executor?: boolean;
  readonly leadTask?: string;
  /** All tasks of the job, where that is known before its AM is heard. */
  readonly tasks?: readonly string[];
  /** The application is killed when its AM does not run by then. */
  readonly startupLimitMs?: number;
  /** Fires when the job is to be ended; its reason says by what. */
  readonly stop: AbortSignal;
  /** Who ends it, in words made of that reason; default: a person or program whose signal it names. */
  readonly stoppedBy?: (reason: unknown) => string;
  /** So long after `stop` the ResourceManager is asked to kill a job that has not ended; the AM's own grace does not count then. */
  readonly endWithinMs?: number;
  /** Told once the AM, or the ResourceManager, has taken that request. */
  readonly ending?: () => void;
  /** Told how it ended, before anything of that is shown. */
  readonly ended?: (exitCode: ExitCode) => void;
}

/** After this the AM's, or the ResourceManager's, silence is told. */
export const tellSilenceAfterMs = 5_000;
