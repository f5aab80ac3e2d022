import type { Log } from "../src/log.ts";
import { Gate } from "./carrier/gate.ts";
import type { Generation } from "./generation.ts";

type Suspendable = Pick<Generation, "suspend" | "resume" | "suspensionKnown">;

export interface IsolationOptions {
  readonly log: Log;
  readonly generations: { readonly current: Suspendable; readonly previous: Suspendable | undefined };
}

/**
 * What an executor does while neither an ApplicationMaster nor the staging folder is reached: its task may live on elsewhere by then, so
 * nothing of it may be written (docs/decisions/0055-executors-cut-off.md). Programs are suspended, and nothing is brought up.
 */
export class Isolation {
  readonly #options: IsolationOptions;
  /** What brings a task's files up passes through it. */
  readonly gate = new Gate();

  constructor(options: IsolationOptions) {
    this.#options = options;
  }

  /** Nobody was reached for so long. */
  begin(silentMs: number): void {
    const { log, generations } = this.#options;
    const seconds = Math.round(silentMs / 1000);
    const who = `Neither the ApplicationMaster nor the staging folder was reached for ${seconds} s`;
    this.gate.close(`${who} (tony.task.isolation-timeout).`);
    generations.previous?.suspend();
    const what = generations.current.suspend() ? "the program is suspended" : "nothing is brought up";
    log.warn("isolated", `${who}: ${what} until one of them is (tony.task.isolation-timeout).`);
  }

  /** A program that was started meanwhile is suspended like the others. */
  started(generation: Suspendable): void {
    if (this.gate.isClosed) generation.suspend();
  }

  /** The ApplicationMaster gave an order about the task: files are brought up again. A suspended program waits for an order of its own. */
  ordered(): void {
    this.gate.open();
  }

  /** The staging folder was reached, and the journal allows the task to go on here. */
  allowedByJournal(): void {
    this.#end("the staging folder says that the container is still its task's");
  }

  /** The ApplicationMaster, which knows how long the program was suspended, wants it to go on here. */
  allowedByMaster(): void {
    this.#end("the ApplicationMaster says that the container is still its task's");
    this.#options.generations.current.suspensionKnown();
  }

  #end(why: string): void {
    this.gate.open();
    const { log, generations } = this.#options;
    if (generations.current.resume()) log.info("resumed", `The program goes on: ${why}.`);
  }
}
