import { RpcClient, type RpcClientOptions } from "../rpc/client.ts";
import { RpcConnectionError } from "../rpc/errors.ts";
import type { NodeId } from "./records.ts";

/** The limits of the pool. */
export interface NodeConnectionLimits {
  readonly maxConnections: number;
  readonly idleTimeoutMs: number;
}

interface NodeConnection {
  readonly client: RpcClient;
  users: number;
  idleTimer: NodeJS.Timeout | undefined;
}

/**
 * One client per node, shared by all calls to it. Their number is limited: a new one replaces an idle one, or waits until one is idle. Idle
 * ones are closed after a while.
 */
export class NodeConnections {
  readonly #limits: NodeConnectionLimits;
  readonly #optionsFor: (node: NodeId) => RpcClientOptions;
  /** Least recently used first. */
  readonly #connections = new Map<NodeId, NodeConnection>();
  readonly #waiting: (() => void)[] = [];
  #closed = false;

  constructor(limits: NodeConnectionLimits, optionsFor: (node: NodeId) => RpcClientOptions) {
    this.#limits = limits;
    this.#optionsFor = optionsFor;
  }

  /** How many nodes occupy a place now. */
  get size(): number {
    return this.#connections.size;
  }

  /** Runs a call with the node's client. */
  async use<Result>(node: NodeId, call: (client: RpcClient) => Promise<Result>): Promise<Result> {
    const connection = await this.#acquire(node);
    try {
      return await call(connection.client);
    } finally {
      this.#release(node, connection);
    }
  }

  /** Closes all connections; calls in flight, waiting or made later fail with code `RPC_CLOSED`. */
  close(): void {
    this.#closed = true;
    for (const node of [...this.#connections.keys()]) this.#drop(node);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #acquire(node: NodeId): Promise<NodeConnection> {
    while (!this.#connections.has(node) && this.#connections.size >= this.#limits.maxConnections) {
      if (!this.#dropIdle()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#closed) throw new RpcConnectionError("The connections to nodes were closed", { code: "RPC_CLOSED" });
    const connection = this.#connections.get(node) ?? {
      client: new RpcClient(this.#optionsFor(node)),
      users: 0,
      idleTimer: undefined,
    };
    clearTimeout(connection.idleTimer);
    connection.users += 1;
    this.#connections.delete(node);
    this.#connections.set(node, connection);
    return connection;
  }

  #release(node: NodeId, connection: NodeConnection): void {
    connection.users -= 1;
    if (connection.users > 0) return;
    connection.idleTimer = setTimeout(() => this.#drop(node), this.#limits.idleTimeoutMs);
    connection.idleTimer.unref();
    this.#waiting.shift()?.();
  }

  /** Makes room by closing the least recently used idle connection. */
  #dropIdle(): boolean {
    for (const [node, { users }] of this.#connections) {
      if (users > 0) continue;
      this.#drop(node);
      return true;
    }
    return false;
  }

  #drop(node: NodeId): void {
    const connection = this.#connections.get(node);
    if (connection === undefined) return;
    clearTimeout(connection.idleTimer);
    this.#connections.delete(node);
    connection.client.close();
  }
}
