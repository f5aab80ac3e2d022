import { appendFileSync } from "node:fs";
import path from "node:path";
import type { Ask } from "../am/core/state/effects.ts";
import type { SchedulerInput } from "../am/make-scheduler.ts";
import type { ContainerCommand, Registration, Scheduler, SchedulerEvent } from "../am/scheduler/scheduler.ts";
import { executorVariable } from "../src/job/launch/launch-command.ts";

/** One executor that the AM wants: a line of JSON in the stand-in's file. */
export interface WantedExecutor {
  readonly containerId: string;
  readonly task: string;
  readonly generation: number;
  readonly masterAddress: string;
}

/** The file's name, in the folder of the containers. */
export const wantedExecutorsFile = "executors.jsonl";

const host = "127.0.0.1";
const nodeId = `${host}:1`;
const everything = { memoryMiB: 2 ** 30, vcores: 2 ** 20, others: {} };

/**
 * Takes the place of am/make-scheduler.ts when the bench bundles the AM: a cluster without limits that gives every container at once and
 * starts nothing. It writes down which executors the AM would have started; the bench then speaks in their names.
 */
export function makeScheduler({ settings }: SchedulerInput): Scheduler {
  return new StandInScheduler(settings.localFolder);
}

class StandInScheduler implements Scheduler {
  readonly waits = [];
  readonly answeredAtMs = undefined;
  readonly clientTokenKey = undefined;
  readonly #file: string;
  #deliver: (event: SchedulerEvent) => void = () => {};
  #nextNumber = 2;

  constructor(folder: string) {
    this.#file = path.join(folder, wantedExecutorsFile);
  }

  async start(_address: unknown, deliver: (event: SchedulerEvent) => void): Promise<Registration> {
    this.#deliver = deliver;
    const node = { nodeId, host, rack: "/default-rack", usable: true, labels: [], free: everything };
    deliver({ type: "nodes-changed", nodes: [node] });
    deliver({ type: "am-registered", attempt: 1, counted: "all", resourceTypes: [] });
    return { attempt: 1, keptContainers: [] };
  }

  ask(asks: readonly Ask[]): void {
    const containers = asks.flatMap(({ count, priority, resource }) =>
      Array.from({ length: count }, () => {
        const number = String(this.#nextNumber++).padStart(6, "0");
        const containerId = `container_1795305600000_0001_01_${number}`;
        return { containerId, nodeId, host, nodeHttpAddress: nodeId, priority, resource };
      }),
    );
    if (containers.length > 0) this.#deliver({ type: "containers-allocated", containers });
  }

  launch(commands: readonly ContainerCommand[]): void {
    const wanted = commands.map(({ containerId, environment }): WantedExecutor => {
      const value = (name: string): string => environment[name] ?? "";
      return {
        containerId,
        task: value(executorVariable.task),
        generation: Number(value(executorVariable.generation)),
        masterAddress: value(executorVariable.masterAddress),
      };
    });
    appendFileSync(this.#file, wanted.map((executor) => `${JSON.stringify(executor)}\n`).join(""));
    for (const { containerId } of commands) this.#deliver({ type: "launch-succeeded", containerId });
  }

  release(): void {}
  blacklist(): void {}
  stop(): void {}
  show(): void {}

  async confirm(): Promise<boolean> {
    return true;
  }

  async finish(): Promise<boolean> {
    return true;
  }

  async close(): Promise<void> {}
}
