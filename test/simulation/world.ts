import type { Core } from "../../am/core/core.ts";
import type { Effect } from "../../am/core/state/effects.ts";
import type { Event } from "../../am/core/state/events.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobOutcome } from "../../src/job/status.ts";
import { Application, type ModelContainer } from "./application.ts";
import { ApplicationService } from "./application-service.ts";
import { Attempts } from "./attempts.ts";
import { machinesFault } from "./causes.ts";
import type { VirtualClock } from "./clock.ts";
import type { Cluster } from "./cluster.ts";
import { CutWatch } from "./cut-watch.ts";
import { ExecutorModel } from "./executor-model.ts";
import { checkContainers } from "./ground-truth.ts";
import { JournalStore } from "./journal-store.ts";
import type { Master } from "./master.ts";
import { Meetings } from "./meetings.ts";
import { obeysYarn } from "./node.ts";
import { NodeService } from "./node-service.ts";
import { OptunaModel } from "./optuna-model.ts";
import { OverlapWatch } from "./overlap.ts";
import { type PlantedFaultOptions, PlantedFaults } from "./planted-faults.ts";
import type { Hang, ProgramPlan } from "./program.ts";
import { connectionsBroken } from "./program-ends.ts";
import type { Random } from "./random.ts";
import type { Call } from "./scheduler.ts";
import { StepWatch } from "./step-watch.ts";
import { UnheardEnds } from "./unheard-ends.ts";
import type { Weather } from "./weather.ts";
import { Witness } from "./witness.ts";

export interface WorldOptions extends PlantedFaultOptions {
  readonly applicationId?: string;
  readonly spec: JobSpec;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly cluster: Cluster;
  readonly weather: Weather;
  readonly programs: (task: string) => ProgramPlan;
  /** How many attempts YARN grants. */
  readonly attempts: number;
  readonly trace?: (line: string) => void;
  /** The seed of what Optuna proposes, in a search that asks Optuna. */
  readonly optunaSeed?: number;
  /** Whether a second core, which is rebuilt from its JSON again and again, must decide as the first one does. */
  readonly doubled?: boolean;
}

/**
 * Turns of the microtask queue in which everything that waited for a promise has run, and whatever waited for that in
 * turn.
 */
const TURNS = 10;

/**
 * Everything around one job's core: what a cluster keeps about the job, its executors with their programs, and its
 * attempts.
 */
export class World {
  readonly applicationId: string;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly spec: JobSpec;
  readonly cluster: Cluster;
  /** What YARN keeps about the job. */
  readonly application: Application;
  readonly resourceManager: ApplicationService;
  readonly nodeManagers: NodeService;
  readonly journal: JournalStore;
  readonly weather: Weather;
  readonly attempts: Attempts;
  readonly executors = new Map<string, ExecutorModel>();
  readonly problems: string[] = [];
  readonly witness: Witness;
  readonly overlap: OverlapWatch;
  readonly meetings: Meetings;
  readonly cuts: CutWatch;
  readonly planted: PlantedFaults;
  /** How often each task's program was started. */
  readonly starts = new Map<string, number>();
  readonly hangs: Hang[] = [];
  readonly unheard: UnheardEnds;
  /** How long YARN waits for an ApplicationMaster from which it hears nothing. */
  masterExpiryMs = 600_000;
  /** How often an executor that reached nobody suspended its program. */
  suspensions = 0;
  /** How many of the programs that went on found that their connections had not survived. */
  brokenResumptions = 0;
  outcome: JobOutcome | undefined;
  steps = 0;
  readonly #options: WorldOptions;
  readonly #startedAtMs: number;
  readonly #watch: StepWatch;
  readonly #optuna: OptunaModel;
  #port = 20_000;
  #isSettling = false;

  constructor(options: WorldOptions) {
    const { applicationId = "application_1_0001", clock, random, cluster, spec, weather, attempts } = options;
    this.#options = options;
    this.planted = new PlantedFaults(options);
    this.applicationId = applicationId;
    this.clock = clock;
    this.random = random;
    this.spec = spec;
    this.cluster = cluster;
    this.weather = weather;
    this.witness = new Witness(spec);
    this.overlap = new OverlapWatch(this);
    this.meetings = new Meetings(spec);
    this.cuts = new CutWatch(spec);
    this.unheard = new UnheardEnds(spec);
    this.journal = new JournalStore(applicationId);
    const { surplus, completionDelayMs, lateNodes } = weather;
    const completed = (container: ModelContainer) => this.#completed(container);
    this.application = new Application({
      ...{ id: applicationId, clock, random, cluster },
      ...{ surplus, completionDelayMs, lateNodes, completed },
    });
    this.resourceManager = new ApplicationService(this.application);
    this.nodeManagers = new NodeService({
      clock,
      random,
      application: this.application,
      refusals: weather.launchFailures,
      losesAnswer: (call) => this.losesAnswer(call),
      run: (container, { environment }) => this.#run(container, environment),
      failed: ({ node }) => this.witness.incident(node.host),
    });
    this.#startedAtMs = clock.nowMs;
    this.attempts = new Attempts(this, attempts);
    this.#watch = new StepWatch(this);
    this.#optuna = new OptunaModel(this, options.optunaSeed ?? 0);
  }

  start(): void {
    this.clock.after(10, () => this.master.start());
  }

  /** The attempt that was started last. */
  get master(): Master {
    return this.attempts.present;
  }

  get core(): Core {
    return this.master.core;
  }

  get isDoubled(): boolean {
    return this.#options.doubled === true;
  }

  get isOver(): boolean {
    return this.attempts.areOver || this.problems.length > 0;
  }

  /** Whether something waits for a promise that was settled. */
  get isSettling(): boolean {
    return this.#isSettling;
  }

  /** Lets everything run that waits for a settled promise, before time goes on. */
  async settle(): Promise<void> {
    while (this.#isSettling) {
      this.#isSettling = false;
      for (let turn = 0; turn < TURNS; turn++) {
        await undefined;
      }
    }
  }

  /** A promise was settled. */
  settled(): void {
    this.#isSettling = true;
  }

  nextPort(): number {
    this.#port += 2;
    return this.#port;
  }

  programOf(task: string): ProgramPlan {
    return this.#options.programs(task);
  }

  trace(line: string | (() => string)): void {
    const time = () => String((this.clock.nowMs - this.#startedAtMs) / 1000).padStart(9);
    this.#options.trace?.(`${time()} ${typeof line === "string" ? line : line()}`);
  }

  losesAnswer(call: Call): boolean {
    const { lostNodeAnswers, lostAnswers } = this.weather;
    const chance = call === "start" || call === "stop" ? lostNodeAnswers : lostAnswers;
    return chance > 0 && this.random.chance(chance);
  }

  /** Delivers an event to the present attempt; to nobody while there is none. */
  deliver(event: Event): void {
    this.master.deliver(event);
  }

  /**
   * What a core makes of an event. The judge looks at the world after a replaced attempt's deeds, not at that attempt.
   */
  decide(master: Master, event: Event, nowMs: number): readonly Effect[] {
    const { core, isPresent } = master;
    if (this.isOver) {
      return [];
    }
    this.steps++;
    this.trace(() => `» ${describe(event)}`);
    if (isPresent) {
      this.#heard(event);
      this.cuts.heard(event, core, nowMs);
    }
    if (event.type === "containers-allocated" || event.type === "containers-recovered-late") {
      this.application.delivered(event.containers);
    }
    const effects = core.step(event, nowMs);
    if (!isPresent) {
      return effects;
    }
    const changed = this.planted.decided(effects, core, event);
    this.#noteReleases(changed);
    this.problems.push(...this.#watch.check(master, event, changed, nowMs));
    this.#optuna.look();
    return changed;
  }

  /** The job begins anew: its next attempt finds no journal. */
  beginAgain(): void {
    this.#watch.beginAgain();
  }

  /** The job's end is being reported to YARN. */
  ends({ isPresent }: Master, outcome: JobOutcome): void {
    if (isPresent) {
      this.outcome = outcome;
      this.problems.push(...checkContainers(this));
    }
  }

  /** A container is ended from outside, and YARN will report why. */
  endContainer({ container, containerId }: ExecutorModel, exitStatus: number, diagnostics: string): void {
    if (container.state !== "complete") {
      this.unheard.ended(containerId, { host: container.node.host, exitStatus, endedAtMs: this.clock.nowMs });
      this.application.complete(containerId, exitStatus, diagnostics);
    }
  }

  containerExited(container: ModelContainer, exitStatus: number): void {
    const { containerId } = container.given;
    this.clock.after(this.random.integer(5, 50), () => this.application.complete(containerId, exitStatus, ""));
  }

  programStarted(executor: ExecutorModel): void {
    this.trace(`  program of ${executor.task} generation ${executor.generation} starts in ${executor.containerId}`);
    this.starts.set(executor.task, (this.starts.get(executor.task) ?? 0) + 1);
    this.witness.started(executor);
    this.overlap.started(executor);
    if (this.witness.startsOf(executor) > 1) {
      this.problems.push(`${executor.task} runs twice in generation ${executor.generation}`);
    }
  }

  /** The executor reaches nobody, and suspends its program. */
  suspended(executor: ExecutorModel): void {
    this.trace(`  program of ${executor.task} in ${executor.containerId} is suspended`);
    // An executor that stood still finds that it reached nobody before it has looked for anyone.
    if (executor.thawedAtMs === 0 || this.clock.nowMs > executor.thawedAtMs + this.spec.timeouts.isolationMs) {
      this.suspensions++;
    }
  }

  resumed(executor: ExecutorModel): void {
    this.trace(`  program of ${executor.task} in ${executor.containerId} goes on`);
    this.overlap.runs(executor);
    if (this.random.chance(0.3)) {
      this.brokenResumptions++;
      connectionsBroken(this, executor);
    }
  }

  /** The present attempt reads an event. */
  #heard(event: Event): void {
    const isRegistration = event.type === "executor-registered";
    // What an attempt that is cut off hears dies with it, unless it is said again.
    if (this.core.state.outcome !== undefined || this.master.isCutOff) {
      return;
    }
    if (event.type === "child-exited" || (isRegistration && event.child.state === "exited")) {
      const present = this.core.state.tasks.find(({ id }) => id === event.task)?.generation ?? 0;
      this.witness.told(event, this.clock.nowMs, present > event.generation);
    } else if (event.type === "container-completed") {
      this.unheard.heard(event.containerId, event.exitStatus, this.clock.nowMs);
    }
  }

  #noteReleases(effects: readonly Effect[]): void {
    for (const effect of effects) {
      for (const id of effect.type === "release" ? effect.containerIds : []) {
        const container = this.application.containers.get(id);
        if (container !== undefined) {
          container.surrendered = true;
        }
      }
    }
  }

  /** An executor has made room for another task's executor. */
  madeRoom(container: ModelContainer, variables: Readonly<Record<string, string>>): void {
    this.clock.after(this.random.integer(50, 1_000), () => {
      if (container.state === "running" && container.node.alive) {
        this.#run(container, variables);
      }
    });
  }

  #run(container: ModelContainer, { TASK = "", GENERATION = "" }: Readonly<Record<string, string>>): void {
    const executor = new ExecutorModel(this, TASK, container, Number(GENERATION));
    this.executors.set(executor.containerId, executor);
    if (container.node.cut !== undefined) {
      executor.wasCut = true;
      machinesFault(this, executor, false);
    }
  }

  /** A container that YARN counts as over runs on where its node cannot be told. */
  #completed({ node, given }: ModelContainer): void {
    const executor = this.executors.get(given.containerId);
    if (obeysYarn(node)) {
      executor?.die();
    } else if (executor !== undefined) {
      this.witness.outOfReach(executor);
    }
  }
}

function describe(event: Event): string {
  return JSON.stringify(event, (key, value: unknown) =>
    key === "exit" || key === "nodes" || key === "journal" ? "…" : value,
  );
}
