import type { Ask } from "../../am/core/state/effects.ts";
import type { AllocatedContainer, NodeView } from "../../am/core/state/events.ts";
import type { VirtualClock } from "./clock.ts";
import type { Random } from "./random.ts";

/** Which of a node's connections are cut. */
export interface Cut {
  /** To the ResourceManager, to HDFS and all others. */
  readonly whole?: true;
  /** Its NodeManager stands still as well. */
  readonly unmanaged?: true;
  /** What the ApplicationMaster sends to it is lost. */
  readonly inward: boolean;
  /** What it sends to the ApplicationMaster is lost. */
  readonly outward: boolean;
}

export interface ModelNode {
  readonly nodeId: string;
  readonly host: string;
  readonly rack: string;
  readonly capacityMiB: number;
  usedMiB: number;
  alive: boolean;
  cut: Cut | undefined;
  /** By how much its clock is ahead. */
  skewMs: number;
  /** What its NodeManager takes beyond the usual for each order. */
  slowMs: number;
  /** Its NodeManager is not there: containers run on, and nobody hears of them. */
  isUnmanaged: boolean;
  readonly phaseMs: number;
  tickScheduled: boolean;
}

/** Connections to it stand: that takes both directions. */
export function isReachable({ cut }: ModelNode): boolean {
  return cut === undefined || !(cut.inward || cut.outward);
}

/** What is neither the ApplicationMaster nor on the node itself, as HDFS. */
export function reachesOthers({ cut }: ModelNode): boolean {
  return cut?.whole !== true;
}

/** What YARN orders is done there. */
export function obeysYarn({ cut }: ModelNode): boolean {
  return cut?.whole !== true && cut?.unmanaged !== true;
}

/** The ResourceManager hears of it. */
function reports(node: ModelNode): boolean {
  return node.alive && obeysYarn(node) && !node.isUnmanaged;
}

export interface ModelContainer {
  readonly given: AllocatedContainer;
  readonly node: ModelNode;
  readonly memoryMiB: number;
  state: "allocated" | "delivered" | "running" | "complete";
  /** The ApplicationMaster has given it up. */
  surrendered: boolean;
}

export interface Completion {
  readonly containerId: string;
  readonly exitStatus: number;
  readonly diagnostics: string;
}

const NODE_HEARTBEAT_MS = 1_000;

/**
 * YARN as an ApplicationMaster meets it: containers come at node heartbeats, one at a time where no host is named, rounded up, now and
 * then one too many or twice; completions come late, releases take a heartbeat.
 */
export class Yarn {
  readonly nodes: ModelNode[];
  readonly containers = new Map<string, ModelContainer>();
  #allocated: AllocatedContainer[] = [];
  /** The ResourceManager answers. */
  isUp = true;
  finished = false;
  onComplete: (container: ModelContainer) => void = () => {};
  /** Longest time a completion takes beyond the node's heartbeat. */
  completionDelayMs = 1_000;
  surplusChance = 0;
  readonly #clock: VirtualClock;
  readonly #random: Random;
  readonly #asks = new Map<number, { ask: Ask; left: number; hosts: Map<string, number> }>();
  #avoided: readonly string[] = [];
  /** Ends that the next allocate call tells, and those that the last one told: that an attempt has those its next call says. */
  #completed: Completion[] = [];
  #told: Completion[] = [];
  /** Containers of whose end no attempt is told again. */
  readonly settled = new Set<string>();
  /** Ended, and the node has not said so yet. */
  readonly #untold = new Set<string>();
  #containers = 0;

  constructor(clock: VirtualClock, random: Random, nodes: number, capacityMiB: number) {
    this.#clock = clock;
    this.#random = random;
    this.nodes = Array.from({ length: nodes }, (_, index) => ({
      nodeId: `node${index}:45454`,
      host: `node${index}`,
      rack: `/rack${index % 2}`,
      capacityMiB,
      usedMiB: 0,
      alive: true,
      cut: undefined,
      skewMs: 0,
      slowMs: 0,
      isUnmanaged: false,
      phaseMs: random.integer(0, NODE_HEARTBEAT_MS - 1),
      tickScheduled: false,
    }));
  }

  views(): NodeView[] {
    return this.nodes.map((node) => ({
      nodeId: node.nodeId,
      host: node.host,
      rack: node.rack,
      usable: node.alive,
      labels: [],
      free: { memoryMiB: node.capacityMiB - node.usedMiB, vcores: 64, others: {} },
    }));
  }

  get isAsked(): boolean {
    for (const { left } of this.#asks.values()) {
      if (left > 0) {
        return true;
      }
    }
    return false;
  }

  ask(asks: readonly Ask[]): void {
    for (const ask of asks) {
      this.#asks.set(ask.priority, {
        ask,
        left: ask.count,
        hosts: new Map(ask.hosts.map(({ host, count }) => [host, count])),
      });
    }
    this.#wakeNodes();
  }

  avoid(hosts: readonly string[]): void {
    this.#avoided = hosts;
  }

  /** What an allocate call brings. */
  pullAllocated(): readonly AllocatedContainer[] {
    return this.#allocated.splice(0);
  }

  /** The ApplicationMaster has heard of them. */
  delivered(allocated: readonly AllocatedContainer[]): void {
    for (const { containerId } of allocated) {
      const container = this.containers.get(containerId);
      if (container?.state === "allocated") {
        container.state = "delivered";
      }
    }
  }

  /** What a later attempt is told that it has (AbstractYarnScheduler#getTransferredContainers). */
  running(): readonly AllocatedContainer[] {
    return [...this.containers.values()].filter(({ state }) => state === "running").map(({ given }) => given);
  }

  /** What was asked for is forgotten, and what nobody was told of; ends are told again, for nodes keep them until they are acknowledged. */
  restarted(): void {
    this.#asks.clear();
    this.#completed.unshift(...this.#told.splice(0));
    this.#allocated = [];
    for (const [id, { state }] of this.containers) {
      if (state === "allocated") {
        this.complete(id, -100, "Container that no ApplicationMaster had heard of");
      }
    }
  }

  /** What an allocate call tells of containers that are over (RMAppAttemptImpl#pullJustFinishedContainers). */
  pullCompleted(): readonly Completion[] {
    for (const { containerId } of this.#told) {
      this.settled.add(containerId);
    }
    this.#told = this.#completed.splice(0);
    return this.#told;
  }

  /**
   * The next attempt is told again what this one may not have read (RMAppAttemptImpl#transferStateFromAttempt). Of the containers only
   * what runs is kept for it (AbstractYarnScheduler: RMContainerState.RUNNING).
   */
  newAttempt(): void {
    this.#asks.clear();
    this.#allocated = [];
    this.#completed.unshift(...this.#told.splice(0));
    for (const [id, { state }] of this.containers) {
      if (state === "allocated" || state === "delivered") {
        this.complete(id, -100, "Container released by the ResourceManager");
      }
    }
  }

  /** What is released before its node has told why it ended is forgotten: the release is then all that is known. */
  release(containerId: string): void {
    this.#tell({ containerId, exitStatus: -100, diagnostics: "Container released by application" });
    this.complete(containerId, -100, "Container released by application");
  }

  /** With a heartbeat of its node, once that is heard again. */
  #tellLater(completion: Completion, node: ModelNode, delayMs: number): void {
    this.#clock.after(delayMs, () => {
      if (node.isUnmanaged) {
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

  /** A container ends; the ApplicationMaster hears of it after the node's heartbeat, and perhaps later. */
  complete(containerId: string, exitStatus: number, diagnostics: string): void {
    const container = this.containers.get(containerId);
    if (container === undefined || container.state === "complete") {
      return;
    }
    container.state = "complete";
    container.node.usedMiB -= container.memoryMiB;
    this.onComplete(container);
    const delayMs = this.#random.integer(50, NODE_HEARTBEAT_MS) + this.#random.integer(0, this.completionDelayMs);
    this.#untold.add(containerId);
    this.#tellLater({ containerId, exitStatus, diagnostics }, container.node, delayMs);
    this.#wakeNodes();
  }

  loseNode(node: ModelNode): void {
    node.alive = false;
    for (const container of this.containers.values()) {
      if (container.node === node) {
        this.complete(container.given.containerId, -100, "Container released on a *lost* node");
      }
    }
  }

  finishApplication(): void {
    this.finished = true;
    for (const container of this.containers.values()) {
      this.complete(container.given.containerId, -107, "");
    }
  }

  #wakeNodes(): void {
    if (!this.isAsked) {
      return;
    }
    for (const node of this.nodes) {
      if (reports(node) && !node.tickScheduled) {
        node.tickScheduled = true;
        const intoMs = (this.#clock.nowMs - node.phaseMs) % NODE_HEARTBEAT_MS;
        this.#clock.after(NODE_HEARTBEAT_MS - intoMs, () => this.#nodeHeartbeat(node));
      }
    }
  }

  #nodeHeartbeat(node: ModelNode): void {
    node.tickScheduled = false;
    if (!reports(node) || this.finished || !this.isUp) {
      return;
    }
    let offSwitch = 1;
    for (const [, entry] of [...this.#asks].sort(([a], [b]) => a - b)) {
      while (entry.left > 0 && !this.#avoided.includes(node.host)) {
        const local = entry.hosts.get(node.host) ?? 0;
        if (local === 0 && (offSwitch === 0 || entry.ask.relaxLocality === false)) {
          break;
        }
        if (!this.#allocate(node, entry.ask)) {
          break;
        }
        entry.left--;
        if (local > 0) {
          entry.hosts.set(node.host, local - 1);
        } else {
          offSwitch--;
        }
        if (this.#random.chance(this.surplusChance)) {
          this.#allocate(node, entry.ask);
        }
      }
    }
    this.#wakeNodes();
  }

  #allocate(node: ModelNode, ask: Ask): boolean {
    const memoryMiB = Math.ceil(ask.resource.memoryMiB / 512) * 512;
    if (node.usedMiB + memoryMiB > node.capacityMiB) {
      return false;
    }
    node.usedMiB += memoryMiB;
    this.#containers++;
    const given: AllocatedContainer = {
      containerId: `container_1_0001_01_${String(this.#containers).padStart(6, "0")}`,
      nodeId: node.nodeId,
      host: node.host,
      nodeHttpAddress: `${node.host}:8042`,
      priority: ask.priority,
      resource: { memoryMiB, vcores: 1, others: {} },
    };
    this.containers.set(given.containerId, { given, node, memoryMiB, state: "allocated", surrendered: false });
    this.#allocated.push(given);
    return true;
  }
}
