import type { Ask } from "../../am/core/state/effects.ts";
import type { AllocatedContainer } from "../../am/core/state/events.ts";
import type { ContainerCommand, Registration, Scheduler, SchedulerEvent } from "../../am/scheduler/scheduler.ts";
import { parseContainerDiagnostics } from "../../src/job/diagnosis/container-diagnostics.ts";
import type { Application } from "./application.ts";
import type { AllocateRequest, AllocateResponse, ApplicationService } from "./application-service.ts";
import type { NodeService } from "./node-service.ts";
import { Outstanding } from "./outstanding.ts";
import type { Process } from "./process.ts";
import type { Random } from "./random.ts";

/** The calls whose answers may be lost. */
export type Call = "register" | "allocate" | "finish" | "start" | "stop";

export interface ModelSchedulerOptions {
  readonly attempt: number;
  /** The ApplicationMaster's process. */
  readonly process: Process;
  readonly random: Random;
  readonly application: Application;
  readonly resourceManager: ApplicationService;
  readonly nodeManagers: NodeService;
  /** Whether the network carries a call to the ResourceManager. */
  readonly isReached: () => boolean;
  /** Whether the answer to a call that was carried out is lost. */
  readonly losesAnswer: (call: Call) => boolean;
  /** Called whenever a promise is settled: what waits for it has to run before time goes on. */
  readonly settled: () => void;
}

const EAGER_MS = 200;
const IDLE_MS = 1_000;
const RETRY_MS = 1_000;
const FINISH_POLL_MS = 100;
const MAXIMUM = { memoryMiB: 1 << 20, vcores: 128, others: {} };

/**
 * The model's YARN as an ApplicationMaster meets it over a network: a short form of am/scheduler/yarn and its clients.
 */
export class ModelScheduler implements Scheduler {
  readonly waits = [];
  readonly #options: ModelSchedulerOptions;
  readonly #outstanding = new Outstanding();
  #unanswered: AllocateRequest | undefined;
  #responseId = 0;
  /** Hosts whose token was in an answer that was not heard. */
  #withoutToken: ReadonlySet<string> = new Set();
  isUnheard = false;
  answeredAtMs: number | undefined;
  readonly clientTokenKey = undefined;
  /** When it was last asked which attempt is the current one, and answered. */
  confirmedAtMs = 0;
  #questions: ((current: boolean) => void)[] = [];
  #deliver: (event: SchedulerEvent) => void = () => {};
  #isCalling = false;
  /** No heartbeat is sent before the registration is answered. */
  #isRegistering = false;
  #isWoken = false;
  #ended = false;
  #endTaken: boolean | undefined;
  #cancelPause = () => {};

  constructor(options: ModelSchedulerOptions) {
    this.#options = options;
  }

  start(_address: unknown, deliver: (event: SchedulerEvent) => void): Promise<Registration> {
    this.#deliver = deliver;
    const { attempt, application } = this.#options;
    return this.#register(true).then((kept) => {
      this.#deliver({ type: "nodes-changed", nodes: application.cluster.views() });
      this.#deliver({ type: "am-registered", attempt, counted: "all", resourceTypes: [] });
      this.#pause(0);
      return { attempt, keptContainers: kept ?? [] };
    });
  }

  ask(asks: readonly Ask[]): void {
    for (const ask of asks) {
      if (ask.resource.memoryMiB > MAXIMUM.memoryMiB) {
        const message = `${ask.role}: more memory than a container may have`;
        this.#emit({ type: "ask-too-large", role: ask.role, message, configured: MAXIMUM });
      } else {
        this.#outstanding.ask(ask);
      }
    }
    this.#heartbeatNow();
  }

  release(containerIds: readonly string[]): void {
    for (const id of containerIds) {
      this.#outstanding.release(id);
    }
    this.#heartbeatNow();
  }

  blacklist(hosts: readonly string[]): void {
    this.#outstanding.avoid(hosts);
  }

  launch(commands: readonly ContainerCommand[]): void {
    const { attempt, nodeManagers, application } = this.#options;
    for (const command of commands) {
      const { containerId } = command;
      const host = application.containers.get(containerId)?.node.host ?? "";
      if (this.#withoutToken.has(host)) {
        this.#over(`the answer to its registration was lost, and with it the token for ${host}`);
        return;
      }
      nodeManagers.start(attempt, command, (answer) =>
        this.#options.process.reach(() => this.#deliver({ ...answer, containerId })),
      );
    }
  }

  /** Where the container's node does not answer, the ResourceManager tells it to stop the container. */
  stop(containerId: string): void {
    const host = this.#options.application.containers.get(containerId)?.node.host ?? "";
    const release = () => this.#options.process.reach(() => this.release([containerId]));
    if (this.#withoutToken.has(host)) {
      release();
      return;
    }
    this.#options.nodeManagers.stop(this.#options.attempt, containerId, release);
  }

  show(): void {}

  confirm(): Promise<boolean> {
    if (this.#endTaken !== undefined) {
      this.#options.settled();
      return Promise.resolve(this.#endTaken);
    }
    return new Promise((resolve) => {
      this.#questions.push((current) => {
        this.confirmedAtMs = this.#options.process.nowMs();
        resolve(current);
      });
      this.#heartbeatNow();
    });
  }

  finish(): Promise<boolean> {
    this.#ended = true;
    return new Promise((resolve) => this.#finish(resolve));
  }

  async close(): Promise<void> {
    this.#ended = true;
    this.#cancelPause();
  }

  /** @returns the containers that were kept; undefined where the answer was lost but the registration counts */
  #register(
    isFirst = false,
  ): Promise<Extract<ReturnType<ApplicationService["register"]>, readonly unknown[]> | undefined> {
    const { resourceManager, attempt, process, settled } = this.#options;
    this.#isRegistering = true;
    return new Promise((resolve) => {
      const call = (unheard?: readonly string[]): void =>
        this.#call(
          "register",
          () => resourceManager.register(attempt),
          (answer) => {
            if (answer === "over") {
              this.#over("ApplicationAttemptNotFound");
              return;
            }
            this.#isRegistering = false;
            this.#responseId = 0;
            this.#unanswered = undefined;
            this.#outstanding.tellAgain();
            if (answer === "already registered" && isFirst) {
              this.isUnheard = true;
              this.#withoutToken = new Set(unheard);
            }
            settled();
            resolve(answer === "already registered" ? undefined : answer);
          },
          (answer) => {
            const hosts = Array.isArray(answer) ? answer.map(({ host }: { host: string }) => host) : unheard;
            process.after(RETRY_MS, () => call(hosts));
          },
        );
      call();
    });
  }

  #heartbeat(): void {
    if (this.#ended || this.#isCalling || this.#isRegistering) {
      return;
    }
    const { resourceManager, attempt } = this.#options;
    this.#isWoken = false;
    // Only a heartbeat that begins after the question answers it.
    const questions = this.#questions.splice(0);
    this.#unanswered ??= this.#outstanding.nextRequest(this.#responseId);
    const request = this.#unanswered;
    this.#call(
      "allocate",
      () => resourceManager.allocate(attempt, request),
      (answer) => {
        for (const tell of questions) {
          this.#options.settled();
          tell(answer !== "over");
        }
        this.#take(answer);
      },
      () => {
        this.#questions.unshift(...questions);
        this.#pause(RETRY_MS);
      },
    );
  }

  #take(answer: AllocateResponse | "resync" | "over"): void {
    if (answer === "over") {
      this.#over("ApplicationAttemptNotFound");
    } else if (answer === "resync") {
      void this.#register().then((kept = []) => {
        this.#tellLate(kept);
        this.#deliver({ type: "resource-manager-resynced" });
        this.#pause(0);
      });
    } else {
      this.#unanswered = undefined;
      this.#responseId = answer.responseId;
      this.#tell(answer);
      this.#pause(this.#outstanding.isWaiting ? EAGER_MS : IDLE_MS);
    }
  }

  #tell({ allocated, completed, late }: AllocateResponse): void {
    this.#tellLate(late);
    for (const { containerId, exitStatus, diagnostics } of completed) {
      this.#outstanding.completed(containerId);
      this.#deliver({
        type: "container-completed",
        containerId,
        exitStatus,
        diagnostics: parseContainerDiagnostics(diagnostics),
      });
    }
    this.#outstanding.given(allocated);
    if (allocated.length > 0) {
      this.#deliver({ type: "containers-allocated", containers: allocated });
    }
  }

  #tellLate(containers: readonly AllocatedContainer[]): void {
    if (containers.length > 0) {
      this.#deliver({ type: "containers-recovered-late", containers });
    }
  }

  /** A call is carried out at once, or never where nobody is there; its answer takes some time, or is lost. */
  #call<Answer>(
    name: Call,
    carryOut: () => Answer,
    answered: (answer: Answer) => void,
    unanswered: (answer?: Answer) => void,
  ): void {
    const { process, random, resourceManager, isReached, losesAnswer } = this.#options;
    this.#isCalling = true;
    const answer = resourceManager.isUp && isReached() ? { value: carryOut() } : undefined;
    const isLost = answer === undefined || losesAnswer(name);
    process.after(random.integer(1, 50), () => {
      this.#isCalling = false;
      if (answer === undefined || isLost) {
        unanswered(answer?.value);
      } else {
        this.answeredAtMs = process.nowMs();
        answered(answer.value);
      }
    });
  }

  #finish(resolve: (isPutDown: boolean) => void): void {
    const { resourceManager, attempt, process, settled } = this.#options;
    const again = () => process.after(FINISH_POLL_MS, () => this.#finish(resolve));
    this.#call(
      "finish",
      () => resourceManager.finish(attempt),
      (answer) => {
        if (answer === "resync") {
          void this.#register().then(again);
        } else if (answer === false) {
          again();
        } else {
          settled();
          this.#endTaken = answer === true;
          for (const tell of this.#questions.splice(0)) {
            tell(this.#endTaken);
          }
          resolve(this.#endTaken);
        }
      },
      () => process.after(RETRY_MS, () => this.#finish(resolve)),
    );
  }

  #over(reason: string): void {
    this.#ended = true;
    this.#emit({ type: "resource-manager-shutdown", reason });
  }

  #heartbeatNow(): void {
    this.#isWoken = true;
    if (!this.#isCalling) {
      this.#pause(0);
    }
  }

  #pause(durationMs: number): void {
    this.#cancelPause();
    this.#cancelPause = this.#options.process.after(this.#isWoken ? 0 : durationMs, () => this.#heartbeat());
  }

  /** Never calls back within the call that causes the event. */
  #emit(event: SchedulerEvent): void {
    this.#options.process.after(0, () => this.#deliver(event));
  }
}
