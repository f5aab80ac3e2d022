import type { ChildExit, ChildReport } from "../src/job/execution.ts";
import type { HeldPort } from "./ports.ts";
import type { Program } from "./program.ts";

/** What an executor does for one generation: it is prepared, runs the program once, and reports its end. */
export class Generation {
  readonly number: number;
  /** Undefined until the ports are open. */
  ports: { readonly task: HeldPort; readonly tensorBoard?: HeldPort } | undefined;
  /** The program has been asked for; it is started once only. */
  started = false;
  program: Program | undefined;
  exit: ChildExit | undefined;
  exitAcknowledged = false;

  constructor(number: number) {
    this.number = number;
  }

  /** As the ApplicationMaster is told on (re)connecting. */
  get childReport(): ChildReport {
    if (this.exit !== undefined) return { state: "exited", exit: this.exit };
    if (this.program === undefined) return { state: "none" };
    return { state: "running", pid: this.program.pid, startedAtMs: this.program.startedAtMs };
  }

  /** Lets go of ports that no program has taken over. */
  async releasePorts(): Promise<void> {
    await Promise.all([this.ports?.task.release(), this.ports?.tensorBoard?.release()]);
  }
}
