import type { Log } from "../src/log.ts";
import { Gate } from "./carrier/gate.ts";
import type { Generation } from "./generation/generation.ts";

type Suspendable = Pick<Generation, "suspend" | "resume" | "suspensionKnown">;

export interface IsolationOptions {
  readonly log: Log;
  readonly generations: { readonly current: Suspendable; readonly previous: Suspendable | undefined };
}

/**
 * What an executor does while it reaches neither an ApplicationMaster nor the staging folder: its task may run in another container by
 * then, so programs are suspended and nothing is uploaded (docs/makers/decisions/0056-executors-cut-off.md).
 */
export class Isolation {
  readonly #options: IsolationOptions;
  /** Uploads wait while it is closed. */
  readonly gate = new Gate();

  constructor(options: IsolationOptions) {
    this.#options = options;
  }

  /** Neither was reached for so long. */
  begin(silentMs: number): void {
    const { log, generations } = this.#options;
    const seconds = Math.round(silentMs / 1000);
    const who = `Neither the ApplicationMaster nor the staging folder was reached for ${seconds} s`;
    this.gate.close(`${who} (tony.task.isolation-timeout).`);
    generations.previous?.suspend();
    const what = generations.current.suspend() ? "the program is suspended" : "nothing is uploaded";
    log.warn("isolated", `${who}: ${what} until one of them answers (tony.task.isolation-timeout).`);
  }

  /** Suspends a program that was started during the isolation. */
  started(generation: Suspendable): void {
    if (this.gate.isClosed) generation.suspend();
  }

  /** The ApplicationMaster gave an order about the task: uploads go on. A suspended program waits for `resume-child`. */
  ordered(): void {
    this.gate.open();
  }

  /** The journal in the staging folder says that the container is still its task's. */
  allowedByJournal(): void {
    this.#end("the staging folder says that the container is still its task's");
  }

  /** The ApplicationMaster, which was told how long the program was suspended, resumes it. */
  allowedByMaster(): void {
    this.#end("the ApplicationMaster says that the container is still its task's");
    this.#options.generations.current.suspensionKnown();
  }

  #end(why: string): void {
    this.gate.open();
    const { log, generations } = this.#options;
    if (generations.current.resume()) log.info("resumed", `The program is resumed: ${why}.`);
  }
}
