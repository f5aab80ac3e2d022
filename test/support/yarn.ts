import { type HostPort, parseHostPort } from "../../src/hadoop/conf/values.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import type { Token } from "../../src/hadoop/security/token.ts";
import type { NodeToken } from "../../src/hadoop/yarn/allocation.ts";
import type {
  ApplicationId,
  ApplicationReport,
  ApplicationState,
  Container,
  ContainerStatus,
  LaunchContext,
} from "../../src/hadoop/yarn/records.ts";
import { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import type { SchedulerClient } from "../../src/hadoop/yarn/scheduler.ts";
import type { SubmissionContext } from "../../src/hadoop/yarn/submission.ts";
import { type ClusterStatus, ClusterUser } from "./cluster.ts";
import { eventually } from "./eventually.ts";

export function endpointsOf(address: string): readonly HostPort[] {
  const endpoint = parseHostPort(address);
  if (endpoint === undefined) throw new Error(`${address} is no host:port`);
  return [endpoint];
}

/** A client of the cluster's ResourceManager that asks as alice. */
export function resourceManagerOf({ endpoints }: ClusterStatus): ResourceManagerClient {
  return new ResourceManagerClient({
    endpoints: endpointsOf(endpoints.resourceManagerRpc),
    credentials: simpleCredentials({ name: ClusterUser.alice }),
  });
}

/** Waits until the application is in one of the states. */
export function applicationIn(
  client: ResourceManagerClient,
  id: ApplicationId,
  ...states: readonly ApplicationState[]
): Promise<ApplicationReport> {
  return eventually(`${id} in ${states.join(" or ")}`, async () => {
    const report = await client.report(id);
    return states.includes(report.state) ? report : undefined;
  });
}

/** Shell commands in a container, with no localised files. */
export function shell(...commands: readonly string[]): LaunchContext {
  return { commands };
}

export const smallest = { memoryMiB: 128, vcores: 1, others: {} } as const;

/** An application whose master is a sleeping shell that never registers. */
export function sleeper(id: ApplicationId, changes: Partial<SubmissionContext> = {}): SubmissionContext {
  return {
    id,
    name: "sleeper",
    queue: "default",
    masterLaunch: shell("exec sleep 300"),
    masterResource: smallest,
    maxAppAttempts: 1,
    ...changes,
  };
}

/** Submits an application whose master is the test itself, and returns its id and token. */
export async function unmanagedApplication(
  client: ResourceManagerClient,
  changes: Partial<SubmissionContext> = {},
): Promise<{ readonly id: ApplicationId; readonly token: Token }> {
  const { id } = await client.newApplication();
  await client.submit(sleeper(id, { unmanaged: true, masterLaunch: shell(), ...changes }));
  const token = await eventually(`${id}'s token`, () => client.masterToken(id));
  return { id, token };
}

/** Everything that heartbeats have brought so far. */
export interface Gathered {
  readonly allocated: Container[];
  readonly completed: ContainerStatus[];
  readonly nodeTokens: NodeToken[];
}

export function nothingGathered(): Gathered {
  return { allocated: [], completed: [], nodeTokens: [] };
}

/** Sends heartbeats until `enough` is true; throws on any outcome other than an allocation. */
export function heartbeatUntil(
  scheduler: SchedulerClient,
  gathered: Gathered,
  what: string,
  enough: (gathered: Gathered) => boolean,
): Promise<Gathered> {
  return eventually(what, async () => {
    const outcome = await scheduler.heartbeat(0.5);
    if (outcome.kind !== "allocation") throw new Error(`${outcome.kind}: ${outcome.reason}`);
    gathered.allocated.push(...outcome.allocation.allocated);
    gathered.completed.push(...outcome.allocation.completed);
    gathered.nodeTokens.push(...outcome.allocation.nodeTokens);
    return enough(gathered) ? gathered : undefined;
  });
}
