import { errorCode, errorMessage } from "../../../src/hadoop/errors.ts";
import type { Container, ContainerId, LaunchContext, NodeId } from "../../../src/hadoop/yarn/records.ts";
import { launchContext } from "../../../src/job/launch/launch-context.ts";
import type { ContainerCommand, SchedulerEvent } from "../scheduler.ts";

/** What launching needs of NodeManagerPool. */
export interface ContainerStarter {
  start(
    nodeId: NodeId,
    requests: readonly { readonly container: Container; readonly launch: LaunchContext }[],
  ): Promise<{
    readonly succeeded: readonly ContainerId[];
    readonly failed: readonly { readonly containerId: ContainerId; readonly error: unknown }[];
  }>;
}

interface Start {
  readonly container: Container;
  readonly launch: LaunchContext;
}

/**
 * What a NodeManager throws when the machine is not at fault: a token has expired, a container belongs to a ResourceManager that has
 * failed over, or the NodeManager has not heard from one yet.
 */
const notTheNode =
  /InvalidContainerException|InvalidToken|InvalidAuxServiceException|AccessControlException|NMNotYetReadyException/;

/**
 * Starts containers: one call for each node, the nodes in parallel.
 * @param containerOf the allocated container of an id
 * @param deliver gets the result of each container's start as soon as its node has answered
 */
export function launchContainers(
  commands: readonly ContainerCommand[],
  starter: ContainerStarter,
  containerOf: (id: ContainerId) => Container | undefined,
  deliver: (event: SchedulerEvent) => void,
): void {
  const byNode = new Map<NodeId, Start[]>();
  for (const command of commands) {
    const container = containerOf(command.containerId);
    if (container === undefined) {
      deliver(failure(command.containerId, "it is not among the containers of this attempt", false));
      continue;
    }
    const starts = byNode.get(container.nodeId) ?? [];
    starts.push({ container, launch: launchContext(command) });
    byNode.set(container.nodeId, starts);
  }
  for (const [nodeId, starts] of byNode) void startOnNode(nodeId, starts, starter, deliver);
}

async function startOnNode(
  nodeId: NodeId,
  starts: readonly Start[],
  starter: ContainerStarter,
  deliver: (event: SchedulerEvent) => void,
): Promise<void> {
  try {
    const { succeeded, failed } = await starter.start(nodeId, starts);
    for (const containerId of succeeded) deliver({ type: "launch-succeeded", containerId });
    for (const { containerId, error } of failed) deliver(failureOf(containerId, error));
  } catch (error) {
    for (const { container } of starts) deliver(failureOf(container.id, error));
  }
}

function failureOf(containerId: ContainerId, error: unknown): SchedulerEvent {
  return failure(containerId, errorMessage(error), nodeIsAtFault(error));
}

function failure(containerId: ContainerId, message: string, nodeAtFault: boolean): SchedulerEvent {
  return { type: "launch-failed", containerId, message, nodeAtFault };
}

/** A node that is unreachable, refuses to start or has no disk space is itself at fault; for a refused request we are. */
function nodeIsAtFault(error: unknown): boolean {
  const javaClass = typeof error === "object" && error !== null && "javaClass" in error ? String(error.javaClass) : "";
  const unauthorized = /Unauthorized request to start container/.test(errorMessage(error));
  return !(notTheNode.test(javaClass) || unauthorized || errorCode(error) === "RPC_AUTHENTICATION");
}
