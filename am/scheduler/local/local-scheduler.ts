import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { callAfter } from "../../../src/hadoop/clock.ts";
import { formatHostPort } from "../../../src/hadoop/conf/values.ts";
import { errorCode, errorMessage } from "../../../src/hadoop/errors.ts";
import { ContainerExitStatus, type Resource } from "../../../src/hadoop/yarn/records.ts";
import { add, subtract, typesBeyond, typeWords } from "../../../src/job/amounts.ts";
import { parseContainerDiagnostics } from "../../../src/job/diagnosis/container-diagnostics.ts";
import { gpusOf } from "../../../src/job/gpus.ts";
import type { Machine } from "../../../src/machine.ts";
import type { Ask } from "../../core/state/effects.ts";
import type { AllocatedContainer, NodeView } from "../../core/state/events.ts";
import type { ContainerCommand, Registration, Scheduler, SchedulerEvent } from "../scheduler.ts";
import { LocalContainer, type NodeAddress } from "./container.ts";
import { type GpuClaims, SocketGpuClaims } from "./gpu-claims.ts";
import { Localizer } from "./localize.ts";

export interface LocalSchedulerOptions {
  /** The ApplicationMaster's own container. */
  readonly ownContainerId: string;
  /** The first container's number; each further one gets the next. */
  readonly firstNumber: number;
  /** Where containers get their folders. */
  readonly folder: string;
  /** Where they write their logs; absent: each in a folder of its own there. */
  readonly logFolder?: string;
  readonly user: string;
  readonly machine: Pick<Machine, "memoryMiB" | "vcores" | "gpus">;
  /** The resource types by which the job asks for its GPUs; each stands for all GPUs of this machine. */
  readonly gpuTypes: readonly string[];
  readonly node: NodeAddress;
  /** Shares the GPUs with other users; default: with other jobs on this machine. */
  readonly claims?: GpuClaims;
  /** Places their files; default: from this machine's own. */
  readonly files?: Pick<Localizer, "place">;
}

interface Held {
  readonly resource: Resource;
  /** The GPUs that it may use. */
  readonly gpus: readonly string[];
  /** Absent until it is launched. */
  process?: LocalContainer;
}

/** How often to check whether a GPU that another job has is free. */
const CLAIM_AGAIN_MS = 1_000;

const released = { exitStatus: ContainerExitStatus.aborted, diagnostics: "Container released by application" };
const stopped = {
  exitStatus: ContainerExitStatus.killedByApplicationMaster,
  diagnostics: "Container killed by the ApplicationMaster.",
};

/**
 * This machine as a cluster of one node. Memory is counted as YARN's default calculator counts it; cores are not, beyond what one
 * container may ask for, so that a job of several tasks runs on a laptop. A container sees only the GPUs that it was given.
 * Node labels and locality mean nothing here.
 */
export class LocalScheduler implements Scheduler {
  readonly waits = [];
  readonly answeredAtMs = undefined;
  readonly clientTokenKey = undefined;
  readonly #options: LocalSchedulerOptions;
  readonly #capacity: Resource;
  readonly #localizer: Pick<Localizer, "place">;
  readonly #claims: GpuClaims;
  /** GPUs that this job has claimed and no container has. */
  #spareGpus: readonly string[] = [];
  /** How many GPUs other jobs had when they were last wanted. */
  #othersGpus = 0;
  #cancelClaim: () => void = () => {};
  readonly #wanted = new Map<number, Ask>();
  readonly #held = new Map<string, Held>();
  #deliver: (event: SchedulerEvent) => void = () => {};
  #headroom: Resource | undefined;
  #nextNumber: number;
  #matching = false;
  #closed = false;
  #lastEnded: (() => void) | undefined;

  constructor(options: LocalSchedulerOptions) {
    this.#options = options;
    const { gpuTypes, machine } = options;
    const { memoryMiB, vcores, gpus } = machine;
    const others = gpus.length === 0 ? [] : gpuTypes.map((type) => [type, gpus.length]);
    this.#capacity = { memoryMiB, vcores, others: Object.fromEntries(others) };
    this.#nextNumber = options.firstNumber;
    this.#claims = options.claims ?? new SocketGpuClaims();
    this.#localizer = options.files ?? new Localizer(path.join(options.folder, "filecache"));
  }

  async start(_address: unknown, deliver: (event: SchedulerEvent) => void): Promise<Registration> {
    this.#deliver = deliver;
    const capacity = this.#capacity;
    this.#emit({ type: "nodes-changed", nodes: [this.#node()] });
    const resourceTypes = Object.keys(capacity.others);
    this.#emit({ type: "am-registered", attempt: 1, counted: "all-but-cores", resourceTypes });
    return { attempt: 1, keptContainers: [] };
  }

  ask(asks: readonly Ask[]): void {
    for (const ask of asks) {
      const beyond = typesBeyond(ask.resource, this.#capacity);
      if (ask.count > 0 && beyond.length > 0) {
        const asked = beyond.map(({ type, wanted }) => typeWords(type, wanted)).join(" and ");
        const has = beyond.map(({ type, limit }) => typeWords(type, limit)).join(" and ");
        const message = `${ask.role} asks for ${asked}, this machine has ${has}`;
        this.#emit({ type: "ask-refused", message });
      } else {
        this.#wanted.set(ask.priority, ask);
      }
    }
    this.#matchSoon();
  }

  release(containerIds: readonly string[]): void {
    for (const id of containerIds) this.#end(id, released);
  }

  blacklist(): void {}

  launch(commands: readonly ContainerCommand[]): void {
    for (const command of commands) void this.#launch(command);
  }

  stop(containerId: string): void {
    this.#end(containerId, stopped);
  }

  show(): void {}

  async confirm(): Promise<boolean> {
    return true;
  }

  /** Ends what still runs, as YARN ends the containers of an application that finishes. */
  async finish(): Promise<boolean> {
    this.#wanted.clear();
    await this.#endAll();
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelClaim();
    await this.#endAll();
    this.#claims.giveBack(this.#options.machine.gpus);
  }

  async #launch(command: ContainerCommand): Promise<void> {
    const { containerId } = command;
    const held = this.#held.get(containerId);
    if (held === undefined || held.process !== undefined) {
      this.#launchFailed(containerId, `${containerId} is not a container to be started`, false);
      return;
    }
    const devices = held.gpus.length === 0 ? {} : { CUDA_VISIBLE_DEVICES: held.gpus.join(",") };
    const { user, node, logFolder } = this.#options;
    const folder = path.join(this.#options.folder, containerId);
    const place = { folder, logFolder: logFolder ?? path.join(folder, "logs"), user, node };
    held.process = new LocalContainer(place, (end) => this.#completed(containerId, end));
    try {
      const environment = { ...devices, ...command.environment };
      await held.process.start({ ...command, environment }, this.#localizer);
      this.#emit({ type: "launch-succeeded", containerId });
    } catch (error) {
      this.#forget(containerId);
      this.#launchFailed(containerId, errorMessage(error), errorCode(error) !== "LOCALIZATION");
      this.#changed();
    }
  }

  #launchFailed(containerId: string, message: string, nodeAtFault: boolean): void {
    this.#emit({ type: "launch-failed", containerId, message, nodeAtFault });
  }

  #end(containerId: string, end: { readonly exitStatus: number; readonly diagnostics: string }): void {
    const held = this.#held.get(containerId);
    if (held === undefined) return;
    if (held.process !== undefined) held.process.stop(end);
    else setImmediate(() => this.#completed(containerId, end));
  }

  #completed(containerId: string, end: { readonly exitStatus: number; readonly diagnostics: string }): void {
    if (!this.#forget(containerId)) return;
    const diagnostics = parseContainerDiagnostics(end.diagnostics);
    this.#emit({ type: "container-completed", containerId, exitStatus: end.exitStatus, diagnostics });
    this.#changed();
  }

  /** @returns whether it was held */
  #forget(containerId: string): boolean {
    this.#spareGpus = [...this.#spareGpus, ...(this.#held.get(containerId)?.gpus ?? [])].sort(this.#inOrder);
    return this.#held.delete(containerId);
  }

  #changed(): void {
    if (this.#held.size === 0) this.#lastEnded?.();
    this.#matchSoon();
  }

  /** Allocations are an event of their own, as with YARN, after the call that asks has returned. */
  #matchSoon(): void {
    if (this.#matching || this.#closed) return;
    this.#matching = true;
    setImmediate(async () => {
      await this.#claimGpus();
      this.#matching = false;
      if (this.#closed) this.#claims.giveBack(this.#options.machine.gpus);
      else this.#match();
    });
  }

  /** Claims the GPUs that are wanted beyond those it has; tries again while others have them. */
  async #claimGpus(): Promise<void> {
    this.#cancelClaim();
    const { machine, gpuTypes } = this.#options;
    const own = new Set([...this.#spareGpus, ...this.#usedGpus()]);
    const others = machine.gpus.filter((gpu) => !own.has(gpu));
    const asked = [...this.#wanted.values()].map(({ count, resource }) => count * gpusOf(resource.others, gpuTypes));
    const wanted = asked.reduce((sum, gpus) => sum + gpus, 0) - this.#spareGpus.length;
    if (wanted <= 0) return;
    const claimed = await this.#claims.claim(others, wanted);
    if (this.#closed) return;
    this.#spareGpus = [...this.#spareGpus, ...claimed].sort(this.#inOrder);
    this.#othersGpus = claimed.length < wanted ? others.length - claimed.length : 0;
    if (this.#othersGpus > 0) this.#cancelClaim = callAfter(CLAIM_AGAIN_MS, () => this.#matchSoon());
  }

  /** In the machine's order. */
  readonly #inOrder = (a: string, b: string): number =>
    this.#options.machine.gpus.indexOf(a) - this.#options.machine.gpus.indexOf(b);

  #usedGpus(): readonly string[] {
    return [...this.#held.values()].flatMap(({ gpus }) => gpus);
  }

  /** The lowest priority number first, as in YARN. */
  #match(): void {
    const given: AllocatedContainer[] = [];
    for (const [priority, ask] of [...this.#wanted].sort(([a], [b]) => a - b)) {
      let count = ask.count;
      for (; count > 0 && this.#fits(ask.resource); count -= 1) given.push(this.#allocate(ask));
      if (count === 0) this.#wanted.delete(priority);
      else this.#wanted.set(priority, { ...ask, count });
    }
    this.#claims.giveBack(this.#spareGpus);
    this.#spareGpus = [];
    this.#tellHeadroom();
    if (given.length > 0) this.#emit({ type: "containers-allocated", containers: given });
  }

  #tellHeadroom(): void {
    const available = this.#free();
    if (isDeepStrictEqual(available, this.#headroom)) return;
    this.#headroom = available;
    this.#emit({ type: "headroom-changed", available });
  }

  #allocate(ask: Ask): AllocatedContainer {
    const containerId = this.#nextContainerId();
    const count = gpusOf(ask.resource.others, this.#options.gpuTypes);
    const gpus = this.#spareGpus.slice(0, count);
    this.#spareGpus = this.#spareGpus.slice(count);
    this.#held.set(containerId, { resource: ask.resource, gpus });
    const { host, port, httpAddress } = this.#options.node;
    const nodeId = formatHostPort({ host, port });
    return { containerId, nodeId, host, nodeHttpAddress: httpAddress, priority: ask.priority, resource: ask.resource };
  }

  #nextContainerId(): string {
    const number = String(this.#nextNumber++).padStart(6, "0");
    return this.#options.ownContainerId.replace(/\d+$/, number);
  }

  #fits(resource: Resource): boolean {
    const gpus = gpusOf(resource.others, this.#options.gpuTypes);
    return gpus <= this.#spareGpus.length && typesBeyond({ ...resource, vcores: 0 }, this.#free()).length === 0;
  }

  #free(): Resource {
    const nothing: Resource = { memoryMiB: 0, vcores: 0, others: {} };
    const others = Object.fromEntries(Object.keys(this.#capacity.others).map((type) => [type, this.#othersGpus]));
    const used = [...this.#held.values()].reduce((sum, { resource }) => add(sum, resource), { ...nothing, others });
    return subtract(this.#capacity, used);
  }

  #node(): NodeView {
    const { host, port } = this.#options.node;
    return {
      nodeId: formatHostPort({ host, port }),
      host,
      rack: "/default-rack",
      usable: true,
      labels: [],
      free: this.#free(),
      total: this.#capacity,
    };
  }

  async #endAll(): Promise<void> {
    if (this.#held.size === 0) return;
    const allEnded = new Promise<void>((resolve) => {
      this.#lastEnded = resolve;
    });
    for (const id of [...this.#held.keys()]) this.#end(id, stopped);
    await allEnded;
  }

  /** Delivers after the call that causes the event has returned. */
  #emit(event: SchedulerEvent): void {
    queueMicrotask(() => {
      if (!this.#closed) this.#deliver(event);
    });
  }
}
