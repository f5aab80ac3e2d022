import { connect, createServer, type Server, type Socket } from "node:net";
import { type HostPort, parseHostPort } from "../../src/hadoop/conf/values.ts";
import { deferred } from "./deferred.ts";
import { listenLocally, localAddress } from "./local-port.ts";

/** The method's name, which a call's header carries in the clear (RpcRequestHeaderProto, ApplicationClientProtocol). */
const submitMethod = "submitApplication";

/**
 * A way to the ResourceManager that lets everything through except for the submission itself: a client that uses it has staged
 * everything and waits for an answer that does not come.
 */
export class HeldSubmission {
  /** Resolves when a submission is held. */
  readonly held: Promise<void>;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** @param resourceManager its `host:port` for clients */
  constructor(resourceManager: string) {
    const address = parseHostPort(resourceManager);
    if (address === undefined) throw new Error(`${resourceManager} is no host:port`);
    const { promise, resolve: held } = deferred();
    this.held = promise;
    this.#server = createServer((client) => this.#pass(client, address, held));
  }

  /** @returns the address for `yarn.resourcemanager.address` */
  async open(): Promise<string> {
    await listenLocally(this.#server);
    return localAddress(this.#server);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(client: Socket, address: HostPort, held: () => void): void {
    const server = connect(address);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
    }
    server.pipe(client);
    client.on("data", (bytes) => {
      if (bytes.includes(submitMethod)) held();
      else server.write(bytes);
    });
    client.on("close", () => server.destroy());
  }
}
