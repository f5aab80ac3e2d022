import { type MonotonicClock, monotonicClock } from "../clock.ts";
import type { HostPort } from "../conf/values.ts";
import { HadoopError } from "../errors.ts";
import { RpcClient } from "../rpc/client.ts";
import { isRemoteError } from "../rpc/remote-error.ts";
import { ServiceClient } from "../rpc/service.ts";
import type { CredentialsProvider } from "../security/credentials-provider.ts";
import type { Token } from "../security/token.ts";
import { applicationClient } from "../wire/methods.ts";
import type { hadoop } from "../wire/yarn.ts";
import type { ResourceManagerConnectionOptions } from "./connection-options.ts";
import { nodeStates, queueAcls } from "./convert-enums.ts";
import { applicationIdFromWire, applicationIdToWire, attemptIdToWire } from "./convert-ids.ts";
import {
  applicationReportFromWire,
  clusterMetricsFromWire,
  containerReportFromWire,
  nodeReportFromWire,
  queueInfoFromWire,
} from "./convert-reports.ts";
import { resourceFromWire, resourceTypesFromWire } from "./convert-resources.ts";
import { filterToWire, submissionToWire } from "./convert-submission.ts";
import { tokenFromWire } from "./convert-tokens.ts";
import type {
  ApplicationAttemptId,
  ApplicationId,
  ApplicationReport,
  ClusterMetrics,
  ContainerReport,
  NodeLabel,
  NodeReport,
  NodeState,
  QueueAcl,
  QueueInfo,
  ResourceType,
} from "./records.ts";
import { namedTypes, ResourceTypes } from "./resource-types.ts";
import type { ApplicationFilter, NewApplication, SubmissionContext } from "./submission.ts";

/** Which ResourceManager, as whom, and with which timeouts and retries. */
export interface ResourceManagerOptions extends ResourceManagerConnectionOptions {
  /** The caller's identity; see simpleCredentials. */
  readonly credentials: CredentialsProvider;
}

const protocol = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB";
const builtInTypes: readonly ResourceType[] = [
  { name: "memory-mb", units: "Mi" },
  { name: "vcores", units: "" },
];
const killPollMs = 200;
const defaultKillTimeoutMs = 60_000;

/**
 * ApplicationClientProtocol: the ResourceManager's interface for clients. Every method rejects with the errors of RpcClient#call; an id
 * that the ResourceManager does not know is a RemoteError with code `APPLICATION_NOT_FOUND`, `ATTEMPT_NOT_FOUND` or `CONTAINER_NOT_FOUND`.
 */
export class ResourceManagerClient {
  readonly #rpc: RpcClient;
  readonly #service: ServiceClient<typeof applicationClient>;
  readonly #clock: MonotonicClock;
  #types: Promise<readonly ResourceType[]> | undefined;

  constructor(options: ResourceManagerOptions) {
    this.#clock = options.clock ?? monotonicClock;
    this.#rpc = new RpcClient({ ...options, protocol });
    this.#service = new ServiceClient<typeof applicationClient>(this.#rpc, applicationClient);
  }

  /** A new id for an application to be submitted; it stays unused until then (ClientRMService#getNewApplication). */
  async newApplication(): Promise<NewApplication> {
    const answer = await this.#service.call("getNewApplication", {});
    return { id: applicationIdFromWire(answer.application_id), maximum: resourceFromWire(answer.maximumCapability) };
  }

  /**
   * Submits an application. YARN checks some of it later: with an unknown queue the application appears as FAILED. Submitting the same id
   * again is harmless. `signal` cancels the waiting between tries. Throws UnknownResourceTypeError, and RemoteErrors with code
   * `INVALID_RESOURCE_REQUEST` or `INVALID_LABEL`.
   */
  async submit(context: SubmissionContext, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const known = namedTypes(context.masterResource).length === 0 ? [] : await this.resourceTypes();
    const application_submission_context = submissionToWire(context, new ResourceTypes(known));
    await this.#service.call("submitApplication", { application_submission_context }, { signal });
  }

  /**
   * Fetches a new delegation token, which has no service name yet (see resourceManagerTokenService). The ResourceManager gives it only to
   * callers that have presented a Kerberos ticket.
   * @param renewer the principal that may renew it
   */
  async delegationToken(renewer: string): Promise<Token> {
    const { token } = await this.#service.call("getDelegationToken", { renewer });
    if (token) return tokenFromWire(token);
    throw new HadoopError("The ResourceManager gives no delegation token: its security is off", { code: "NO_TOKEN" });
  }

  /** The report on one application. `signal` cancels the waiting between tries. */
  async report(id: ApplicationId, { signal }: { readonly signal?: AbortSignal } = {}): Promise<ApplicationReport> {
    return applicationReportFromWire(await this.#report(id, signal));
  }

  /** The token for an ApplicationMaster that the submitter runs itself; undefined until the application is ACCEPTED. */
  async masterToken(id: ApplicationId): Promise<Token | undefined> {
    const { am_rm_token: token } = await this.#report(id);
    return token ? tokenFromWire(token) : undefined;
  }

  /**
   * The token with which the caller authenticates to the ApplicationMaster; undefined until that runs, and on a cluster without
   * authentication.
   */
  async clientToken(id: ApplicationId): Promise<Token | undefined> {
    const { client_to_am_token: token } = await this.#report(id);
    return token ? tokenFromWire(token) : undefined;
  }

  /** Reports on the applications that match the filter, including ended ones as long as the ResourceManager remembers them. */
  async reports(filter: ApplicationFilter = {}): Promise<readonly ApplicationReport[]> {
    const answer = await this.#service.call("getApplications", filterToWire(filter));
    return answer.applications.map(applicationReportFromWire);
  }

  /**
   * Kills an application and resolves when YARN reports that it has ended; one that had already ended counts as killed.
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

  /** All nodes, or those in the given states. */
  async nodes(states: readonly NodeState[] = []): Promise<readonly NodeReport[]> {
    const nodeStatesOnWire = states.map((state) => nodeStates.toWire(state));
    const answer = await this.#service.call("getClusterNodes", { nodeStates: nodeStatesOnWire });
    return answer.nodeReports.map(nodeReportFromWire);
  }

  /**
   * The containers that an attempt holds now, including its ApplicationMaster's (ClientRMService#getContainers). A caller that may not view
   * the application gets a RemoteError.
   */
  async containers(id: ApplicationAttemptId): Promise<readonly ContainerReport[]> {
    const answer = await this.#service.call("getContainers", { application_attempt_id: attemptIdToWire(id) });
    return answer.containers.map(containerReportFromWire);
  }

  /** The cluster's node labels; none where it uses none. */
  async nodeLabels(): Promise<readonly NodeLabel[]> {
    const answer = await this.#service.call("getClusterNodeLabels", {});
    return answer.nodeLabels.map(({ name, isExclusive }) => ({ name: name ?? "", exclusive: isExclusive ?? true }));
  }

  /**
   * The node attributes in use, as `prefix/name`; undefined from a ResourceManager before Hadoop 3.2, which does not support them. Such a
   * ResourceManager also ignores SchedulingRequests (except 3.1).
   */
  async nodeAttributes(): Promise<readonly string[] | undefined> {
    try {
      const { nodeAttributes } = await this.#service.call("getClusterNodeAttributes", {});
      return nodeAttributes.map(({ attributeKey: { attributePrefix, attributeName } }) => {
        return `${attributePrefix ?? "rm.yarn.io"}/${attributeName}`;
      });
    } catch (error) {
      if (isRemoteError(error, "NOT_SUPPORTED_BY_SERVER")) return undefined;
      throw error;
    }
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

  /** How many nodes there are. */
  async metrics(): Promise<ClusterMetrics> {
    const answer = await this.#service.call("getClusterMetrics", {});
    return clusterMetricsFromWire(answer.cluster_metrics);
  }

  /** Requested once per client, because a ResourceManager reads them when it starts. One older than Hadoop 2.10 has only memory and cores. */
  resourceTypes(): Promise<readonly ResourceType[]> {
    this.#types ??= this.#askResourceTypes().catch((cause) => {
      this.#types = undefined;
      throw cause;
    });
    return this.#types;
  }

  /** The endpoint that answered last: the active ResourceManager. */
  get endpoint(): HostPort {
    return this.#rpc.endpoint;
  }

  /** Closes the connection; calls in flight fail with code `RPC_CLOSED`. */
  close(): void {
    this.#rpc.close();
  }

  async #report(id: ApplicationId, signal?: AbortSignal): Promise<hadoop.yarn.ApplicationReportProto.$Properties> {
    const request = { application_id: applicationIdToWire(id) };
    const answer = await this.#service.call("getApplicationReport", request, { signal });
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
