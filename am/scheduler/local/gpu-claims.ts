import { createServer, type Server } from "node:net";

/** Which of a machine's GPUs belong to this job while it needs them: other jobs on the same machine may want them, too. */
export interface GpuClaims {
  /** Those of the given GPUs that were free, in their order, up to the number wanted. */
  claim(gpus: readonly string[], wanted: number): Promise<readonly string[]>;
  giveBack(gpus: readonly string[]): void;
}

/**
 * A GPU is claimed by listening on a name of Linux's abstract sockets (unix(7)): only one process of any user can have it, and the
 * kernel frees it with the process, however that ends. Nothing is sent over it.
 */
export class SocketGpuClaims implements GpuClaims {
  readonly #servers = new Map<string, Server>();
  readonly #prefix: string;

  /** @param prefix of the names; schedulers with the same prefix compete for the same GPUs */
  constructor(prefix = "tony-ts/gpu") {
    this.#prefix = prefix;
  }

  async claim(gpus: readonly string[], wanted: number): Promise<readonly string[]> {
    const claimed: string[] = [];
    for (const gpu of gpus) {
      if (claimed.length === wanted) break;
      const server = await listening(`\0${this.#prefix}/${gpu}`);
      if (server === undefined) continue;
      this.#servers.set(gpu, server);
      claimed.push(gpu);
    }
    return claimed;
  }

  giveBack(gpus: readonly string[]): void {
    for (const gpu of gpus) {
      this.#servers.get(gpu)?.close();
      this.#servers.delete(gpu);
    }
  }
}

/** Undefined where another process listens there. */
function listening(name: string): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", () => resolve(undefined));
    server.listen({ path: name }, () => resolve(server.unref()));
  });
}
