import { errorCode, errorMessage } from "../../../src/hadoop/errors.ts";
import { isRemoteError, RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import type {
  Allocation,
  FinishRequest,
  HeartbeatOutcome,
  MasterRegistration,
  NodeToken,
  ResourceRequest,
  Registration as YarnRegistration,
} from "../../../src/hadoop/yarn/allocation.ts";
import type { Container, ContainerId, FinalStatus, NodeId } from "../../../src/hadoop/yarn/records.ts";
import { parseContainerDiagnostics } from "../../../src/job/container-diagnostics.ts";
import type { JobOutcome } from "../../../src/job/status.ts";
import type { Log } from "../../../src/log.ts";
import type { Clock } from "../../clock.ts";
import type { Ask } from "../../core/state/effects.ts";
import type { AllocatedContainer } from "../../core/state/events.ts";
import type { ContainerCommand, Registration, Scheduler, SchedulerEvent } from "../scheduler.ts";
import { type ContainerStarter, launchContainers } from "./launches.ts";
import type { NodeTable } from "./node-table.ts";
import { requestRows } from "./request-rows.ts";

/** What is needed of SchedulerClient: the ResourceManager as an application attempt sees it. */
export interface MasterClient {
  register(registration: MasterRegistration): Promise<YarnRegistration>;
  ask(rows: readonly ResourceRequest[]): void;
  release(ids: readonly ContainerId[]): void;
  blacklist(change: { readonly add: readonly string[]; readonly remove: readonly string[] }): void;
  heartbeat(progress: number): Promise<HeartbeatOutcome>;
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
  readonly master: MasterClient;
  readonly nodeManagers: NodeManagers;
  readonly attempt: number;
  readonly nodes: NodeTable;
  readonly clock: Clock;
  readonly log: Log;
}

/** While containers are awaited: they are given at a node's heartbeat and told at ours. */
const eagerIntervalMs = 200;
const idleIntervalMs = 1_000;
/** After a heartbeat that brought no answer; the client has tried all ResourceManagers by then. */
const retryIntervalMs = 1_000;

/** The ResourceManager hears us all this time, or it would end the attempt itself. */
const refusedForMs = 300_000;

const unheardWords =
  "The ResourceManager has this attempt registered, but its answer was lost: of containers kept from an earlier attempt the journal and their executors tell.";

const finalStatus: Record<JobOutcome["result"], FinalStatus> = {
  succeeded: "SUCCEEDED",
  failed: "FAILED",
  killed: "KILLED",
};

/** Containers of a real cluster: heartbeats to the ResourceManager, launches at the NodeManagers. */
export class YarnScheduler implements Scheduler {
  readonly #options: YarnSchedulerOptions;
  readonly #containers = new Map<ContainerId, Container>();
  /** By priority: one role each. */
  readonly #asks = new Map<number, Ask>();
  #outstanding = new Map<number, number>();
  #avoided: readonly string[] = [];
  #address: MasterRegistration = { host: "", rpcPort: -1, trackingUrl: "" };
  #deliver: (event: SchedulerEvent) => void = () => {};
  #progress = 0;
  #headroom = "";
  #loop: Promise<void> | undefined;
  #ended = false;
  /** Whether the ResourceManager itself said that it has put down the end: no heartbeat answers a question any more. */
  #endTaken: boolean | undefined;
  #woken = false;
  #wake: () => void = () => {};
  #silent = false;
  /** Whether the answer to this attempt's registration came, with the tokens of the nodes that have kept containers. */
  #heardRegistration = true;
  /** When the ResourceManager began to refuse every heartbeat for what we do not know. */
  #refusedSinceMs: number | undefined;
  #questions: ((current: boolean) => void)[] = [];

  constructor(options: YarnSchedulerOptions) {
    this.#options = options;
  }

  async start(
    address: { readonly host: string; readonly port: number; readonly trackingUrl: string },
    deliver: (event: SchedulerEvent) => void,
  ): Promise<Registration> {
    this.#deliver = deliver;
    this.#address = { host: address.host, rpcPort: address.port, trackingUrl: address.trackingUrl };
    const registration = await this.#options.master.register(this.#address);
    const { attempt, nodeManagers, nodes } = this.#options;
    this.#heardRegistration = registration.answered;
    if (!registration.answered) this.#options.log.warn("registration-unheard", unheardWords);
    nodeManagers.addTokens(registration.nodeTokens);
    const kept = registration.containersFromPreviousAttempts;
    this.#remember(kept);
    this.#emit({ type: "nodes-changed", nodes: nodes.all });
    this.#emit({
      type: "am-registered",
      attempt,
      ...(registration.maximum === undefined ? {} : { maximum: registration.maximum }),
      counted: registration.counted,
      resourceTypes: registration.resourceTypes.map(({ name }) => name),
    });
    this.#loop = this.#heartbeats();
    return { attempt, keptContainers: kept.map(allocatedContainer) };
  }

  ask(asks: readonly Ask[]): void {
    for (const ask of asks) {
      try {
        this.#options.master.ask(requestRows(ask, this.#asks.get(ask.priority)));
        this.#asks.set(ask.priority, ask);
        this.#outstanding.set(ask.priority, ask.count);
      } catch (error) {
        this.#emit({ type: "ask-refused", message: `${ask.role}: ${errorMessage(error)}` });
      }
    }
    this.#heartbeatNow();
  }

  release(containerIds: readonly string[]): void {
    this.#options.master.release(containerIds);
    this.#heartbeatNow();
  }

  blacklist(hosts: readonly string[]): void {
    const before = this.#avoided;
    this.#avoided = hosts;
    this.#options.master.blacklist({
      add: hosts.filter((host) => !before.includes(host)),
      remove: before.filter((host) => !hosts.includes(host)),
    });
  }

  launch(commands: readonly ContainerCommand[]): void {
    const containerOf = (id: ContainerId): Container | undefined => this.#containers.get(id);
    const starter: ContainerStarter = { start: (nodeId, starts) => this.#start(nodeId, starts) };
    launchContainers(commands, starter, containerOf, (event) => this.#emit(event));
  }

  /** A token goes out once for each attempt and node: what was lost with the registration's answer the next attempt alone is told. */
  async #start(...start: Parameters<ContainerStarter["start"]>): ReturnType<ContainerStarter["start"]> {
    try {
      return await this.#options.nodeManagers.start(...start);
    } catch (error) {
      const lost = !this.#heardRegistration && errorCode(error) === "NODE_TOKEN_MISSING";
      if (lost) this.#over(`the answer to its registration was lost, and with it the token for node ${start[0]}`);
      throw error;
    }
  }

  /** By its NodeManager, which is at once; where that cannot be reached, the ResourceManager will tell it. */
  stop(containerId: string): void {
    const container = this.#containers.get(containerId);
    if (container === undefined) return;
    this.#options.nodeManagers.stop(container.nodeId, [containerId]).catch((error: unknown) => {
      this.#options.log.warn("stop-failed", `${containerId} is released instead: ${errorMessage(error)}`);
      this.release([containerId]);
    });
  }

  progress(fraction: number): void {
    this.#progress = fraction;
  }

  confirm(): Promise<boolean> {
    if (this.#endTaken !== undefined) return Promise.resolve(this.#endTaken);
    return new Promise((resolve) => {
      this.#questions.push(resolve);
      this.#heartbeatNow();
    });
  }

  async finish(outcome: JobOutcome, trackingUrl: string): Promise<void> {
    await this.#stopHeartbeats();
    const request = { status: finalStatus[outcome.result], diagnostics: outcome.summary, trackingUrl };
    this.#endTaken = await this.#options.master.finish(request);
    for (const answer of this.#questions.splice(0)) answer(this.#endTaken);
  }

  async close(): Promise<void> {
    this.#ended = true;
    this.#wake();
    this.#options.master.close();
    this.#options.nodeManagers.close();
    await this.#loop;
  }

  /** A heartbeat that is under way would compete with what comes next: it is awaited. */
  async #stopHeartbeats(): Promise<void> {
    this.#ended = true;
    this.#wake();
    await this.#loop;
  }

  async #heartbeats(): Promise<void> {
    while (!this.#ended) {
      const intervalMs = await this.#heartbeat();
      await this.#pause(intervalMs);
    }
  }

  /** One heartbeat. @returns how long to wait before the next */
  async #heartbeat(): Promise<number> {
    // Only a heartbeat that begins after the question answers it.
    const questions = this.#questions;
    this.#questions = [];
    try {
      const outcome = await this.#options.master.heartbeat(this.#progress);
      this.#heardAgain();
      const current = await this.#take(outcome);
      for (const answer of questions) answer(current);
    } catch (error) {
      this.#questions.unshift(...questions);
      return this.#heartbeatFailed(error);
    }
    return [...this.#outstanding.values()].some((count) => count > 0) ? eagerIntervalMs : idleIntervalMs;
  }

  /** @returns false when this attempt is over */
  async #take(outcome: HeartbeatOutcome): Promise<boolean> {
    switch (outcome.kind) {
      case "allocation":
        this.#refusedSinceMs = undefined;
        this.#allocated(outcome.allocation);
        return true;
      case "resync": {
        const registration = await this.#options.master.register(this.#address);
        this.#options.nodeManagers.addTokens(registration.nodeTokens);
        this.#emit({ type: "resource-manager-resynced" });
        return true;
      }
      case "shutdown":
        this.#over(outcome.reason);
        return false;
    }
  }

  /** Ends first: what a completed container frees may be what the new ones are for. */
  #allocated(allocation: Allocation): void {
    const { nodes, nodeManagers } = this.#options;
    nodeManagers.addTokens(allocation.nodeTokens);
    this.#remember(allocation.containersFromPreviousAttempts);
    this.#tellNodes(allocation, nodes);
    this.#tellHeadroom(allocation);
    for (const { containerId, exitStatus, diagnostics: text } of allocation.completed) {
      const diagnostics = parseContainerDiagnostics(text);
      this.#containers.delete(containerId);
      this.#emit({ type: "container-completed", containerId, exitStatus, diagnostics });
    }
    this.#tellPreemption(allocation);
    if (allocation.allocated.length === 0) return;
    this.#remember(allocation.allocated);
    for (const { priority } of allocation.allocated) {
      this.#outstanding.set(priority, (this.#outstanding.get(priority) ?? 0) - 1);
    }
    this.#emit({ type: "containers-allocated", containers: allocation.allocated.map(allocatedContainer) });
  }

  #tellNodes({ updatedNodes }: Allocation, nodes: NodeTable): void {
    if (updatedNodes.length === 0) return;
    for (const { host, healthReport } of nodes.update(updatedNodes)) {
      if (healthReport === undefined) continue;
      this.#options.log.warn("node-unhealthy", `YARN does not use ${host} while it is unhealthy: ${healthReport}.`, {
        host,
      });
    }
    this.#emit({ type: "nodes-changed", nodes: nodes.all });
  }

  #tellHeadroom({ available }: Allocation): void {
    const headroom = JSON.stringify(available);
    if (headroom === this.#headroom) return;
    this.#headroom = headroom;
    this.#emit({ type: "headroom-changed", available });
  }

  #tellPreemption({ preemption }: Allocation): void {
    if (preemption === undefined) return;
    const { strict, negotiable } = preemption;
    if (strict.length > 0) this.#emit({ type: "preemption-notice", containerIds: strict, strict: true });
    if (negotiable.containers.length === 0) return;
    this.#emit({ type: "preemption-notice", containerIds: negotiable.containers, strict: false });
  }

  /** What the ResourceManager refuses, waiting does not bring; anything else is its absence, which passes. */
  #heartbeatFailed(error: unknown): number {
    if (isRefusal(error)) {
      this.#emit({ type: "ask-refused", message: errorMessage(error) });
      return eagerIntervalMs;
    }
    if (this.#refusedTooLong(error)) {
      this.#over(
        `the ResourceManager has refused every heartbeat for ${refusedForMs / 60_000} min: ${errorMessage(error)}`,
      );
      return retryIntervalMs;
    }
    if (!this.#silent && !this.#ended) {
      const message = `The ResourceManager does not answer; the job runs on meanwhile: ${errorMessage(error)}`;
      this.#options.log.warn("resource-manager-silent", message);
    }
    this.#silent = true;
    return retryIntervalMs;
  }

  /** Whether another attempt is the way out of what an unknown exception means. */
  #refusedTooLong(error: unknown): boolean {
    if (!(error instanceof RemoteError) || error.retryable) {
      this.#refusedSinceMs = undefined;
      return false;
    }
    const nowMs = this.#options.clock.nowMs();
    this.#refusedSinceMs ??= nowMs;
    return nowMs - this.#refusedSinceMs >= refusedForMs;
  }

  #over(reason: string): void {
    this.#ended = true;
    this.#emit({ type: "resource-manager-shutdown", reason });
  }

  #heardAgain(): void {
    if (this.#silent) this.#options.log.info("resource-manager-back", "The ResourceManager answers again");
    this.#silent = false;
  }

  #remember(containers: readonly Container[]): void {
    for (const container of containers) this.#containers.set(container.id, container);
  }

  /** The next heartbeat at once, or right after the one that is under way. */
  #heartbeatNow(): void {
    this.#woken = true;
    this.#wake();
  }

  async #pause(intervalMs: number): Promise<void> {
    if (this.#woken || this.#ended) {
      this.#woken = false;
      // Effects of one step come together; what they ask for goes in one heartbeat.
      await new Promise<void>((resolve) => setImmediate(resolve));
      return;
    }
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(intervalMs, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#woken = false;
  }

  /** Never within the call that causes it. */
  #emit(event: SchedulerEvent): void {
    queueMicrotask(() => this.#deliver(event));
  }
}

function allocatedContainer({ id, nodeId, nodeHttpAddress, priority, resource }: Container): AllocatedContainer {
  const host = nodeId.slice(0, nodeId.lastIndexOf(":"));
  return { containerId: id, nodeId, host, nodeHttpAddress, priority, resource };
}

/** The ResourceManager looked at what was asked for and will not have it. */
function isRefusal(error: unknown): boolean {
  return isRemoteError(error, "INVALID_RESOURCE_REQUEST", "INVALID_LABEL", "RESOURCE_TYPE_UNKNOWN");
}
