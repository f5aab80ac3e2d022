import { type HostPort, parseHostPort } from "../conf/values.ts";
import { HadoopError } from "../errors.ts";
import type { RpcClientOptions } from "../rpc/client.ts";
import { RemoteError } from "../rpc/remote-error.ts";
import type { RetryPolicy } from "../rpc/retry.ts";
import { ServiceClient } from "../rpc/service.ts";
import type { CredentialsProvider } from "../security/credentials-provider.ts";
import { AuthenticationError } from "../security/errors.ts";
import { tokenCredentials } from "../security/simple-credentials.ts";
import type { Token } from "../security/token.ts";
import { containerManagement } from "../wire/methods.ts";
import type { hadoop } from "../wire/yarn.ts";
import type { NodeToken } from "./allocation.ts";
import type { YarnConnectionOptions } from "./connection-options.ts";
import { launchContextToWire } from "./convert-containers.ts";
import { containerIdFromWire, containerIdToWire } from "./convert-ids.ts";
import { tokenToWire } from "./convert-tokens.ts";
import { parseNodeId } from "./ids.ts";
import { NodeConnections } from "./node-connections.ts";
import type { Container, ContainerId, LaunchContext, NodeId } from "./records.ts";

/** How many nodes are connected at a time, and how to authenticate with their tokens. */
export interface NodeManagerPoolOptions extends YarnConnectionOptions {
  /** How many nodes are connected at a time; default 256. */
  readonly maxConnections?: number;
  /** How to authenticate with the nodes' tokens; default tokenCredentials. */
  readonly credentials?: CredentialsProvider;
  /** How long an unused connection is kept; default 30 s. */
  readonly idleTimeoutMs?: number;
}

/** A container and how to start it. */
export interface ContainerStart {
  /** With its token, as received from the ResourceManager. */
  readonly container: Container;
  readonly launch: LaunchContext;
}

/** A NodeManager answers for each container separately. */
export interface NodeAnswer {
  readonly succeeded: readonly ContainerId[];
  readonly failed: readonly ContainerFailure[];
}

/** A NodeManager's error for one container. */
export interface ContainerFailure {
  readonly containerId: ContainerId;
  readonly error: RemoteError;
}

type Service = ServiceClient<typeof containerManagement>;
type FailureProto = hadoop.yarn.ContainerExceptionMapProto.$Properties;

const protocol = "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB";
const defaultMaxConnections = 256;
const defaultIdleTimeoutMs = 30_000;
/** A lost answer is requested again before a launch counts as failed; a NodeManager starts containers only after it has answered. */
const callTimeoutMs = 10_000;
/** Long enough for a NodeManager that restarts with recovery. */
const nodeRetry: RetryPolicy = { giveUpAfterMs: 30_000, firstDelayMs: 200, longestDelayMs: 3_000 };

/**
 * ContainerManagementProtocol with all NodeManagers on which an application has containers. Methods reject with the errors of
 * RpcClient#call when a node can't be reached, and with code `NODE_TOKEN_MISSING` when its token was never added. The answer contains
 * errors about single containers.
 */
export class NodeManagerPool {
  readonly #options: NodeManagerPoolOptions;
  /** By node id, because a token's own service is the node's numeric address. */
  readonly #tokens = new Map<NodeId, Token>();
  readonly #connections: NodeConnections;

  constructor(options: NodeManagerPoolOptions = {}) {
    this.#options = options;
    const { maxConnections = defaultMaxConnections, idleTimeoutMs = defaultIdleTimeoutMs } = options;
    this.#connections = new NodeConnections({ maxConnections, idleTimeoutMs }, (node) => this.#clientOptions(node));
  }

  /** The number of nodes that are connected now. */
  get connectedNodes(): number {
    return this.#connections.size;
  }

  /** Stores the tokens from registrations and heartbeats; a newer one replaces the older one at the next connection. */
  addTokens(tokens: readonly NodeToken[]): void {
    for (const { nodeId, token } of tokens) this.#tokens.set(nodeId, token);
  }

  /** Starts containers of one node in one call. One that already runs counts as started, because an earlier answer may have been lost. */
  async start(node: NodeId, starts: readonly ContainerStart[]): Promise<NodeAnswer> {
    const start_container_request = starts.map(({ container, launch }) => ({
      container_token: tokenToWire(startToken(container)),
      container_launch_context: launchContextToWire(launch),
    }));
    const answer = await this.#call(node, (service) => service.call("startContainers", { start_container_request }));
    const failed = answer.failed_requests.map(failureFromWire);
    const running = failed.filter(({ error }) => saysAlreadyStarted(error)).map(({ containerId }) => containerId);
    return {
      succeeded: [...answer.succeeded_requests.map(containerIdFromWire), ...running],
      failed: failed.filter(({ error }) => !saysAlreadyStarted(error)),
    };
  }

  /** The NodeManager sends SIGTERM, and SIGKILL 250 ms later (yarn.nodemanager.sleep-delay-before-sigkill.ms). */
  async stop(node: NodeId, ids: readonly ContainerId[]): Promise<NodeAnswer> {
    const request = { container_id: ids.map(containerIdToWire) };
    return nodeAnswer(await this.#call(node, (service) => service.call("stopContainers", request)));
  }

  /** Closes all connections; calls in flight fail with code `RPC_CLOSED`. */
  close(): void {
    this.#connections.close();
  }

  #call<Result>(node: NodeId, call: (service: Service) => Promise<Result>): Promise<Result> {
    return this.#connections.use(node, (client) =>
      call(new ServiceClient<typeof containerManagement>(client, containerManagement)),
    );
  }

  #clientOptions(node: NodeId): RpcClientOptions {
    const { credentials = tokenCredentials() } = this.#options;
    const endpoints = nodeEndpoints(node, this.#tokenOf(node));
    return {
      retry: nodeRetry,
      callTimeoutMs,
      ...this.#options,
      credentials,
      protocol,
      endpoints,
      token: () => this.#tokenOf(node),
    };
  }

  #tokenOf(node: NodeId): Token {
    const token = this.#tokens.get(node);
    if (token !== undefined) return token;
    throw new HadoopError(`The ResourceManager has sent no token for node ${node}`, { code: "NODE_TOKEN_MISSING" });
  }
}

/** The node's name, then the address in its token in case the name does not resolve here. */
function nodeEndpoints(node: NodeId, token: Token): readonly HostPort[] {
  const byName = parseHostPort(node) ?? parseNodeId(node);
  const byAddress = parseHostPort(token.service);
  return byAddress === undefined || byAddress.host === byName.host ? [byName] : [byName, byAddress];
}

function startToken(container: Container): Token {
  if (container.token !== undefined) return container.token;
  throw new AuthenticationError(`Container ${container.id} came without the token that starts it`);
}

function nodeAnswer(answer: {
  readonly succeeded_requests: readonly hadoop.yarn.ContainerIdProto.$Properties[];
  readonly failed_requests: readonly FailureProto[];
}): NodeAnswer {
  return {
    succeeded: answer.succeeded_requests.map(containerIdFromWire),
    failed: answer.failed_requests.map(failureFromWire),
  };
}

function failureFromWire({ container_id, exception }: FailureProto): ContainerFailure {
  const text = [exception?.message ?? "", exception?.trace ?? ""].join("\n");
  return {
    containerId: containerIdFromWire(container_id),
    error: new RemoteError(exception?.class_name || "org.apache.hadoop.yarn.exceptions.YarnException", text),
  };
}

/** Only the message of NMContainerTokenSecretManager and ContainerManagerImpl#startContainerInternal identifies this error. */
function saysAlreadyStarted({ javaMessage }: RemoteError): boolean {
  return /Attempt to relaunch the same container|already is running on this node/.test(javaMessage);
}
