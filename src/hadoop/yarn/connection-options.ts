import type { MonotonicClock } from "../clock.ts";
import type { HostPort } from "../conf/values.ts";
import type { CallTrouble } from "../rpc/client.ts";
import type { RetryPolicy } from "../rpc/retry.ts";

/** Options that the clients of YARN's services share. */
export interface YarnConnectionOptions {
  /** Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** For the first try of a call, doubled for the next; default 60 s, for a NodeManager 10 s and for the scheduler 5 s. */
  readonly callTimeoutMs?: number;
  /** A function if the policy may change. */
  readonly retry?: RetryPolicy | (() => RetryPolicy);
  /** Called when no endpoint has answered a call and all are to be tried again, and with undefined when one has answered after that. */
  readonly onTrouble?: (trouble: CallTrouble | undefined) => void;
  /** Default 128 MiB, as Hadoop's own. */
  readonly maxFrameBytes?: number;
  readonly clock?: MonotonicClock;
}

/** Options for a service of the ResourceManager. */
export interface ResourceManagerConnectionOptions extends YarnConnectionOptions {
  /** One for every ResourceManager of the cluster; see resourceManagerEndpoints. */
  readonly endpoints: readonly HostPort[];
}
