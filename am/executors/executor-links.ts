import { encodeClusterSpec } from "../../src/api/cluster-spec-codec.ts";
import type { ExecutorHandler, ExecutorLink, LinkEnd } from "../../src/api/executor-endpoint.ts";
import type { ExecutorReport, MasterCommand, Metrics } from "../../src/api/messages.ts";
import type { ClusterSpec } from "../../src/job/cluster-spec.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import type { ExecutorCommand, Launch, SendTarget } from "../core/state/effects.ts";
import type { Event } from "../core/state/events.ts";
import type { LogTails } from "./log-tails.ts";

/** Receivers of what executors report. */
export interface ExecutorLinksOptions {
  readonly post: (event: Event) => void;
  /** Called for every message: it shows that the executor is alive. */
  readonly heard: (containerId: string, task: string) => void;
  readonly forget: (containerId: string) => void;
  readonly metrics: (containerId: string, task: string, metrics: Metrics) => void;
  /**
   * A task's progress and what its program reported. Kept by the task's name, like its measurements: only the task's own executor may
   * report it.
   */
  readonly progress: (task: string, progress: Extract<Report, { type: "child-progress" }>) => void;
  readonly tails: LogTails;
  /** The task that has a container now, and its generation; undefined: none has. */
  readonly tenantOf: (containerId: string) => Launch | undefined;
  /** A token file newer than the one that containers were launched with; undefined: there is none. */
  readonly tokens: () => Uint8Array | undefined;
  /** The variables with which a task's executor starts where another task's has made room for it. */
  readonly variables: (launch: Launch) => Readonly<Record<string, string>>;
}

type Report = Exclude<ExecutorReport, { type: "register" | "unknown" }>;

/**
 * The connected executors: their messages become events, the core's commands become messages. A container may be given to another task
 * while the previous executor is still there: nothing from that one becomes an event any more.
 */
export class ExecutorLinks implements ExecutorHandler {
  readonly #options: ExecutorLinksOptions;
  readonly #byContainer = new Map<string, ExecutorLink>();
  /** Links that have been given the newest tokens. */
  #told = new WeakSet<ExecutorLink>();
  readonly #encodedSpecs = new WeakMap<ClusterSpec, Uint8Array>();

  constructor(options: ExecutorLinksOptions) {
    this.#options = options;
  }

  /** A command to a container that is not connected is dropped; the core sends what is still needed when it connects again. */
  send({ task, containerId }: SendTarget, command: ExecutorCommand): void {
    const link = this.#byContainer.get(containerId);
    if (link?.task !== task) return;
    const generation = "generation" in command ? command.generation : 0;
    link.send(generation, this.#message(command));
    if (command.type === "exit" && command.reason.code === "replaced") this.#turnAway(link);
  }

  /**
   * What the executor still says is ignored, and it gets nothing more: having once read a container's secret does not make it part of the
   * job.
   */
  #turnAway(link: ExecutorLink): void {
    if (this.#isTenant(link)) return;
    this.#byContainer.delete(link.containerId);
    this.#options.forget(link.containerId);
    this.#options.tails.disconnected(link);
    link.close();
  }

  /**
   * Gives a container to another task: the executor there is told to make room; one that is not connected is told when it connects again.
   */
  handOver(launch: Launch): void {
    const { task, containerId } = launch;
    const link = this.#byContainer.get(containerId);
    if (link?.task === task) return;
    this.#byContainer.delete(containerId);
    this.#options.forget(containerId);
    if (link !== undefined) this.#askForRoom(link, launch);
  }

  /** Whom to admit is the core's decision: it dismisses an executor whose container is no longer part of the job. */
  refusal(): undefined {}

  connected(link: ExecutorLink, registration: ExecutorRegistration): void {
    const { containerId } = link;
    const tenant = this.#options.tenantOf(containerId);
    if (tenant !== undefined && tenant.task !== link.task) {
      this.#askForRoom(link, tenant);
      return;
    }
    this.#byContainer.set(containerId, link);
    this.#options.heard(containerId, link.task);
    this.#options.post({ type: "executor-registered", ...registration });
    this.#serve(link);
  }

  /** The executor that has the task now; undefined: none is connected. */
  linkTo(task: string): ExecutorLink | undefined {
    return [...this.#byContainer.values()].find((link) => link.task === task && this.#isTenant(link));
  }

  /** The task that has the container, if its executor is connected; undefined: none is. */
  taskIn(containerId: string): string | undefined {
    const link = this.#byContainer.get(containerId);
    return link !== undefined && this.#isTenant(link) ? link.task : undefined;
  }

  /** Sends all executors newer tokens. */
  tokensReplaced(): void {
    this.#told = new WeakSet();
    for (const link of this.#byContainer.values()) this.#serve(link);
  }

  registered(link: ExecutorLink, registration: ExecutorRegistration): void {
    if (!this.#isCurrent(link)) return;
    this.#options.heard(link.containerId, link.task);
    this.#options.post({ type: "executor-registered", ...registration });
  }

  report(link: ExecutorLink, generation: number, report: Report): void {
    const { task, containerId } = link;
    if (!this.#isCurrent(link)) {
      if (report.type === "log-chunk") void this.#options.tails.chunk(link, report.chunk);
      return;
    }
    const { heard, metrics, progress } = this.#options;
    heard(containerId, task);
    const about = { task, containerId, generation };
    switch (report.type) {
      case "heartbeat":
        if (!this.#isTenant(link)) break;
        this.#give(link);
        if (report.metrics !== undefined) metrics(containerId, task, report.metrics);
        break;
      case "child-started":
      case "child-place":
      case "child-exited":
        this.#options.post({ ...about, ...report });
        break;
      case "child-progress":
        if (this.#isTenant(link)) progress(task, report);
        this.#options.post({ ...about, ...report });
        break;
      case "transfer":
        this.#options.post({ task, containerId, ...report });
        break;
      case "service-announced":
        this.#options.post({ task, containerId, ...report });
        break;
      case "log-chunk":
        void this.#options.tails.chunk(link, report.chunk);
        break;
      case "goodbye":
        break;
    }
  }

  disconnected(link: ExecutorLink, end: LinkEnd): void {
    this.#options.tails.disconnected(link);
    if (end === "replaced" || !this.#isCurrent(link)) return;
    const { task, containerId } = link;
    this.#byContainer.delete(containerId);
    this.#options.forget(containerId);
    const cause = end === "goodbye" ? "goodbye" : "stream-broken";
    this.#options.post({ type: "executor-lost", task, containerId, cause });
  }

  superseded(attempt: number): void {
    const reason = `An executor obeys attempt ${attempt} already.`;
    this.#options.post({ type: "resource-manager-shutdown", reason });
  }

  /** Serves a link only once the container is known to be the task's: a later attempt learns that from the journal. */
  #serve(link: ExecutorLink): void {
    if (this.#isCurrent(link) && this.#isTenant(link)) this.#give(link);
  }

  #give(link: ExecutorLink): void {
    this.#options.tails.connected(link);
    if (!this.#told.has(link)) this.#giveTokens(link);
  }

  #giveTokens(link: ExecutorLink): void {
    const file = this.#options.tokens();
    if (file === undefined) return;
    this.#told.add(link);
    link.send(0, { type: "replace-tokens", file });
  }

  #askForRoom(link: ExecutorLink, launch: Launch): void {
    link.send(launch.generation, { type: "make-room", variables: this.#options.variables(launch) });
  }

  #isTenant({ task, containerId }: ExecutorLink): boolean {
    return this.#options.tenantOf(containerId)?.task === task;
  }

  #isCurrent(link: ExecutorLink): boolean {
    return this.#byContainer.get(link.containerId) === link;
  }

  #message(command: ExecutorCommand): MasterCommand {
    return command.type === "start-child" ? { ...command, clusterSpec: this.#encoded(command.clusterSpec) } : command;
  }

  /** The same object for every task of a generation, so its bytes are made once. */
  #encoded(spec: ClusterSpec): Uint8Array {
    const known = this.#encodedSpecs.get(spec);
    if (known !== undefined) return known;
    const bytes = encodeClusterSpec(spec);
    this.#encodedSpecs.set(spec, bytes);
    return bytes;
  }
}
