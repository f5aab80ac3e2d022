import { type Core, createCore } from "../../../am/core/core.ts";
import { budgetOf } from "../../../am/core/gang/charges.ts";
import { createInvariants } from "../../../am/core/invariants.ts";
import { isSnapshot } from "../../../am/core/journal/journal.ts";
import type { Ask, Effect, ExecutorCommand } from "../../../am/core/state/effects.ts";
import type { AllocatedContainer, ChildExit, ChildReport, Event, NodeView } from "../../../am/core/state/events.ts";
import type { GangState } from "../../../am/core/state/gang.ts";
import { isRestarting } from "../../../am/core/state/gang-moves.ts";
import { parseContainerDiagnostics } from "../../../src/job/diagnosis/container-diagnostics.ts";
import type { ExecutorRegistration } from "../../../src/job/execution.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import type { FailureClass } from "../../../src/job/status.ts";
import { whole } from "../../../src/journal/reader.ts";
import { childExit } from "../../support/child-exit.ts";
import { firstGang } from "../../support/first-gang.ts";

const STARTED_AT_MS = 1_000_000;

type RegistrationFacts = Pick<ExecutorRegistration, "generation" | "port" | "ports" | "progress" | "upMs">;

/** Drives one core by hand: says what happens, and answers by itself only what a healthy world always answers. */
export class Scenario {
  core: Core;
  nowMs = STARTED_AT_MS;
  /** Everything that was ordered, oldest first. */
  readonly effects: Effect[] = [];
  journal: unknown;
  /** Whether journal writes succeed at once. */
  journalWorks = true;
  /** Whether journal writes are answered at all, rather than by the test. */
  journalAnswers = true;
  /** What is beside the snapshots. */
  readonly #parts = new Map<number, unknown>();
  readonly #spec: JobSpec;
  readonly #applicationId: string;
  readonly #problems: string[] = [];
  readonly #invariants: ReturnType<typeof createInvariants>;
  /** When the core is to be woken; undefined while it is not. */
  #wakeAtMs: number | undefined;
  #attempt = 1;
  #containers = 0;

  constructor(spec: JobSpec, applicationId = "application_1_0001") {
    this.#spec = spec;
    this.#applicationId = applicationId;
    this.core = this.#newCore();
    this.#invariants = createInvariants(spec);
  }

  /** Mails an event; gives what it ordered. */
  on(event: Event): Effect[] {
    const effects = this.core.step(event, this.nowMs);
    this.#problems.push(...this.#invariants.check(this.core.state, effects, event));
    if (this.#problems.length > 0) {
      throw new Error(this.#problems.join("; "));
    }
    this.effects.push(...effects);
    for (const effect of effects) {
      if (effect.type === "wake-at") {
        this.#wakeAtMs = effect.atMs;
      }
    }
    return effects.flatMap((effect) => [effect, ...this.#answer(effect)]);
  }

  register(change: Partial<Extract<Event, { type: "am-registered" }>> = {}): Effect[] {
    return this.on({
      type: "am-registered",
      attempt: this.#attempt,
      counted: "all",
      resourceTypes: [],
      ...change,
    });
  }

  /** Time passes; the core is woken whenever it asked for that. */
  after(durationMs: number): Effect[] {
    const untilMs = this.nowMs + durationMs;
    const effects: Effect[] = [];
    while (this.#wakeAtMs !== undefined && this.#wakeAtMs <= untilMs) {
      this.nowMs = Math.max(this.nowMs, this.#wakeAtMs);
      effects.push(...this.wakes());
    }
    this.nowMs = untilMs;
    return effects;
  }

  /** The wake-up that was asked for comes now, perhaps late. */
  wakes(): Effect[] {
    this.#wakeAtMs = undefined;
    return this.on({ type: "wake-up" });
  }

  container(priority: number, change: Partial<AllocatedContainer> = {}): AllocatedContainer {
    this.#containers++;
    return {
      containerId: `c${this.#containers}`,
      nodeId: `n${this.#containers}:45454`,
      host: `n${this.#containers}`,
      nodeHttpAddress: `n${this.#containers}:8042`,
      priority,
      resource: { memoryMiB: 1024, vcores: 1, others: {} },
      ...change,
    };
  }

  /** Gives every container that is asked for. */
  allocateAll(): Effect[] {
    const missing = this.core.state.asks.flatMap(({ outstanding }, position) =>
      Array.from({ length: outstanding }, () => this.container(position + 1)),
    );
    return this.on({ type: "containers-allocated", containers: missing });
  }

  /** The task's executor says that nothing runs and that it holds a port. */
  ready(task: string, change: Partial<RegistrationFacts> = {}): Effect[] {
    return this.reports(task, { state: "none" }, change);
  }

  reports(task: string, child: ChildReport, change: Partial<RegistrationFacts> = {}): Effect[] {
    const { containerId, generation, host } = this.task(task);
    return this.on({
      type: "executor-registered",
      task,
      containerId,
      generation,
      host,
      port: 30_000 + this.core.state.tasks.findIndex(({ id }) => id === task),
      tensorboardPort: 0,
      rejoinAddress: `${host}:9`,
      child,
      ...change,
    });
  }

  readyAll(): Effect[] {
    return this.core.state.tasks.flatMap(({ id, phase }) =>
      phase === "allocated" || phase === "launched" || phase === "preparing" ? this.ready(id) : [],
    );
  }

  startedAll(): void {
    for (const task of this.core.state.tasks) {
      if (task.phase === "starting") {
        const { id, containerId, generation } = task;
        this.on({ type: "child-started", task: id, containerId, generation, pid: 7, atMs: this.nowMs });
      }
    }
  }

  /** From nothing to every program running. */
  toRunning(): void {
    this.register();
    this.allocateAll();
    this.readyAll();
    this.startedAll();
  }

  exits(task: string, exit: Partial<ChildExit> = {}): Effect[] {
    const { containerId, generation } = this.task(task);
    return this.on({ type: "child-exited", task, containerId, generation, exit: childExit(this.nowMs, exit) });
  }

  stops(task: string): Effect[] {
    return this.exits(task, { signal: "SIGTERM", stopReason: { code: "generation-ended", why: "told to" } });
  }

  completes(containerId: string, exitStatus: number, diagnostics = ""): Effect[] {
    return this.on({
      type: "container-completed",
      containerId,
      exitStatus,
      diagnostics: parseContainerDiagnostics(diagnostics),
    });
  }

  breaks(task: string): Effect[] {
    return this.on({
      type: "executor-lost",
      task,
      containerId: this.task(task).containerId,
      cause: "stream-broken",
    });
  }

  /** Nothing was heard of the task's executor for so long. */
  silent(task: string, silentMs: number): Effect[] {
    return this.on({ type: "executor-silent", task, containerId: this.task(task).containerId, silentMs });
  }

  /** It is heard again. */
  back(task: string): Effect[] {
    return this.on({ type: "executor-back", task, containerId: this.task(task).containerId });
  }

  /** Nothing was heard of it for longer than is waited. */
  vanishes(task: string): Effect[] {
    return [...this.silent(task, this.#spec.timeouts.heartbeatExpiryMs), ...this.after(0)];
  }

  /** A snapshot with what is beside it, as a later attempt reads it. */
  #read(text: string): unknown {
    const snapshot: unknown = JSON.parse(text);
    const parts = isSnapshot(snapshot, this.#applicationId) ? (snapshot.parts ?? []) : [];
    return whole(
      snapshot,
      parts.map((sequence) => this.#parts.get(sequence)),
    );
  }

  /** The ApplicationMaster dies and the next attempt reads the newest journal. */
  crash(kept: readonly AllocatedContainer[], meanwhile: readonly Event[] = []): Effect[] {
    const { journal } = this;
    this.#attempt++;
    this.#wakeAtMs = undefined;
    this.core = this.#newCore();
    this.register();
    for (const event of meanwhile) {
      this.on(event);
    }
    return this.on({ type: "recovered", journal, keptContainers: kept });
  }

  task(id: string) {
    const task = this.core.state.tasks.find((one) => one.id === id);
    if (task === undefined) {
      throw new Error(`no task ${id}`);
    }
    return task;
  }

  /** The first gang: the only one, of a job without stages. */
  get gang(): GangState {
    return firstGang(this.core);
  }

  /** The job and its only gang as one; while the job is under way, the phase is the gang's, as people see it. */
  get job() {
    const { state } = this.core;
    const { gang } = this;
    const phase = isRestarting(gang) ? "restarting" : gang.phase;
    return { ...state, ...gang, phase: state.phase === "under-way" ? phase : state.phase };
  }

  /** How many restarts count against each budget now. */
  get used(): Record<FailureClass, number> {
    const of = (failureClass: FailureClass) => budgetOf(this.core, this.gang, { class: failureClass }, this.nowMs).used;
    return { program: of("program"), infrastructure: of("infrastructure") };
  }

  phases(): string {
    return this.core.state.tasks.map(({ id, phase }) => `${id} ${phase}`).join(", ");
  }

  #newCore(): Core {
    return createCore(this.#spec, {
      applicationId: this.#applicationId,
      attempt: this.#attempt,
      amHost: "n0",
      amContainerId: "c0",
      startedAtMs: this.nowMs,
      nodeHeartbeatMs: 1_000,
    });
  }

  #answer(effect: Effect): Effect[] {
    if (effect.type !== "journal" || !this.journalAnswers) {
      return [];
    }
    if (!this.journalWorks) {
      return this.on({ type: "journal-failed", sequence: effect.sequence, message: "safe mode" });
    }
    if (effect.part !== undefined) {
      this.#parts.set(effect.sequence, JSON.parse(effect.part));
    }
    this.journal = this.#read(effect.snapshot);
    return this.on({ type: "journal-written", sequence: effect.sequence });
  }
}

export function asksOf(effects: readonly Effect[]): Ask[] {
  return effects.flatMap((effect) => (effect.type === "ask" ? effect.asks : []));
}

/** The messages to executors of one kind, with their task. */
export function sentOf<T extends ExecutorCommand["type"]>(effects: readonly Effect[], type: T): string[] {
  return effects.flatMap((effect) => (effect.type === "send" && effect.message.type === type ? [effect.to.task] : []));
}

export function typesOf(effects: readonly Effect[]): string[] {
  return effects.map(({ type }) => type);
}

/** A node without a label that has nothing to do. */
export function idleNode(host: string): NodeView {
  return {
    nodeId: `${host}:1`,
    host,
    rack: "/r",
    usable: true,
    labels: [],
    free: { memoryMiB: 8192, vcores: 8, others: {} },
  };
}
