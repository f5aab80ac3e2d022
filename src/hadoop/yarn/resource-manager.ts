import { type Clock, systemClock } from "../clock.ts";
import { HadoopError } from "../errors.ts";
import { RpcClient } from "../rpc/client.ts";
import { isRemoteError } from "../rpc/remote-error.ts";
import { tokenDigest } from "../rpc/sasl/digest-md5.ts";
import { simple } from "../rpc/sasl/simple.ts";
import { ServiceClient } from "../rpc/service.ts";
import type { User } from "../security/user.ts";
import { applicationClient } from "../wire/methods.ts";
import { type hadoop, yarn } from "../wire/yarn.ts";
import type { ResourceManagerConnectionOptions } from "./connection-options.ts";
import { containerReportFromWire } from "./convert-containers.ts";
import { nodeStates, queueAcls, signalCommands } from "./convert-enums.ts";
import {
  applicationIdFromWire,
  applicationIdToWire,
  attemptIdToWire,
  containerIdToWire,
  nodeIdFromWire,
} from "./convert-ids.ts";
import {
  applicationReportFromWire,
  attemptReportFromWire,
  clusterMetricsFromWire,
  nodeReportFromWire,
  queueInfoFromWire,
} from "./convert-reports.ts";
import { resourceFromWire, resourceTypesFromWire } from "./convert-resources.ts";
import { filterToWire, submissionToWire } from "./convert-submission.ts";
import { tokenFromWire } from "./convert-tokens.ts";
import type {
  ApplicationAttemptId,
  ApplicationAttemptReport,
  ApplicationId,
  ApplicationReport,
  ClusterMetrics,
  ContainerId,
  ContainerReport,
  NodeId,
  NodeLabel,
  NodeReport,
  NodeState,
  QueueAcl,
  QueueInfo,
  ResourceType,
  SignalCommand,
  Token,
} from "./records.ts";
import { namedTypes, ResourceTypes } from "./resource-types.ts";
import type { ApplicationFilter, NewApplication, SubmissionContext } from "./submission.ts";

export interface ResourceManagerOptions extends ResourceManagerConnectionOptions {
  readonly user: User;
  /** An RM delegation token, where the cluster is secured. */
  readonly token?: Token;
}

const protocol = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB";
const builtInTypes: readonly ResourceType[] = [
  { name: "memory-mb", units: "Mi" },
  { name: "vcores", units: "" },
];
const killPollMs = 200;
const defaultKillTimeoutMs = 60_000;

/**
 * ApplicationClientProtocol: what a client asks the ResourceManager. Every method rejects with the errors of RpcClient#call;
 * an id that the ResourceManager does not know is a RemoteError with code `APPLICATION_NOT_FOUND`, `ATTEMPT_NOT_FOUND` or
 * `CONTAINER_NOT_FOUND`.
 */
export class ResourceManagerClient {
  readonly #rpc: RpcClient;
  readonly #service: ServiceClient<typeof applicationClient>;
  readonly #clock: Clock;
  #types: Promise<readonly ResourceType[]> | undefined;

  constructor({ user, token, protections, ...options }: ResourceManagerOptions) {
    const strategies = token === undefined ? undefined : [tokenDigest(token, { protections }), simple];
    const identity = { user: user.name, realUser: user.realName, strategies };
    this.#clock = options.clock ?? systemClock;
    this.#rpc = new RpcClient({ ...options, protocol, identity: () => identity });
    this.#service = new ServiceClient<typeof applicationClient>(this.#rpc, applicationClient);
  }

  async newApplication(): Promise<NewApplication> {
    const answer = await this.#service.call("getNewApplication", {});
    return { id: applicationIdFromWire(answer.application_id), maximum: resourceFromWire(answer.maximumCapability) };
  }

  /**
   * Hands an application in. YARN checks some of it later: an unknown queue shows as an application that FAILED. Submitting the same
   * id again is harmless. `signal` ends the waiting between tries. Throws UnknownResourceTypeError, and RemoteErrors with code `INVALID_RESOURCE_REQUEST` or `INVALID_LABEL`.
   */
  async submit(context: SubmissionContext, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const known = namedTypes(context.masterResource).length === 0 ? [] : await this.resourceTypes();
    const application_submission_context = submissionToWire(context, new ResourceTypes(known));
    await this.#service.call("submitApplication", { application_submission_context }, { signal });
  }

  async report(id: ApplicationId): Promise<ApplicationReport> {
    return applicationReportFromWire(await this.#report(id));
  }

  /** The token for an ApplicationMaster that the submitter runs itself; undefined until the application is ACCEPTED. */
  async masterToken(id: ApplicationId): Promise<Token | undefined> {
    const { am_rm_token: token } = await this.#report(id);
    return token ? tokenFromWire(token) : undefined;
  }

  async reports(filter: ApplicationFilter = {}): Promise<readonly ApplicationReport[]> {
    const answer = await this.#service.call("getApplications", filterToWire(filter));
    return answer.applications.map(applicationReportFromWire);
  }

  async attempts(id: ApplicationId): Promise<readonly ApplicationAttemptReport[]> {
    const answer = await this.#service.call("getApplicationAttempts", { application_id: applicationIdToWire(id) });
    return answer.application_attempts.map(attemptReportFromWire);
  }

  async attempt(id: ApplicationAttemptId): Promise<ApplicationAttemptReport> {
    const request = { application_attempt_id: attemptIdToWire(id) };
    const answer = await this.#service.call("getApplicationAttemptReport", request);
    return attemptReportFromWire(answer.application_attempt_report ?? {});
  }

  /** Of a running attempt; YARN forgets containers when their application has ended. */
  async containers(id: ApplicationAttemptId): Promise<readonly ContainerReport[]> {
    const answer = await this.#service.call("getContainers", { application_attempt_id: attemptIdToWire(id) });
    return answer.containers.map(containerReportFromWire);
  }

  async container(id: ContainerId): Promise<ContainerReport> {
    const answer = await this.#service.call("getContainerReport", { container_id: containerIdToWire(id) });
    return containerReportFromWire(answer.container_report ?? {});
  }

  /**
   * Kills an application and resolves when YARN says that it is done; one that has ended already counts as done.
   * Throws a HadoopError with code `KILL_TIMEOUT` when that takes longer than `timeoutMs` (default 60 s).
   */
  async kill(
    id: ApplicationId,
    { diagnostics, timeoutMs = defaultKillTimeoutMs }: { diagnostics?: string; timeoutMs?: number } = {},
  ): Promise<void> {
    const startedMs = this.#clock.nowMs();
    const request = {
      application_id: applicationIdToWire(id),
      ...(diagnostics === undefined ? {} : { diagnostics }),
    };
    while (!(await this.#service.call("forceKillApplication", request)).is_kill_completed) {
      if (this.#clock.nowMs() - startedMs > timeoutMs) {
        throw new HadoopError(`${id} is still being killed after ${timeoutMs} ms`, { code: "KILL_TIMEOUT" });
      }
      await this.#clock.sleep(killPollMs);
    }
  }

  /** Ends one attempt of the ApplicationMaster; YARN starts the next, if one is left. */
  async failAttempt(id: ApplicationAttemptId): Promise<void> {
    await this.#service.call("failApplicationAttempt", { application_attempt_id: attemptIdToWire(id) });
  }

  /** All nodes, or those in the given states. */
  async nodes(states: readonly NodeState[] = []): Promise<readonly NodeReport[]> {
    const nodeStatesOnWire = states.map((state) => nodeStates.toWire(state));
    const answer = await this.#service.call("getClusterNodes", { nodeStates: nodeStatesOnWire });
    return answer.nodeReports.map(nodeReportFromWire);
  }

  async nodeLabels(): Promise<readonly NodeLabel[]> {
    const answer = await this.#service.call("getClusterNodeLabels", {});
    return answer.nodeLabels.map(({ name, isExclusive }) => ({ name: name ?? "", exclusive: isExclusive ?? true }));
  }

  /** Nodes by label: of all labels, or of the given ones. */
  async labelsToNodes(labels: readonly string[] = []): Promise<ReadonlyMap<string, readonly NodeId[]>> {
    const answer = await this.#service.call("getLabelsToNodes", { nodeLabels: [...labels] });
    const entries = answer.labelsToNodes.map(
      ({ nodeLabels, nodeId }) => [nodeLabels ?? "", (nodeId ?? []).map(nodeIdFromWire)] as const,
    );
    return new Map(entries);
  }

  /** Labels by node, for nodes that have any. */
  async nodesToLabels(): Promise<ReadonlyMap<NodeId, readonly string[]>> {
    const answer = await this.#service.call("getNodeToLabels", {});
    return new Map(answer.nodeToLabels.map((entry) => [nodeIdFromWire(entry.nodeId), [...(entry.nodeLabels ?? [])]]));
  }

  /** Undefined for a queue that does not exist or that the caller may not see. */
  async queue(
    name: string,
    include: { readonly applications?: boolean; readonly children?: boolean; readonly recursive?: boolean } = {},
  ): Promise<QueueInfo | undefined> {
    const answer = await this.#service.call("getQueueInfo", {
      queueName: name,
      includeApplications: include.applications ?? false,
      includeChildQueues: include.children ?? false,
      recursive: include.recursive ?? false,
    });
    return answer.queueInfo ? queueInfoFromWire(answer.queueInfo) : undefined;
  }

  /** What the caller may do, by queue. */
  async queueUserAcls(): Promise<ReadonlyMap<string, readonly QueueAcl[]>> {
    const answer = await this.#service.call("getQueueUserAcls", {});
    const entries = answer.queueUserAcls.map(
      ({ queueName, userAcls }) => [queueName ?? "", (userAcls ?? []).map((acl) => queueAcls.fromWire(acl))] as const,
    );
    return new Map(entries);
  }

  async metrics(): Promise<ClusterMetrics> {
    const answer = await this.#service.call("getClusterMetrics", {});
    return clusterMetricsFromWire(answer.cluster_metrics);
  }

  /** Asked once per client: a ResourceManager reads them when it starts. One older than Hadoop 2.10 has memory and cores alone. */
  resourceTypes(): Promise<readonly ResourceType[]> {
    this.#types ??= this.#askResourceTypes().catch((cause) => {
      this.#types = undefined;
      throw cause;
    });
    return this.#types;
  }

  /** Moves an application to another queue. */
  async move(id: ApplicationId, queue: string): Promise<void> {
    const request = { application_id: applicationIdToWire(id), target_queue: queue };
    await this.#service.call("moveApplicationAcrossQueues", request);
  }

  /** Gives the priority that the cluster granted, which its own maximum bounds. */
  async setPriority(id: ApplicationId, priority: number): Promise<number> {
    const request = { applicationId: applicationIdToWire(id), applicationPriority: { priority } };
    const answer = await this.#service.call("updateApplicationPriority", request);
    return answer.applicationPriority?.priority ?? priority;
  }

  /** From when on YARN kills the application: milliseconds since the epoch. */
  async setExpiry(id: ApplicationId, expiresAtMs: number): Promise<void> {
    const timeout = {
      application_timeout_type: yarn.ApplicationTimeoutTypeProto.APP_TIMEOUT_LIFETIME,
      expire_time: new Date(expiresAtMs).toISOString().replace("Z", "+0000"),
    };
    const request = { applicationId: applicationIdToWire(id), application_timeouts: [timeout] };
    await this.#service.call("updateApplicationTimeouts", request);
  }

  /** Has the container's NodeManager signal its process. */
  async signal(id: ContainerId, command: SignalCommand): Promise<void> {
    const request = { container_id: containerIdToWire(id), command: signalCommands.toWire(command) };
    await this.#service.call("signalToContainer", request);
  }

  close(): void {
    this.#rpc.close();
  }

  async #report(id: ApplicationId): Promise<hadoop.yarn.ApplicationReportProto.$Properties> {
    const answer = await this.#service.call("getApplicationReport", { application_id: applicationIdToWire(id) });
    return answer.application_report ?? {};
  }

  async #askResourceTypes(): Promise<readonly ResourceType[]> {
    try {
      return resourceTypesFromWire((await this.#service.call("getResourceTypeInfo", {})).resource_type_info);
    } catch (error) {
      if (isRemoteError(error, "NOT_SUPPORTED_BY_SERVER")) return builtInTypes;
      throw error;
    }
  }
}
