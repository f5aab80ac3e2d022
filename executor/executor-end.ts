import { writeFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import type { ContainerTokens } from "../src/api/container-tokens.ts";
import { within } from "../src/hadoop/clock.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import { NEXT_EXECUTOR } from "../src/job/launch/container-names.ts";
import { executorVariable, nextExecutorScript } from "../src/job/launch/launch-command.ts";
import { type StopReason, stopWords } from "../src/job/reasons/stops.ts";
import type { Log } from "../src/log.ts";
import type { Carrier } from "./carrier/carrier.ts";
import { ExecutorExit } from "./exit-codes.ts";
import type { Generation } from "./generation/generation.ts";
import type { Generations } from "./generation/generations.ts";
import type { MasterLink } from "./master/master-link.ts";
import type { LogTails } from "./monitoring/log-tails.ts";
import type { WorkFolder } from "./preparation/work-folder.ts";
import type { StopOrder } from "./program/program.ts";
import type { Reports } from "./reports.ts";

export interface ExecutorEndOptions {
  readonly generations: Pick<Generations, "kill" | "stop"> & {
    readonly current: Pick<Generation, "kill" | "reportKilled">;
  };
  readonly reports: Pick<Reports, "left">;
  readonly tails: Pick<LogTails, "finish">;
  readonly link: () => Pick<MasterLink, "close" | "connected" | "endingBegins">;
  /** Present where it copies checkpoints or output. */
  readonly carrier: () => Pick<Carrier, "giveUp" | "settle"> | undefined;
  /** How long the program has to end by itself. */
  readonly graceMs: () => number;
  readonly containerTokens: Pick<ContainerTokens, "putBack">;
  readonly workFolder: Pick<WorkFolder, "restore">;
  readonly log: Log;
  /** Ends the process. */
  readonly end: (code: ExecutorExit) => void;
}

/** A NodeManager sends KILL 250 ms after TERM. The program gets this much of that time; the executor exits by the limit. */
const TERMINATION_GRACE_MS = 100;
const TERMINATION_LIMIT_MS = 140;
const LAST_LINES_LIMIT_MS = 60;
/**
 * How long the executor waits for a new stream on which to report how its uploads ended: without that report the job fails.
 */
const LAST_WORD_LIMIT_MS = 30_000;
/** The ends after which an ApplicationMaster still listens for that report. */
const HEARD: readonly StopReason["code"][] = ["generation-ended", "job-ended"];
/** How long the executor tries to send its goodbye. */
const GOODBYE_LIMIT_MS = 1_000;

/**
 * The ways in which an executor ends: first its program ends, then what that saved or left is uploaded, then the executor says
 * goodbye.
 */
export class ExecutorEnd {
  readonly #options: ExecutorEndOptions;
  #hasBegun = false;

  constructor(options: ExecutorEndOptions) {
    this.#options = options;
  }

  /** SIGTERM: everything ends before the NodeManager sends SIGKILL. */
  async terminate(): Promise<void> {
    const { log, generations, link, end } = this.#options;
    const reason: StopReason = { code: "container-terminated" };
    this.#endingBegins();
    log.warn("terminated", "The NodeManager ends the container (SIGTERM).");
    const order = { graceMs: TERMINATION_GRACE_MS, reason, groupTold: true };
    // Signalling many processes takes part of that time, as does finding them again.
    const stopped = Promise.resolve().then(() => this.#stopAndSayGoodbye(order));
    const isOver = await within(TERMINATION_LIMIT_MS, stopped);
    if (!isOver) {
      // A program that used much memory takes long to go; its last words must be reported before.
      generations.current.reportKilled();
      await setImmediate();
    }
    generations.current.kill();
    if (!isOver) await within(LAST_LINES_LIMIT_MS, link().close(stopWords(reason)));
    end(ExecutorExit.terminated);
  }

  /** The task runs in another container: from here on nothing may be written to the folders that both use. */
  replaced(code: ExecutorExit, reason: StopReason): void {
    this.#options.carrier()?.giveUp(stopWords(reason));
    this.#options.generations.kill(reason);
    this.finish(code, reason, 0);
  }

  finish(code: ExecutorExit, reason: StopReason, graceMs = this.#options.graceMs()): void {
    if (this.#hasBegun) return;
    this.#begin(stopWords(reason));
    void this.#stopAndSayGoodbye({ graceMs, reason }).then(
      () => this.#options.end(code),
      () => this.#options.end(ExecutorExit.failed),
    );
  }

  /** Its container goes to another task. The next executor finds the working directory as this one did. */
  makeRoom(variables: Readonly<Record<string, string>>): void {
    const { graceMs, workFolder, containerTokens, end } = this.#options;
    const why = `its container goes to ${variables[executorVariable.task]}`;
    this.#begin(why);
    void this.#stopAndSayGoodbye({ graceMs: graceMs(), reason: { code: "generation-ended", why } })
      .then(() => workFolder.restore())
      .then(() => containerTokens.putBack())
      .then(() => writeFile(NEXT_EXECUTOR, nextExecutorScript(variables), { mode: 0o600 }))
      .then(
        () => end(ExecutorExit.roomMade),
        (error: unknown) => {
          process.stderr.write(`tony-ts: ${errorMessage(error)}\n`);
          end(ExecutorExit.failed);
        },
      );
  }

  #begin(why: string): void {
    this.#endingBegins();
    this.#options.log.info("ending", `The executor ends: ${why}.`);
  }

  /** From then on nothing is obeyed. */
  #endingBegins(): void {
    this.#hasBegun = true;
    this.#options.link().endingBegins();
  }

  async #stopAndSayGoodbye(order: StopOrder): Promise<void> {
    const { generations, carrier, reports, tails, link } = this.#options;
    await generations.stop(order);
    await carrier()?.settle({ last: true });
    if (carrier() !== undefined && HEARD.includes(order.reason.code)) {
      await within(LAST_WORD_LIMIT_MS, link().connected());
    }
    reports.left();
    tails.finish();
    await within(GOODBYE_LIMIT_MS, link().close(stopWords(order.reason)));
  }
}
