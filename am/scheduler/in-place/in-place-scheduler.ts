import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import type { JobOutcome, Wait } from "../../../src/job/status.ts";
import type { ShippedFile } from "../../../src/job/stored/job-file.ts";
import type { Ask } from "../../core/state/effects.ts";
import type { ContainerCommand, MasterAddress, Registration, Scheduler, SchedulerEvent } from "../scheduler.ts";

export interface InPlaceOptions {
  /** Knows the application, and gives the containers of all other roles. */
  readonly cluster: Scheduler;
  /** Makes containers within the ApplicationMaster's own. */
  readonly own: Scheduler;
  /** The roles whose tasks run there. */
  readonly roles: ReadonlySet<string>;
}

/** The events that containers within the ApplicationMaster's own may cause. */
const OF_OWN: ReadonlySet<SchedulerEvent["type"]> = new Set([
  "containers-allocated",
  "container-completed",
  "launch-succeeded",
  "launch-failed",
] satisfies SchedulerEvent["type"][]);

/** A cluster whose ApplicationMaster runs some tasks in its own container: TonY's single-node jobs and its preprocessing. */
export class InPlaceScheduler implements Scheduler {
  readonly #options: InPlaceOptions;
  /** Containers that the ApplicationMaster made itself. */
  readonly #ids = new Set<string>();

  constructor(options: InPlaceOptions) {
    this.#options = options;
  }

  get waits(): readonly Wait[] {
    return this.#options.cluster.waits;
  }

  get answeredAtMs(): number | undefined {
    return this.#options.cluster.answeredAtMs;
  }

  get clientTokenKey(): Uint8Array | undefined {
    return this.#options.cluster.clientTokenKey;
  }

  async start(address: MasterAddress, deliver: (event: SchedulerEvent) => void): Promise<Registration> {
    const { cluster, own } = this.#options;
    await own.start(address, (event) => {
      if (event.type === "containers-allocated")
        for (const { containerId } of event.containers) this.#ids.add(containerId);
      if (OF_OWN.has(event.type)) deliver(event);
    });
    return await cluster.start(address, deliver);
  }

  ask(asks: readonly Ask[]): void {
    const { cluster, own, roles } = this.#options;
    const [here, there] = split(asks, ({ role }) => roles.has(role));
    if (here.length > 0) own.ask(here);
    if (there.length > 0) cluster.ask(there);
  }

  release(containerIds: readonly string[]): void {
    const [here, there] = split(containerIds, (id) => this.#ids.has(id));
    if (here.length > 0) this.#options.own.release(here);
    if (there.length > 0) this.#options.cluster.release(there);
  }

  blacklist(hosts: readonly string[]): void {
    this.#options.cluster.blacklist(hosts);
  }

  launch(commands: readonly ContainerCommand[]): void {
    const [here, there] = split(commands, ({ containerId }) => this.#ids.has(containerId));
    if (here.length > 0) this.#options.own.launch(here);
    if (there.length > 0) this.#options.cluster.launch(there);
  }

  stop(containerId: string): void {
    const { cluster, own } = this.#options;
    (this.#ids.has(containerId) ? own : cluster).stop(containerId);
  }

  show(progress: number, trackingUrl: string | undefined): void {
    this.#options.cluster.show(progress, trackingUrl);
  }

  confirm(): Promise<boolean> {
    return this.#options.cluster.confirm();
  }

  async finish(outcome: JobOutcome): Promise<boolean> {
    const { cluster, own } = this.#options;
    await own.finish(outcome);
    return await cluster.finish(outcome);
  }

  async close(): Promise<void> {
    const { cluster, own } = this.#options;
    await Promise.all([own.close(), cluster.close()]);
  }
}

/** Items that pass, and items that do not. */
function split<Item>(items: readonly Item[], is: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(is), items.filter((item) => !is(item))];
}

/** Gives a task within the ApplicationMaster's own container the files of that container. */
export class LinkedFiles {
  readonly #folder: string;

  /** @param folder the working directory of the ApplicationMaster */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async place(files: readonly ShippedFile[], workingDirectory: string): Promise<void> {
    for (const { link } of files) {
      const target = path.join(workingDirectory, link);
      await mkdir(path.dirname(target), { recursive: true });
      await symlink(path.join(this.#folder, link), target);
    }
  }
}
