import type { RequestListener } from "node:http";
import type { NamedPorts } from "../../src/job/cluster-spec.ts";
import { listeningAddress } from "../../src/listening.ts";
import { type HeldPort, holdPort, holdReusablePort } from "../program/ports.ts";
import type { ExecutorSettings } from "../settings.ts";

/** The numbers of a generation's ports. */
export interface PortNumbers {
  /** 0 where there is none. */
  readonly task: number;
  readonly tensorBoard: number;
  /** By the names that the role gives them. */
  readonly named: NamedPorts;
}

type PortSettings = Pick<ExecutorSettings, "host" | "sections" | "portNames" | "reusePort" | "tensorBoard">;

/** The ports that an executor holds for its program in one generation. */
export class GenerationPorts {
  readonly #settings: PortSettings;
  readonly #task: HeldPort;
  readonly #tensorBoard: HeldPort | undefined;
  readonly #named: ReadonlyMap<string, HeldPort>;
  #servesTask = false;

  private constructor(
    settings: PortSettings,
    held: { task: HeldPort; tensorBoard: HeldPort | undefined; named: ReadonlyMap<string, HeldPort> },
  ) {
    this.#settings = settings;
    this.#task = held.task;
    this.#tensorBoard = held.tensorBoard;
    this.#named = held.named;
  }

  /** Opens them. Throws as holdPort and holdReusablePort. */
  static async hold(settings: PortSettings, random: () => number): Promise<GenerationPorts> {
    const { sections, reusePort, portNames, tensorBoard, host } = settings;
    const { task: ports } = sections.ports;
    const range = { random, host: listeningAddress(host), ...(ports !== undefined && { ports }) };
    const hold = reusePort ? holdReusablePort : holdPort;
    const named = portNames.map(async (name): Promise<[string, HeldPort]> => [name, await hold(range)]);
    return new GenerationPorts(settings, {
      task: await hold(range),
      tensorBoard: tensorBoard ? await hold(range) : undefined,
      named: new Map(await Promise.all(named)),
    });
  }

  get numbers(): PortNumbers {
    return {
      task: this.#task.port,
      tensorBoard: this.#tensorBoard?.port ?? 0,
      named: Object.fromEntries(Array.from(this.#named, ([name, { port }]) => [name, port])),
    };
  }

  get held(): readonly number[] {
    return this.#all.map(({ port }) => port);
  }

  /** Those that the program itself opens. */
  get programs(): readonly number[] {
    return this.#programs.map(({ port }) => port);
  }

  /** Whether some stay held while the program runs. */
  get outliveStart(): boolean {
    return this.#settings.reusePort || this.#servesTask;
  }

  /** Answers HTTP requests at the task's port while the program runs. */
  serveTask(listener: RequestListener): void {
    this.#servesTask = true;
    this.#task.serve(listener);
  }

  /** Releases those that the program itself opens. */
  async releaseToProgram(): Promise<void> {
    await releaseAll(this.#programs);
  }

  async release(): Promise<void> {
    await releaseAll(this.#all);
  }

  get #all(): readonly HeldPort[] {
    return [this.#task, this.#tensorBoard, ...this.#named.values()].filter((port) => port !== undefined);
  }

  get #programs(): readonly HeldPort[] {
    if (this.#settings.reusePort) return [];
    return this.#servesTask ? this.#all.filter((port) => port !== this.#task) : this.#all;
  }
}

async function releaseAll(ports: readonly HeldPort[]): Promise<void> {
  await Promise.all(ports.map((port) => port.release()));
}
