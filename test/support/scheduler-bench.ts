import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Ask } from "../../am/core/state/effects.ts";
import type { AllocatedContainer } from "../../am/core/state/events.ts";
import type { ContainerCommand, Scheduler, SchedulerEvent } from "../../am/scheduler/scheduler.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { eventually } from "./eventually.ts";
import { Inbox } from "./inbox.ts";

export const SMALL = { memoryMiB: 128, vcores: 1, others: {} };

/** One scheduler under test, with its events and what its containers write. */
export class SchedulerBench {
  readonly events = new Inbox<SchedulerEvent>();
  readonly folder = mkdtempSync(path.join(tmpdir(), "tony-contract-"));
  /** Events that were reported within the call that caused them. */
  readonly withinCalls: string[] = [];
  readonly scheduler: Scheduler;
  #priority = 0;
  #calling = false;

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler;
    chmodSync(this.folder, 0o777);
  }

  async start(): Promise<void> {
    await this.scheduler.start({ host: "127.0.0.1", port: 1 }, (event) => {
      if (this.#calling) this.withinCalls.push(event.type);
      this.events.put(event);
    });
  }

  async close(): Promise<void> {
    await this.scheduler.close();
    rmSync(this.folder, { recursive: true });
  }

  call(act: () => void): void {
    this.#calling = true;
    act();
    this.#calling = false;
  }

  next<T extends SchedulerEvent["type"]>(type: T, fits: (event: SchedulerEvent & { type: T }) => boolean) {
    return this.events.next(
      (event): event is SchedulerEvent & { type: T } =>
        event.type === type && fits(event as SchedulerEvent & { type: T }),
    );
  }

  completed(containerId: string) {
    return this.next("container-completed", (event) => event.containerId === containerId);
  }

  anAsk(count: number, changes: Partial<Ask> = {}): Ask {
    this.#priority += 1;
    return { role: "worker", priority: this.#priority, resource: SMALL, count, hosts: [], racks: [], ...changes };
  }

  async allocated(ask: Ask): Promise<AllocatedContainer[]> {
    this.call(() => this.scheduler.ask([ask]));
    const containers: AllocatedContainer[] = [];
    while (containers.length < ask.count) {
      const event = await this.next("containers-allocated", (candidate) =>
        candidate.containers.some((container) => container.priority === ask.priority),
      );
      containers.push(...event.containers);
    }
    return containers;
  }

  /** Starts a container with that script. @returns its id, once its launch was ordered */
  async running(script: string, changes: Partial<ContainerCommand> = {}): Promise<string> {
    const [container] = await this.allocated(this.anAsk(1));
    const containerId = container?.containerId ?? "";
    const command = {
      containerId,
      environment: { OUTPUT: path.join(this.folder, containerId) },
      commands: [script.replaceAll("$", "\\$")],
      files: [],
      credentials: writeTokenFile({ tokens: [], secrets: new Map([["word", Buffer.from("hush")]]) }),
      ...changes,
    };
    this.call(() => this.scheduler.launch([command]));
    return containerId;
  }

  outputOf(containerId: string, suffix = ""): Promise<Buffer> {
    return eventually(`output of ${containerId}`, async () => {
      const file = path.join(this.folder, `${containerId}${suffix}`);
      return existsSync(file) ? readFileSync(file) : undefined;
    });
  }
}
