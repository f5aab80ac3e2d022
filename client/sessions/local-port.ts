import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { UserError } from "../../src/errors.ts";
import { formatHostPort } from "../../src/hadoop/conf/values.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { isTrusted, otherEnd, type TcpSocket, tcpSockets } from "../../src/tcp-sockets.ts";

/** No other machine can reach it. */
const HOST = "127.0.0.1";

export interface LocalPortOptions {
  /** Serves a new connection of this process's user. @returns why that failed, if it did */
  readonly serve: (socket: Socket) => Promise<string | undefined>;
  /** Called with why a connection failed or was refused; others go on. */
  readonly failed: (reason: string) => void;
  /** Called when the ApplicationMaster refuses connections, or cannot be asked. */
  readonly refused: (error: unknown) => void;
  /** This machine's current sockets; only tests set it. */
  readonly sockets?: () => Promise<readonly TcpSocket[]>;
}

/** Which port to use: exactly this one, or this one if possible and else any. */
export type LocalPortChoice = { readonly exactly: number } | { readonly rather: number };

/** A port on this machine. All users of the machine can reach it; only connections of this process's user are served. */
export class LocalPort {
  readonly #options: LocalPortOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(options: LocalPortOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#sockets.add(socket.on("error", () => undefined));
      socket.once("close", () => this.#sockets.delete(socket));
      void this.#admit(socket).catch(options.refused);
    });
  }

  /** @throws UserError (`LOCAL_PORT_TAKEN`) where exactly that port is required and not available */
  static async listen(choice: LocalPortChoice, options: LocalPortOptions): Promise<LocalPort> {
    const local = new LocalPort(options);
    try {
      await local.#listen("exactly" in choice ? choice.exactly : choice.rather);
    } catch (cause) {
      if ("exactly" in choice) throw portTaken(choice.exactly, cause);
      await local.#listen(0);
    }
    return local;
  }

  /** `127.0.0.1:8888` */
  get address(): string {
    const address = this.#server.address();
    return formatHostPort({ host: HOST, port: typeof address === "object" ? (address?.port ?? 0) : 0 });
  }

  /** Closes the port and all its connections. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async #admit(socket: Socket): Promise<void> {
    const { serve, failed, sockets = tcpSockets } = this.#options;
    const caller = otherEnd(socket, await sockets());
    const isOurs = caller !== undefined && isTrusted(caller);
    if (!isOurs) {
      failed(refusal(caller));
      socket.resetAndDestroy();
      return;
    }
    const reason = await serve(socket);
    if (reason !== undefined) failed(reason);
  }

  async #listen(port: number): Promise<void> {
    this.#server.listen(port, HOST);
    await once(this.#server, "listening");
  }
}

function refusal(caller: TcpSocket | undefined): string {
  if (caller?.uid === undefined)
    return "a connection was refused that had been closed before it could be seen whose it was";
  return `a connection of another user of this machine (uid ${caller.uid}) was refused`;
}

function portTaken(port: number, cause: unknown): UserError {
  const why = errorCode(cause) === "EADDRINUSE" ? "another program has it" : errorMessage(cause);
  const message = `--local-port ${port} cannot be opened on this machine: ${why}; name another, or leave it out for any free one`;
  return new UserError(message, { code: "LOCAL_PORT_TAKEN", cause });
}
