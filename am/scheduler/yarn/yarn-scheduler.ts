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
import { resourceRefusal } from "../../../src/hadoop/yarn/resource-refusal.ts";
import { parseContainerDiagnostics } from "../../../src/job/container-diagnostics.ts";
import { listWords } from "../../../src/job/reasons/words.ts";
import type { JobOutcome, Wait } from "../../../src/job/status.ts";
import type { Log } from "../../../src/log.ts";
import type { Clock } from "../../clock.ts";
import type { Ask } from "../../core/state/effects.ts";
import type { AllocatedContainer } from "../../core/state/events.ts";
import type { ContainerCommand, Registration, Scheduler, SchedulerEvent } from "../scheduler.ts";
import { HeartbeatPace } from "./heartbeat-pace.ts";
import { type ContainerStarter, launchContainers } from "./launches.ts";
import type { NodeTable } from "./node-table.ts";
import { requestRows } from "./request-rows.ts";
import type { ResourceManagerSilence } from "./silence.ts";
import { UntoldAsks } from "./untold-asks.ts";

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
  readonly silence: ResourceManagerSilence;
  readonly clock: Clock;
  readonly log: Log;
}

/** After a request was refused. */
const refusedIntervalMs = 200;
/** After a heartbeat that brought no answer; the client has tried all ResourceManagers by then. */
const retryIntervalMs = 1_000;

/** The ResourceManager receives our heartbeats all this time, or it would end the attempt itself. */
const refusedForMs = 300_000;

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
  readonly #containers = new Map<ContainerId, Container>();
  readonly #completed = new Set<ContainerId>();
  readonly #asks = new UntoldAsks();
  readonly #pace = new HeartbeatPace();
  /** By priority: each role has its own. */
  #outstanding = new Map<number, number>();
  #avoided: readonly string[] = [];
  #address: MasterRegistration = { host: "", rpcPort: -1, trackingUrl: "" };
  #deliver: (event: SchedulerEvent) => void = () => {};
  #progress = 0;
  #headroom = "";
  #loop: Promise<void> | undefined;
  #ended = false;
  /** Whether the ResourceManager recorded this attempt's end; set once it has answered, and then no heartbeat is sent any more. */
  #endRecorded: boolean | undefined;
  #woken = false;
  #wake: () => void = () => {};
  /** Whether the last heartbeat had no answer. */
  #silent = false;
  /** Whether the registration was answered: the answer has the tokens of the nodes with kept containers. */
  #registrationAnswered = true;
  /** When the ResourceManager began to refuse every heartbeat, for an unknown reason. */
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
    this.#registrationAnswered = registration.answered;
    if (!registration.answered) this.#options.log.warn("registration-unanswered", unansweredWords);
    nodeManagers.addTokens(registration.nodeTokens);
    const kept = registration.containersFromPreviousAttempts;
    this.#remember(kept);
    this.#emit({ type: "nodes-changed", nodes: nodes.all });
    this.#emit({
      type: "am-registered",
      attempt,
      counted: registration.counted,
      resourceTypes: registration.resourceTypes.map(({ name }) => name),
    });
    this.#loop = this.#heartbeats();
    return { attempt, keptContainers: kept.map(allocatedContainer) };
  }

  ask(asks: readonly Ask[]): void {
    for (const ask of asks) this.#asks.add(ask);
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

  /** The ResourceManager sends a node's token once to each attempt: one that was lost with the registration's answer only the next one gets. */
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
   * Through its NodeManager, which acts at once; when that cannot be reached, through the ResourceManager. So too where this attempt has
   * not been told of the container: a ResourceManager that has taken over notes what is released before its NodeManager has come back
   * (org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler#releaseContainers).
   */
  stop(containerId: string): void {
    const container = this.#containers.get(containerId);
    if (container === undefined) {
      if (!this.#completed.has(containerId)) this.release([containerId]);
      return;
    }
    this.#options.nodeManagers.stop(container.nodeId, [containerId]).catch((error: unknown) => {
      this.#options.log.warn("stop-failed", `${containerId} is released instead: ${errorMessage(error)}`);
      this.release([containerId]);
    });
  }

  progress(fraction: number): void {
    this.#progress = fraction;
  }

  get waits(): readonly Wait[] {
    return this.#options.silence.waits;
  }

  get silentSinceMs(): number | undefined {
    return this.#options.silence.sinceMs;
  }

  confirm(): Promise<boolean> {
    if (this.#endRecorded !== undefined) return Promise.resolve(this.#endRecorded);
    return new Promise((resolve) => {
      this.#questions.push(resolve);
      this.#heartbeatNow();
    });
  }

  async finish(outcome: JobOutcome, trackingUrl: string): Promise<void> {
    await this.#stopHeartbeats();
    const request = { status: finalStatus[outcome.result], diagnostics: outcome.summary, trackingUrl };
    this.#endRecorded = await this.#options.master.finish(request);
    for (const answer of this.#questions.splice(0)) answer(this.#endRecorded);
  }

  async close(): Promise<void> {
    this.#ended = true;
    this.#wake();
    this.#options.master.close();
    this.#options.nodeManagers.close();
    await this.#loop;
  }

  /** Waits for a heartbeat that is under way, which would compete with the next call. */
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
    // Only a heartbeat that begins after a question answers it.
    const questions = this.#questions;
    this.#questions = [];
    // One without an answer is repeated first, as it was.
    if (!this.#silent) this.#tellAsks();
    try {
      const outcome = await this.#options.master.heartbeat(this.#progress);
      this.#silent = false;
      this.#options.silence.ends();
      if (this.#asks.answered()) this.#woken = true;
      const current = await this.#take(outcome);
      for (const answer of questions) answer(current);
    } catch (error) {
      this.#questions.unshift(...questions);
      return this.#heartbeatFailed(error);
    }
    const awaited = [...this.#outstanding.values()].some((count) => count > 0);
    return this.#pace.next(awaited, this.#options.clock.nowMs());
  }

  #tellAsks(): void {
    for (const { ask, before } of this.#asks.take()) {
      try {
        this.#options.master.ask(requestRows(ask, before));
        this.#outstanding.set(ask.priority, ask.count);
      } catch (error) {
        this.#emit({ type: "ask-refused", message: `${ask.role}: ${errorMessage(error)}` });
      }
    }
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
        this.#learnLate(registration.containersFromPreviousAttempts);
        this.#emit({ type: "resource-manager-resynced" });
        return true;
      }
      case "shutdown":
        this.#attemptOver(outcome.reason);
        return false;
    }
  }

  /** Completed containers first: new ones may be meant to replace them. */
  #allocated(allocation: Allocation): void {
    const { nodes, nodeManagers } = this.#options;
    nodeManagers.addTokens(allocation.nodeTokens);
    this.#learnLate(allocation.containersFromPreviousAttempts);
    this.#reportNodes(allocation, nodes);
    this.#reportHeadroom(allocation);
    for (const { containerId, exitStatus, diagnostics: text } of allocation.completed) {
      const diagnostics = parseContainerDiagnostics(text);
      this.#containers.delete(containerId);
      this.#completed.add(containerId);
      this.#emit({ type: "container-completed", containerId, exitStatus, diagnostics });
    }
    this.#reportPreemption(allocation);
    if (allocation.allocated.length === 0) return;
    this.#remember(allocation.allocated);
    for (const { priority } of allocation.allocated) {
      this.#outstanding.set(priority, (this.#outstanding.get(priority) ?? 0) - 1);
    }
    this.#emit({ type: "containers-allocated", containers: allocation.allocated.map(allocatedContainer) });
  }

  /** Containers whose NodeManager has come back to a ResourceManager that restarted, after this attempt had registered. */
  #learnLate(containers: readonly Container[]): void {
    const untold = containers.filter(({ id }) => !this.#containers.has(id) && !this.#completed.has(id));
    if (untold.length === 0) return;
    this.#remember(untold);
    const words = listWords(untold.map(({ id, nodeId }) => `${id} on ${nodeId}`));
    this.#options.log.info("containers-late", `YARN tells late of containers of an earlier attempt: ${words}.`);
    this.#emit({ type: "containers-recovered-late", containers: untold.map(allocatedContainer) });
  }

  #reportNodes({ updatedNodes }: Allocation, nodes: NodeTable): void {
    if (updatedNodes.length === 0) return;
    const changed = nodes.update(updatedNodes);
    for (const { host, healthReport } of changed) {
      if (healthReport === undefined) continue;
      this.#options.log.warn("node-unhealthy", `YARN does not use ${host} while it is unhealthy: ${healthReport}.`, {
        host,
      });
    }
    this.#emit({ type: "nodes-changed", nodes: changed });
  }

  #reportHeadroom({ available }: Allocation): void {
    const headroom = JSON.stringify(available);
    if (headroom === this.#headroom) return;
    this.#headroom = headroom;
    this.#emit({ type: "headroom-changed", available });
  }

  #reportPreemption({ preemption }: Allocation): void {
    if (preemption === undefined) return;
    const { strict, negotiable } = preemption;
    if (strict.length > 0) this.#emit({ type: "preemption-notice", containerIds: strict, strict: true });
    if (negotiable.containers.length === 0) return;
    this.#emit({ type: "preemption-notice", containerIds: negotiable.containers, strict: false });
  }

  /** A refused request will be refused again; any other failure means that the ResourceManager is away, which passes. */
  #heartbeatFailed(error: unknown): number {
    const refusal = resourceRefusal(error);
    if (refusal !== undefined) {
      const ask = this.#asks.refused();
      if (ask === undefined) return 0;
      this.#outstanding.delete(ask.priority);
      this.#emit({ type: "ask-too-large", role: ask.role, message: errorMessage(error), ...refusal });
      return refusedIntervalMs;
    }
    if (isRemoteError(error, "INVALID_LABEL", "RESOURCE_TYPE_UNKNOWN")) {
      this.#emit({ type: "ask-refused", message: errorMessage(error) });
      return refusedIntervalMs;
    }
    if (this.#refusedTooLong(error)) {
      this.#attemptOver(
        `the ResourceManager has refused every heartbeat for ${refusedForMs / 60_000} min: ${errorMessage(error)}`,
      );
      return retryIntervalMs;
    }
    this.#silent = true;
    if (!this.#ended) this.#options.silence.goesOn(error, 0);
    return retryIntervalMs;
  }

  /** Whether an unknown exception has lasted so long that another attempt should try. */
  #refusedTooLong(error: unknown): boolean {
    if (!(error instanceof RemoteError) || error.retryable) {
      this.#refusedSinceMs = undefined;
      return false;
    }
    const nowMs = this.#options.clock.nowMs();
    this.#refusedSinceMs ??= nowMs;
    return nowMs - this.#refusedSinceMs >= refusedForMs;
  }

  #attemptOver(reason: string): void {
    this.#ended = true;
    this.#emit({ type: "resource-manager-shutdown", reason });
  }

  #remember(containers: readonly Container[]): void {
    for (const container of containers) this.#containers.set(container.id, container);
  }

  /** Sends the next heartbeat at once, or right after the one that is under way. */
  #heartbeatNow(): void {
    this.#woken = true;
    this.#wake();
  }

  async #pause(intervalMs: number): Promise<void> {
    if (this.#woken || this.#ended) {
      this.#woken = false;
      // The effects of one step come together: one heartbeat carries them all.
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

  /** Delivers after the call that causes the event has returned. */
  #emit(event: SchedulerEvent): void {
    queueMicrotask(() => this.#deliver(event));
  }
}

function allocatedContainer({ id, nodeId, nodeHttpAddress, priority, resource }: Container): AllocatedContainer {
  const host = nodeId.slice(0, nodeId.lastIndexOf(":"));
  return { containerId: id, nodeId, host, nodeHttpAddress, priority, resource };
}
