import { errorMessage } from "../../../src/hadoop/errors.ts";
import { RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import type {
  Container,
  ContainerId,
  ContainerStatus,
  LaunchContext,
  NodeId,
} from "../../../src/hadoop/yarn/records.ts";
import type { Clock } from "../../clock.ts";
import type { ContainerCommand, SchedulerEvent } from "../scheduler.ts";
import { launchFailure, nodeIsAtFault } from "./launches.ts";
import { relaunchContext } from "./relaunch-context.ts";

/** What relaunching needs of NodeManagerPool. */
export interface ContainerRelauncher {
  reinitialize(nodeId: NodeId, id: ContainerId, launch: LaunchContext): Promise<void>;
  statuses(nodeId: NodeId, ids: readonly ContainerId[]): Promise<readonly ContainerStatus[]>;
}

export interface RelaunchesOptions {
  readonly nodes: ContainerRelauncher;
  readonly attempt: number;
  readonly clock: Clock;
  /** The allocated container of an id, until it is over. */
  readonly containerOf: (id: ContainerId) => Container | undefined;
  readonly deliver: (event: SchedulerEvent) => void;
}

/** When a node is asked what became of an order, each time after the one before. Files of usual size are there in less than a second. */
const looksAfterMs: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000];

/**
 * Launches in containers in which something runs, one call for each. A NodeManager that cannot bring the new files lets run what runs there
 * and tells nobody, so it is asked what became of the order.
 */
export class Relaunches {
  readonly #options: RelaunchesOptions;
  readonly #cancelLooks = new Set<() => void>();
  #count = 0;

  constructor(options: RelaunchesOptions) {
    this.#options = options;
  }

  relaunch(commands: readonly ContainerCommand[]): void {
    for (const command of commands) void this.#relaunch(command);
  }

  /** Asks no more. */
  close(): void {
    for (const cancel of this.#cancelLooks) cancel();
    this.#cancelLooks.clear();
  }

  async #relaunch(command: ContainerCommand): Promise<void> {
    const { nodes, containerOf, deliver, attempt } = this.#options;
    const { containerId } = command;
    const container = containerOf(containerId);
    if (container === undefined) {
      deliver(launchFailure(containerId, "it is not among the containers of this attempt", false));
      return;
    }
    this.#count += 1;
    try {
      await nodes.reinitialize(
        container.nodeId,
        containerId,
        relaunchContext(command, `again-${attempt}-${this.#count}`),
      );
    } catch (error) {
      // A node that answers is well: what it refuses here, a new container may be given.
      deliver(launchFailure(containerId, errorMessage(error), !(error instanceof RemoteError) && nodeIsAtFault(error)));
      return;
    }
    deliver({ type: "launch-succeeded", containerId });
    this.#lookLater(container, looksAfterMs);
  }

  #lookLater(container: Container, [delayMs, ...later]: readonly number[]): void {
    if (delayMs === undefined) return;
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#cancelLooks.delete(cancel);
      void this.#look(container, later);
    });
    this.#cancelLooks.add(cancel);
  }

  async #look(container: Container, later: readonly number[]): Promise<void> {
    const { nodes, containerOf, deliver } = this.#options;
    if (containerOf(container.id) === undefined) return;
    // A node that does not answer now may do so at the next look.
    const statuses = await nodes.statuses(container.nodeId, [container.id]).catch(() => undefined);
    const progress = progressOf(statuses?.[0]?.diagnostics ?? "");
    if (progress.state === "pending") this.#lookLater(container, later);
    else if (progress.state === "failed") deliver(launchFailure(container.id, progress.message, false));
  }
}

type Progress =
  | { readonly state: "pending" }
  /** What ran before has ended, and the new program follows. */
  | { readonly state: "ended" }
  /** What ran before runs on. */
  | { readonly state: "failed"; readonly message: string };

/** By the container's diagnostics, the one place where a NodeManager says it: those of its last order (ContainerImpl#addDiagnostics). */
function progressOf(diagnostics: string): Progress {
  const since = diagnostics.slice(Math.max(0, diagnostics.lastIndexOf("Container will be Re-initialized")));
  const failure = /Container aborting re-initialization\W*(.*)/.exec(since)?.[1];
  if (failure !== undefined) return { state: "failed", message: failure };
  return { state: since.includes("Container killed on request") ? "ended" : "pending" };
}
