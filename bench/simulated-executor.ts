import { MasterStream } from "../src/api/executor-client.ts";
import type { ExecutorIdentity } from "../src/api/identity.ts";
import { type ExecutorReport, type MasterMessage, PROTOCOL_VERSION } from "../src/api/messages.ts";
import type { WantedExecutor } from "./stand-in-scheduler.ts";

/** Speaks to the AM as an executor does, over a connection of its own, but runs no program. */
export class SimulatedExecutor {
  readonly #wanted: WantedExecutor;
  readonly #stream: MasterStream;
  readonly #started: () => void;
  readonly #over: () => void;
  /** Resolves when the AM has admitted it, or when the stream is over. */
  readonly admitted: Promise<void>;
  #admit: () => void = () => {};
  #heartbeats: NodeJS.Timeout | undefined;
  #memoryBytes = 2 ** 28;

  /** @param started called when the AM has told it to start its program */
  constructor(
    wanted: WantedExecutor,
    about: {
      readonly identity: ExecutorIdentity;
      readonly port: number;
      readonly started: () => void;
      readonly lost: () => void;
    },
  ) {
    this.#wanted = wanted;
    this.#started = about.started;
    this.admitted = new Promise((resolve) => {
      this.#admit = resolve;
    });
    this.#over = () => {
      clearInterval(this.#heartbeats);
      this.#admit();
      about.lost();
    };
    this.#stream = new MasterStream({
      identity: about.identity,
      address: wanted.masterAddress,
      onMessage: (message) => this.#obey(message),
      onEnd: () => this.#over(),
    });
    this.#say({
      type: "register",
      hello: { protocol: PROTOCOL_VERSION, build: "bench" },
      task: wanted.task,
      containerId: wanted.containerId,
      host: "127.0.0.1",
      port: about.port,
      tensorboardPort: 0,
      rejoinAddress: `127.0.0.1:${about.port}`,
      child: { state: "none" },
      attemptProof: new Uint8Array(),
    });
  }

  close(): void {
    clearInterval(this.#heartbeats);
    this.#stream.close();
  }

  #obey({ body }: MasterMessage): void {
    if (body.type === "welcome") {
      this.#admit();
      this.#heartbeats ??= setInterval(() => this.#beat(), body.heartbeatIntervalMs);
    } else if (body.type === "start-child") {
      this.#say({ type: "child-started", pid: 4_711, atMs: Date.now() });
      this.#started();
    }
  }

  #beat(): void {
    this.#memoryBytes += 4_096;
    const memoryBytes = this.#memoryBytes;
    const metrics = {
      memoryBytes,
      maxMemoryBytes: memoryBytes,
      averageMemoryBytes: 2 ** 28,
      cpuCores: 1,
      cpuMs: Date.now(),
      processes: 1,
    };
    this.#say({ type: "heartbeat", sentAtMs: Date.now(), metrics }, "heartbeat");
  }

  #say(body: ExecutorReport, replaces?: string): void {
    this.#stream.send({ attempt: 1, generation: this.#wanted.generation, body }, replaces);
  }
}
