import type { ContainerCommand } from "../../am/scheduler/scheduler.ts";
import type { Application, ModelContainer } from "./application.ts";
import type { VirtualClock } from "./clock.ts";
import { isReachable, type ModelNode } from "./node.ts";
import type { Random } from "./random.ts";
import type { Call } from "./scheduler.ts";

/** After this time it is known that a node has not answered an order. */
export const LONGEST_UNANSWERED_MS = 10_000;

/** How long a NodeManager that is not slow takes to stop a container. */
export const LONGEST_STOP_MS = 300;

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
  /** Called when a container runs and its process starts. */
  readonly run: (container: ModelContainer, command: ContainerCommand) => void;
  /** Called when something happens that may be held against the machine. */
  readonly failed: (container: ModelContainer) => void;
}

function answers(node: ModelNode, attempt: number): boolean {
  return isReachable(node, attempt) && !node.isUnmanaged && !node.hasCrashed;
}

/** The NodeManagers, as an ApplicationMaster reaches them. */
export class NodeService {
  readonly #options: NodeServiceOptions;

  constructor(options: NodeServiceOptions) {
    this.#options = options;
  }

  start(attempt: number, command: ContainerCommand, answer: (answer: StartAnswer) => void): void {
    const { clock, random, application, refusals, losesAnswer, run, failed } = this.#options;
    const container = application.containers.get(command.containerId);
    if (container === undefined) {
      answer({ type: "launch-failed", message: "it is not among the containers of this attempt", nodeAtFault: false });
      return;
    }
    const { node } = container;
    clock.after(random.integer(5, 150) + node.slowMs, () => {
      if (container.isForgotten) {
        answer({
          type: "launch-failed",
          message: "it was allocated by a previous ResourceManager",
          nodeAtFault: false,
        });
        return;
      }
      if (container.state === "complete" || !answers(node, attempt) || random.chance(refusals)) {
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

  stop(attempt: number, containerId: string, unanswered: () => void): void {
    const { clock, random, application, losesAnswer } = this.#options;
    const container = application.containers.get(containerId);
    if (container === undefined) {
      return;
    }
    clock.after(random.integer(5, LONGEST_STOP_MS) + container.node.slowMs, () => {
      const isHeard = answers(container.node, attempt);
      if (isHeard) {
        application.complete(containerId, -105, "Container killed by the ApplicationMaster.");
      }
      if (!isHeard || losesAnswer("stop")) {
        clock.after(random.integer(1_000, LONGEST_UNANSWERED_MS), unanswered);
      }
    });
  }
}
