import type { MonotonicClock } from "../clock.ts";
import type { HostPort } from "../conf/values.ts";
import type { CallTrouble } from "../rpc/client.ts";
import type { RetryPolicy } from "../rpc/retry.ts";

/** What the clients of YARN's services have in common. */
export interface YarnConnectionOptions {
  /** Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** For the first try of a call, and twice as long for the next; default 60 s, a NodeManager's 10 s and the scheduler's 5 s. */
  readonly callTimeoutMs?: number;
  /** A function where it may change meanwhile. */
  readonly retry?: RetryPolicy | (() => RetryPolicy);
  /** Told when no endpoint has answered a call and all are to be tried again, and with undefined when one has answered after that. */
  readonly onTrouble?: (trouble: CallTrouble | undefined) => void;
  /** Default 128 MiB, as Hadoop's own. */
  readonly maxFrameBytes?: number;
  readonly clock?: MonotonicClock;
}

/** Of a service that the ResourceManager serves. */
export interface ResourceManagerConnectionOptions extends YarnConnectionOptions {
  /** Of every ResourceManager of the cluster; see resourceManagerEndpoints. */
  readonly endpoints: readonly HostPort[];
}
