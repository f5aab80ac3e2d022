import type { Ask } from "../../am/core/state/effects.ts";
import type { AllocatedContainer } from "../../am/core/state/events.ts";
import type { VirtualClock } from "./clock.ts";
import { type Cluster, NODE_HEARTBEAT_MS } from "./cluster.ts";
import type { ModelNode } from "./node.ts";
import type { Random } from "./random.ts";

export interface ModelContainer {
  readonly given: AllocatedContainer;
  readonly node: ModelNode;
  readonly memoryMiB: number;
  /** The attempt of the ApplicationMaster to which it was given. */
  readonly attempt: number;
  state: "allocated" | "delivered" | "running" | "complete";
  /** A restarted ResourceManager has forgotten it, and its node starts nothing in it (ContainerManagerImpl: "allocated by a previous RM"). */
  isForgotten?: true;
  /** Whether the ApplicationMaster has released it. */
  surrendered: boolean;
}

export interface Completion {
  readonly containerId: string;
  readonly exitStatus: number;
  readonly diagnostics: string;
}

interface Outstanding {
  readonly ask: Ask;
  left: number;
  readonly hosts: Map<string, number>;
}

export interface ApplicationOptions {
  readonly id: string;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly cluster: Cluster;
  /** Chance that a container is given for which nobody asked. */
  readonly surplus: number;
  /** The longest time that a completion takes beyond the node's heartbeat. */
  readonly completionDelayMs: number;
  /** Chance that a node reports late to a ResourceManager that has restarted. */
  readonly lateNodes: number;
  /** Called when a container ends, whether or not its node can be told. */
  readonly completed: (container: ModelContainer) => void;
}

/**
 * What YARN keeps about one application. Containers are given at heartbeats of nodes, one at a time where no host is named, with their sizes
 * rounded up, and now and then one too many or twice. Completions come late, and releases take a heartbeat.
 */
export class Application {
  readonly containers = new Map<string, ModelContainer>();
  finished = false;
  /** Containers whose end is not reported to any attempt again. */
  readonly settled = new Set<string>();
  /** Containers that the ResourceManager did not know when the present attempt registered, and which it has not reported since. */
  readonly hidden = new Set<string>();
  /** Called when the ResourceManager has forgotten its attempt's registration. */
  onRestart: () => void = () => {};
  readonly #options: ApplicationOptions;
  readonly #asks = new Map<number, Outstanding>();
  #avoided: readonly string[] = [];
  #allocated: AllocatedContainer[] = [];
  /** The ends that the next allocate call reports, and those that the last one reported: an attempt confirms these by its next call. */
  #completed: Completion[] = [];
  #told: Completion[] = [];
  /** Containers that have ended and whose node has not reported that yet. */
  readonly #untold = new Set<string>();
  /** Nodes that the ResourceManager has not heard from since it restarted. */
  readonly #unheardNodes = new Set<ModelNode>();
  /** Containers of earlier attempts on nodes that reported only after the present attempt had registered: the next allocate call brings them. */
  #late: AllocatedContainer[] = [];
  #attempt = 1;

  constructor(options: ApplicationOptions) {
    this.#options = options;
    options.cluster.add(this);
  }

  get cluster(): Cluster {
    return this.#options.cluster;
  }

  get isAsking(): boolean {
    for (const { left } of this.#asks.values()) {
      if (left > 0) {
        return true;
      }
    }
    return false;
  }

  ask(asks: readonly Ask[]): void {
    for (const ask of asks) {
      const hosts = new Map(ask.hosts.map(({ host, count }) => [host, count]));
      this.#asks.set(ask.priority, { ask, left: ask.count, hosts });
    }
    this.cluster.wakeNodes();
  }

  avoid(hosts: readonly string[]): void {
    this.#avoided = hosts;
  }

  /**
   * A node's heartbeat. Where no host is named, the node gets at most `offSwitch` containers.
   * @returns how many of those are left
   */
  assign(node: ModelNode, offSwitch: number): number {
    let left = offSwitch;
    if (this.finished || this.#avoided.includes(node.host) || this.#unheardNodes.has(node)) {
      return left;
    }
    for (const [, entry] of [...this.#asks].sort(([a], [b]) => a - b)) {
      while (entry.left > 0 && (entry.ask.nodeLabel ?? "") === node.label) {
        const local = entry.hosts.get(node.host) ?? 0;
        if (local === 0 && (left === 0 || entry.ask.relaxLocality === false)) {
          break;
        }
        if (!this.#allocate(node, entry.ask)) {
          break;
        }
        entry.left--;
        if (local > 0) {
          entry.hosts.set(node.host, local - 1);
        } else {
          left--;
        }
        if (this.#options.random.chance(this.#options.surplus)) {
          this.#allocate(node, entry.ask);
        }
      }
    }
    return left;
  }

  /** What an allocate call brings. */
  pullAllocated(): readonly AllocatedContainer[] {
    return this.#allocated.splice(0);
  }

  /** The ApplicationMaster has heard of these containers. */
  delivered(containers: readonly AllocatedContainer[]): void {
    for (const { containerId } of containers) {
      this.hidden.delete(containerId);
      const container = this.containers.get(containerId);
      if (container?.state === "allocated") {
        container.state = "delivered";
      }
    }
  }

  /** The ended containers that an allocate call reports (RMAppAttemptImpl#pullJustFinishedContainers). */
  pullCompleted(): readonly Completion[] {
    for (const { containerId } of this.#told) {
      this.settled.add(containerId);
    }
    this.#told = this.#completed.splice(0);
    return this.#told;
  }

  /** The containers that a later attempt is told it has (AbstractYarnScheduler#getTransferredContainers). */
  running(): readonly AllocatedContainer[] {
    this.#late = [];
    this.hidden.clear();
    const running = [...this.containers.values()].filter(({ state }) => state === "running");
    for (const { given } of running.filter(({ node }) => this.#unheardNodes.has(node))) {
      this.hidden.add(given.containerId);
    }
    return running.map(({ given }) => given).filter(({ containerId }) => !this.hidden.has(containerId));
  }

  /** The containers that it is told about later (SchedulerApplicationAttempt#pullPreviousAttemptContainers). */
  pullLate(): readonly AllocatedContainer[] {
    return this.#late.splice(0);
  }

  /**
   * The ResourceManager forgets what was asked for, and the containers that it gave and that do not run, although an answer that names them may
   * be under way. Ends are reported again, because nodes keep them until they are acknowledged.
   */
  restarted(): void {
    this.onRestart();
    this.#asks.clear();
    this.#completed.unshift(...this.#told.splice(0));
    this.#allocated = [];
    for (const container of this.containers.values()) {
      if (container.state === "allocated") {
        container.isForgotten = true;
        this.#end(container);
      }
    }
    const { lateNodes, random, clock } = this.#options;
    for (const node of lateNodes === 0 ? [] : this.cluster.nodes.filter(() => random.chance(lateNodes))) {
      this.#unheardNodes.add(node);
      clock.after(random.integer(1_000, 90_000), () => this.#comesBack(node));
    }
  }

  #comesBack(node: ModelNode): void {
    this.#unheardNodes.delete(node);
    for (const container of this.containers.values()) {
      if (container.node === node && container.state === "running" && container.attempt < this.#attempt) {
        this.#late.push(container.given);
      }
    }
    this.cluster.wakeNodes();
  }

  /**
   * The next attempt is told again what this one may not have read (RMAppAttemptImpl#transferStateFromAttempt). Only running containers are kept
   * for it (AbstractYarnScheduler: RMContainerState.RUNNING).
   */
  newAttempt(): void {
    this.#attempt++;
    this.#asks.clear();
    this.#allocated = [];
    this.#completed.unshift(...this.#told.splice(0));
    for (const [id, { state }] of this.containers) {
      if (state === "allocated" || state === "delivered") {
        this.complete(id, -100, "Container of a completed application");
      }
    }
  }

  /** If a container is released before its node has reported why it ended, that reason is lost, and the release is all that is known. */
  release(containerId: string): void {
    this.#tell({ containerId, exitStatus: -100, diagnostics: "Container released by application" });
    this.complete(containerId, -100, "Container released by application");
  }

  /** A container ends. The ApplicationMaster hears of it after the node's heartbeat, and perhaps later. */
  complete(containerId: string, exitStatus: number, diagnostics: string): void {
    const { random, completionDelayMs, cluster } = this.#options;
    const container = this.containers.get(containerId);
    if (container === undefined || container.state === "complete") {
      return;
    }
    this.#end(container);
    const delayMs = random.integer(50, NODE_HEARTBEAT_MS) + random.integer(0, completionDelayMs);
    this.#untold.add(containerId);
    this.#tellLater({ containerId, exitStatus, diagnostics }, container.node, delayMs);
    cluster.wakeNodes();
  }

  #end(container: ModelContainer): void {
    container.state = "complete";
    container.node.usedMiB -= container.memoryMiB;
    this.#options.completed(container);
  }

  loseNode(node: ModelNode): void {
    for (const container of this.containers.values()) {
      if (container.node === node) {
        this.complete(container.given.containerId, -100, "Container released on a *lost* node");
      }
    }
  }

  finish(): void {
    this.finished = true;
    for (const container of this.containers.values()) {
      this.complete(container.given.containerId, -107, "");
    }
  }

  /** Reports the end with a heartbeat of its node, once that node is heard again. */
  #tellLater(completion: Completion, node: ModelNode, delayMs: number): void {
    this.#options.clock.after(delayMs, () => {
      if (node.isUnmanaged || this.#unheardNodes.has(node)) {
        this.#tellLater(completion, node, NODE_HEARTBEAT_MS);
      } else {
        this.#tell(completion);
      }
    });
  }

  #tell(completion: Completion): void {
    if (this.#untold.delete(completion.containerId)) {
      this.#completed.push(completion);
    }
  }

  #allocate(node: ModelNode, ask: Ask): boolean {
    const memoryMiB = Math.ceil(ask.resource.memoryMiB / 512) * 512;
    if (node.usedMiB + memoryMiB > node.capacityMiB) {
      return false;
    }
    node.usedMiB += memoryMiB;
    const number = String(this.containers.size + 1).padStart(6, "0");
    const given: AllocatedContainer = {
      containerId: `${this.#options.id.replace("application", "container")}_01_${number}`,
      nodeId: node.nodeId,
      host: node.host,
      nodeHttpAddress: `${node.host}:8042`,
      priority: ask.priority,
      resource: { memoryMiB, vcores: 1, others: {} },
    };
    const attempt = this.#attempt;
    this.containers.set(given.containerId, { given, node, memoryMiB, attempt, state: "allocated", surrendered: false });
    this.#allocated.push(given);
    return true;
  }
}
