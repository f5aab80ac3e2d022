import type { WallClock } from "../../../src/hadoop/clock.ts";
import { errorCode, errorMessage } from "../../../src/hadoop/errors.ts";
import type {
  Allocation,
  FinishRequest,
  HeartbeatOutcome,
  MasterRegistration,
  NodeToken,
  Registration as YarnRegistration,
} from "../../../src/hadoop/yarn/allocation.ts";
import type { ContainerId, FinalStatus, NodeId } from "../../../src/hadoop/yarn/records.ts";
import type { JobOutcome, Wait } from "../../../src/job/status.ts";
import type { Log } from "../../../src/log.ts";
import type { Ask } from "../../core/state/effects.ts";
import type { Defects } from "../../core/state/step.ts";
import type { ContainerCommand, MasterAddress, Registration, Scheduler, SchedulerEvent } from "../scheduler.ts";
import { AllocationEvents } from "./allocation-events.ts";
import { Asks, type AskTeller } from "./asks.ts";
import { HeartbeatFailures } from "./heartbeat-failures.ts";
import { HeartbeatLoop, HeartbeatPace } from "./heartbeat-loop.ts";
import { type ContainerStarter, launchContainers } from "./launches.ts";
import { ManagerLink } from "./manager-link.ts";
import type { NodeTable } from "./node-table.ts";
import type { ResourceManagerSilence } from "./silence.ts";

/** What is needed of SchedulerClient: the ResourceManager as an application attempt sees it. */
export interface ResourceManagerClient extends AskTeller {
  register(registration: MasterRegistration): Promise<YarnRegistration>;
  release(ids: readonly ContainerId[]): void;
  blacklist(change: { readonly add: readonly string[]; readonly remove: readonly string[] }): void;
  heartbeat(progress: number, trackingUrl: string | undefined): Promise<HeartbeatOutcome>;
  finish(request: FinishRequest): Promise<boolean>;
  close(): void;
}

/** What is needed of NodeManagerPool. */
export interface NodeManagers extends ContainerStarter {
  addTokens(tokens: readonly NodeToken[]): void;
  stop(nodeId: NodeId, ids: readonly ContainerId[]): Promise<unknown>;
  close(): void;
}

export interface YarnSchedulerOptions {
  readonly manager: ResourceManagerClient;
  readonly nodeManagers: NodeManagers;
  readonly attempt: number;
  /** Where its job is shown once it has ended. */
  readonly endedUrl?: string;
  readonly nodes: NodeTable;
  readonly silence: ResourceManagerSilence;
  readonly clock: WallClock;
  readonly log: Log;
  /** What happens on a defect of ours; by default it throws. */
  readonly defects?: Defects;
}

/** After a refused request. */
const refusedIntervalMs = 200;
/** After a heartbeat without an answer; the client has tried all ResourceManagers by then. */
const retryIntervalMs = 1_000;

const unansweredWords =
  "The ResourceManager has registered this attempt, but its answer was lost: containers kept from an earlier attempt are known from the journal and their executors.";

const finalStatus: Record<JobOutcome["result"], FinalStatus> = {
  succeeded: "SUCCEEDED",
  failed: "FAILED",
  killed: "KILLED",
};

/** Containers of a real cluster: heartbeats to the ResourceManager, launches at the NodeManagers. */
export class YarnScheduler implements Scheduler {
  readonly #options: YarnSchedulerOptions;
  readonly #events: AllocationEvents;
  readonly #asks: Asks;
  readonly #failures: HeartbeatFailures;
  readonly #pace = new HeartbeatPace();
  #avoided: readonly string[] = [];
  #address: MasterRegistration = { host: "", rpcPort: -1, trackingUrl: "" };
  #deliver: (event: SchedulerEvent) => void = () => {};
  #progress = 0;
  #trackingUrl: string | undefined;
  readonly #loop: HeartbeatLoop;
  /** Whether the ResourceManager recorded this attempt's end; set once it has answered, after which no heartbeat is sent. */
  #endRecorded: boolean | undefined;
  readonly #link: ManagerLink;
  clientTokenKey: Uint8Array | undefined;
  /** Whether the registration was answered: the answer has the tokens of the nodes with kept containers. */
  #registrationAnswered = true;
  #questions: ((current: boolean) => void)[] = [];

  constructor(options: YarnSchedulerOptions) {
    this.#options = options;
    this.#events = new AllocationEvents(options.nodes, options.log);
    this.#asks = new Asks(options.manager);
    this.#failures = new HeartbeatFailures(options.clock);
    this.#link = new ManagerLink(options.log, options.defects ?? "throw");
    this.#loop = new HeartbeatLoop(options.clock, () => this.#heartbeat());
  }

  async start(address: MasterAddress, deliver: (event: SchedulerEvent) => void): Promise<Registration> {
    this.#deliver = deliver;
    this.#address = { host: address.host, rpcPort: address.port, trackingUrl: address.trackingUrl ?? "" };
    const registration = await this.#register();
    this.#link.move("registered");
    const { attempt, nodeManagers, nodes } = this.#options;
    this.#registrationAnswered = registration.answered;
    if (!registration.answered) this.#options.log.warn("registration-unanswered", unansweredWords);
    nodeManagers.addTokens(registration.nodeTokens);
    const keptContainers = this.#events.remember(registration.containersFromPreviousAttempts);
    nodes.registeredIn(registration.queue);
    this.#emit({ type: "nodes-changed", nodes: nodes.all });
    this.#emit({
      type: "am-registered",
      attempt,
      counted: registration.counted,
      resourceTypes: registration.resourceTypes.map(({ name }) => name),
    });
    this.#loop.start();
    return { attempt, keptContainers };
  }

  /** Only the answer has the key, which is the same for the whole attempt: after a lost answer, a later registration brings it. */
  async #register(): Promise<YarnRegistration> {
    const registration = await this.#options.manager.register(this.#address);
    this.clientTokenKey ??= registration.clientToAmMasterKey;
    return registration;
  }

  ask(asks: readonly Ask[]): void {
    for (const ask of asks) this.#asks.add(ask);
    this.#loop.now();
  }

  release(containerIds: readonly string[]): void {
    this.#options.manager.release(containerIds);
    this.#loop.now();
  }

  blacklist(hosts: readonly string[]): void {
    const before = this.#avoided;
    this.#avoided = hosts;
    this.#options.manager.blacklist({
      add: hosts.filter((host) => !before.includes(host)),
      remove: before.filter((host) => !hosts.includes(host)),
    });
  }

  launch(commands: readonly ContainerCommand[]): void {
    const starter: ContainerStarter = { start: (nodeId, starts) => this.#start(nodeId, starts) };
    launchContainers(
      commands,
      starter,
      (id) => this.#events.container(id),
      (event) => this.#emit(event),
    );
  }

  /**
   * The ResourceManager sends a node's token once to each attempt: a token lost with the registration's answer reaches only the next attempt.
   */
  async #start(...start: Parameters<ContainerStarter["start"]>): ReturnType<ContainerStarter["start"]> {
    try {
      return await this.#options.nodeManagers.start(...start);
    } catch (error) {
      const lost = !this.#registrationAnswered && errorCode(error) === "NODE_TOKEN_MISSING";
      if (lost)
        this.#attemptOver(`the answer to its registration was lost, and with it the token for node ${start[0]}`);
      throw error;
    }
  }

  /**
   * Stops a container through its NodeManager, which acts at once; when that cannot be reached, through the ResourceManager. The same where
   * this attempt has not been told of the container: a ResourceManager that has taken over remembers releases made before the container's
   * NodeManager has come back (org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler#releaseContainers).
   */
  stop(containerId: string): void {
    const container = this.#events.container(containerId);
    if (container === undefined) {
      if (!this.#events.hasCompleted(containerId)) this.release([containerId]);
      return;
    }
    this.#options.nodeManagers.stop(container.nodeId, [containerId]).catch((error: unknown) => {
      this.#options.log.warn("stop-failed", `${containerId} is released instead: ${errorMessage(error)}`);
      this.release([containerId]);
    });
  }

  show(progress: number, trackingUrl: string | undefined): void {
    this.#progress = progress;
    this.#trackingUrl = trackingUrl;
  }

  get waits(): readonly Wait[] {
    return this.#options.silence.waits;
  }

  get answeredAtMs(): number | undefined {
    return this.#options.silence.answeredAtMs;
  }

  confirm(): Promise<boolean> {
    if (this.#endRecorded !== undefined) return Promise.resolve(this.#endRecorded);
    return new Promise((resolve) => {
      this.#questions.push(resolve);
      this.#loop.now();
    });
  }

  async finish(outcome: JobOutcome): Promise<boolean> {
    this.#loop.end();
    this.#link.move("end-told");
    // A heartbeat under way would compete with this call.
    await this.#loop.settled();
    const { manager, endedUrl: trackingUrl = "" } = this.#options;
    const request = { status: finalStatus[outcome.result], diagnostics: outcome.summary, trackingUrl };
    this.#endRecorded = await manager.finish(request);
    for (const answer of this.#questions.splice(0)) answer(this.#endRecorded);
    return this.#endRecorded;
  }

  async close(): Promise<void> {
    this.#loop.end();
    this.#options.manager.close();
    this.#options.nodeManagers.close();
    await this.#loop.settled();
  }

  /** One heartbeat. @returns how long to wait before the next */
  async #heartbeat(): Promise<number> {
    // Only a heartbeat that begins after a question answers it.
    const questions = this.#questions;
    this.#questions = [];
    // A heartbeat without an answer is repeated first, unchanged.
    if (!this.#link.isSilent) this.#emitAll(this.#asks.tell());
    try {
      const outcome = await this.#options.manager.heartbeat(this.#progress, this.#trackingUrl);
      this.#link.move("answered");
      this.#options.silence.ends();
      if (this.#asks.answered()) this.#loop.now();
      const current = await this.#take(outcome);
      for (const answer of questions) answer(current);
    } catch (error) {
      this.#questions.unshift(...questions);
      return this.#heartbeatFailed(error);
    }
    return this.#pace.next(this.#asks.areAwaited, this.#options.clock.nowMs());
  }

  /** @returns false when this attempt is over */
  async #take(outcome: HeartbeatOutcome): Promise<boolean> {
    switch (outcome.kind) {
      case "allocation":
        this.#failures.end();
        this.#allocated(outcome.allocation);
        return true;
      case "resync": {
        const registration = await this.#register();
        this.#options.nodeManagers.addTokens(registration.nodeTokens);
        this.#emitAll(this.#events.ofLate(registration.containersFromPreviousAttempts));
        this.#emit({ type: "resource-manager-resynced" });
        return true;
      }
      case "shutdown":
        this.#attemptOver(outcome.reason);
        return false;
    }
  }

  #allocated(allocation: Allocation): void {
    this.#options.nodeManagers.addTokens(allocation.nodeTokens);
    this.#asks.allocated(allocation.allocated);
    this.#emitAll(this.#events.of(allocation));
    this.#emitAll(this.#asks.unplaced(allocation.rejected));
  }

  /** @returns how long to wait before the next heartbeat */
  #heartbeatFailed(error: unknown): number {
    const failure = this.#failures.meaningOf(error);
    switch (failure.kind) {
      case "too-large": {
        const ask = this.#asks.tooLarge();
        if (ask === undefined) return 0;
        this.#emit({ type: "ask-too-large", role: ask.role, message: failure.message, ...failure.refusal });
        return refusedIntervalMs;
      }
      case "refused":
        this.#emit(failure.event);
        return refusedIntervalMs;
      case "hopeless":
        this.#attemptOver(failure.reason);
        return retryIntervalMs;
      case "away":
        this.#link.move("unanswered");
        if (!this.#loop.ended) this.#options.silence.goesOn(error, 0);
        return retryIntervalMs;
    }
  }

  #attemptOver(reason: string): void {
    this.#loop.end();
    this.#link.move("attempt-over");
    this.#emit({ type: "resource-manager-shutdown", reason });
  }

  #emitAll(events: readonly SchedulerEvent[]): void {
    for (const event of events) this.#emit(event);
  }

  /** Delivers after the call that causes the event has returned. */
  #emit(event: SchedulerEvent): void {
    queueMicrotask(() => this.#deliver(event));
  }
}
