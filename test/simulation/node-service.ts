import type { ContainerCommand } from "../../am/scheduler/scheduler.ts";
import type { Application, ModelContainer } from "./application.ts";
import type { VirtualClock } from "./clock.ts";
import { isReachable, type ModelNode } from "./node.ts";
import type { Random } from "./random.ts";
import type { Call } from "./scheduler.ts";

export type StartAnswer =
  | { readonly type: "launch-succeeded" }
  | { readonly type: "launch-failed"; readonly message: string; readonly nodeAtFault: boolean };

export interface NodeServiceOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly application: Application;
  /** Chance that a node refuses a start. */
  readonly refusals: number;
  readonly losesAnswer: (call: Call) => boolean;
  /** A container runs: its process starts. */
  readonly run: (container: ModelContainer, command: ContainerCommand) => void;
  /** What runs in a container is ended, and another process is to start there. */
  readonly vacate: (container: ModelContainer) => void;
  /** Something that may be held against the machine. */
  readonly failed: (container: ModelContainer) => void;
}

function answers(node: ModelNode): boolean {
  return isReachable(node) && !node.isUnmanaged;
}

/** The NodeManagers, as an ApplicationMaster reaches them. */
export class NodeService {
  readonly #options: NodeServiceOptions;

  constructor(options: NodeServiceOptions) {
    this.#options = options;
  }

  start(command: ContainerCommand, answer: (answer: StartAnswer) => void): void {
    const { clock, random, application, refusals, losesAnswer, run, failed } = this.#options;
    const container = application.containers.get(command.containerId);
    if (container === undefined) {
      answer({ type: "launch-failed", message: "it is not among the containers of this attempt", nodeAtFault: false });
      return;
    }
    const { node } = container;
    clock.after(random.integer(5, 150) + node.slowMs, () => {
      if (container.state === "complete" || !answers(node) || random.chance(refusals)) {
        failed(container);
        answer({ type: "launch-failed", message: "connection refused", nodeAtFault: true });
        return;
      }
      container.state = "running";
      clock.after(random.integer(100, 2_000) + node.slowMs, () => {
        if (container.state === "running" && node.alive) {
          run(container, command);
        }
      });
      if (losesAnswer("start")) {
        failed(container);
        answer({ type: "launch-failed", message: "no answer", nodeAtFault: true });
      } else {
        answer({ type: "launch-succeeded" });
      }
    });
  }

  /**
   * Ends what runs in a container and starts something else there. Once the order is taken, the new files may not come: then what runs there
   * runs on. Of the end of what ran before nobody is told.
   */
  restart(command: ContainerCommand, answer: (answer: StartAnswer) => void): void {
    const { clock, random, application, refusals, losesAnswer, run, vacate, failed } = this.#options;
    const container = application.containers.get(command.containerId);
    const refuse = (message: string, nodeAtFault = false) => answer({ type: "launch-failed", message, nodeAtFault });
    if (container === undefined) {
      refuse("it is not among the containers of this attempt");
      return;
    }
    const { node } = container;
    clock.after(random.integer(5, 150) + node.slowMs, () => {
      if (!answers(node)) {
        failed(container);
        refuse("connection refused", true);
        return;
      }
      if (container.state !== "running") {
        refuse("nothing runs in it");
        return;
      }
      clock.after(random.integer(100, 2_000) + node.slowMs, () => {
        if (container.state !== "running") {
          return;
        }
        if (random.chance(refusals)) {
          refuse("a file could not be brought");
          return;
        }
        vacate(container);
        clock.after(random.integer(5, 300), () => {
          if (container.state === "running" && node.alive) {
            run(container, command);
          }
        });
      });
      if (losesAnswer("restart")) {
        failed(container);
        refuse("no answer", true);
      } else {
        answer({ type: "launch-succeeded" });
      }
    });
  }

  stop(containerId: string, unanswered: () => void): void {
    const { clock, random, application, losesAnswer } = this.#options;
    const container = application.containers.get(containerId);
    if (container === undefined) {
      return;
    }
    clock.after(random.integer(5, 300) + container.node.slowMs, () => {
      if (answers(container.node)) {
        application.complete(containerId, -105, "Container killed by the ApplicationMaster.");
      }
      if (!answers(container.node) || losesAnswer("stop")) {
        clock.after(random.integer(1_000, 10_000), unanswered);
      }
    });
  }
}
