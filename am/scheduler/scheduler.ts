import type { ContainerLaunch } from "../../src/job/launch/launch-context.ts";
import type { JobOutcome, Wait } from "../../src/job/status.ts";
import type { Ask } from "../core/state/effects.ts";
import type { AllocatedContainer, Event } from "../core/state/events.ts";

/** The events that only a scheduler makes. */
export type SchedulerEvent = Extract<
  Event,
  {
    type:
      | "am-registered"
      | "nodes-changed"
      | "headroom-changed"
      | "containers-allocated"
      | "containers-recovered-late"
      | "container-completed"
      | "preemption-notice"
      | "launch-succeeded"
      | "launch-failed"
      | "resource-manager-resynced"
      | "resource-manager-shutdown"
      | "ask-refused"
      | "ask-unplaced"
      | "constraints-refused"
      | "ask-too-large"
      | "unregistered";
  }
>;

/** The result of registering: for a later attempt also the containers that were kept. */
export interface Registration {
  readonly attempt: number;
  readonly keptContainers: readonly AllocatedContainer[];
}

/** Where this process is reached. */
export interface MasterAddress {
  readonly host: string;
  readonly port: number;
  /** The web page that the application's link leads to. */
  readonly trackingUrl?: string;
}

/** Everything one container needs to run an executor. */
export interface ContainerCommand extends ContainerLaunch {
  readonly containerId: string;
  /** The job's secrets and the user's tokens, never the AM's own. */
  readonly credentials: Uint8Array;
}

/**
 * Where containers come from: YARN, this machine, or a simulation. Every call returns at once and never throws; its result arrives as an
 * event. One contract suite tests all of them.
 */
export interface Scheduler {
  /** What the scheduler itself waits for, which holds up everything that needs it. */
  readonly waits: readonly Wait[];
  /** When it last answered; undefined where there is nothing that answers. */
  readonly answeredAtMs: number | undefined;
  /** On a secure cluster, once a registration was answered: the key from which the tokens of the application's clients are derived. */
  readonly clientTokenKey: Uint8Array | undefined;
  /** Registers the application and begins to deliver events. Rejects when the application cannot be registered at all. */
  start(address: MasterAddress, deliver: (event: SchedulerEvent) => void): Promise<Registration>;
  ask(asks: readonly Ask[]): void;
  release(containerIds: readonly string[]): void;
  blacklist(hosts: readonly string[]): void;
  launch(commands: readonly ContainerCommand[]): void;
  stop(containerId: string): void;
  /**
   * What the ResourceManager shows of the application: its progress, 0 to 1, and the web page that its link leads to; without one the
   * link leads to the ResourceManager's own page.
   */
  show(progress: number, trackingUrl: string | undefined): void;
  /**
   * Whether this attempt is still in charge, by an answer given after this call: resolves with false when another has taken over, and
   * waits as long as nobody answers.
   */
  confirm(): Promise<boolean>;
  /**
   * Reports the outcome until it is accepted; resolves then.
   * @returns false where the answer says only that this attempt is over: its end was recorded by a call whose answer was lost, or another
   * attempt has begun
   */
  finish(outcome: JobOutcome): Promise<boolean>;
  /** Stops heartbeats and connections without unregistering. */
  close(): Promise<void>;
}
