import type { ChildExit } from "../../am/core/state/events.ts";
import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import { isOneStage, stagesOf } from "../../src/job/stages.ts";
import type { FailureClass } from "../../src/job/status.ts";
import { elasticRole, trialOf } from "./ground-truth.ts";
import { isClosed } from "./program-ends.ts";

/** One run of a task's program, as its node saw it. */
export interface Life {
  readonly task: string;
  readonly containerId: string;
  readonly generation: number;
  /** Absent while it runs; its exit is `undefined` when it died with its container. */
  end?: { readonly exit: ChildExit | undefined; readonly atMs: number };
  /** When the ApplicationMaster heard of the exit; absent while it has not. */
  toldAtMs?: number;
  /** Whether the task was already to start again by then. */
  isToldTooLate?: boolean;
  /** YARN counts its container as over, but could not tell its node, which is cut off. */
  isOutOfReach?: true;
}

/** Something by which a life may have ended. */
export interface Cause {
  readonly task: string;
  readonly generation: number;
  /** The budget that pays for it; `nothing`: a preemption. */
  readonly class: FailureClass | "nothing";
  /** Whether its restart is the gang's. */
  readonly isMember: boolean;
  /** False where others may no longer have needed it, or it may no longer have needed them. */
  readonly isCertain: boolean;
}

/** What really happened, whatever the core believes: the core's statements are judged by this. */
export class Witness {
  readonly #spec: JobSpec;
  readonly #last = new Map<string, Life>();
  readonly #starts = new Map<string, number>();
  readonly #causes = new Map<string, { readonly cause: Cause; readonly tasks: Set<string> }>();
  /** How often something may be held against a machine, by host: once for each container in which it showed. */
  readonly #incidents = new Map<string, number>();

  #hasBegunAgain = false;

  constructor(spec: JobSpec) {
    this.#spec = spec;
  }

  /** An attempt had ended the job and stopped its programs, and the next one knew nothing of that. */
  get hasBegunAgain(): boolean {
    return this.#hasBegunAgain;
  }

  started({ task, containerId, generation }: Pick<Life, "task" | "containerId" | "generation">): void {
    this.#hasBegunAgain ||= this.#last.get(task)?.end?.exit?.stopReason?.code === "job-ended";
    this.#last.set(task, { task, containerId, generation });
    const life = `${task} ${generation}`;
    this.#starts.set(life, (this.#starts.get(life) ?? 0) + 1);
  }

  /** How often the task's program was started in that generation. */
  startsOf({ task, generation }: Pick<Life, "task" | "generation">): number {
    return this.#starts.get(`${task} ${generation}`) ?? 0;
  }

  /** Whether the last life of a task is over. */
  hasEnded(task: string): boolean {
    return this.#last.get(task)?.end !== undefined;
  }

  exitedWell(task: string): boolean {
    return exitedWell(this.#last.get(task));
  }

  /** The generation of the last life of a task; 0 where it had none. */
  lastGenerationOf(task: string): number {
    return this.#last.get(task)?.generation ?? 0;
  }

  ended({ task, containerId }: Pick<Life, "task" | "containerId">, exit: ChildExit | undefined, atMs: number): void {
    const life = this.#last.get(task);
    if (life?.containerId === containerId) {
      life.end ??= { exit, atMs };
    }
  }

  /** Its container is over, but its program may run on. */
  outOfReach({ task, containerId }: Pick<Life, "task" | "containerId">): void {
    const life = this.#last.get(task);
    if (life?.containerId === containerId) {
      life.isOutOfReach = true;
    }
  }

  /** The present ApplicationMaster reads that a program has ended, perhaps when it has already decided that the task starts again. */
  told(
    { task, containerId, generation }: Pick<Life, "task" | "containerId" | "generation">,
    atMs: number,
    isTooLate: boolean,
  ): void {
    const life = this.#last.get(task);
    if (life?.containerId === containerId && life.generation === generation) {
      life.toldAtMs ??= atMs;
      life.isToldTooLate ??= isTooLate;
    }
  }

  /** When the ApplicationMaster heard how the last life of a task ended; absent while it has not. */
  toldAtMs(task: string): number | undefined {
    return this.#last.get(task)?.toldAtMs;
  }

  /** Whether that life has ended by itself, and the ApplicationMaster decided the outcome before it heard of that. */
  endedUntold({ task, generation }: Pick<Life, "task" | "generation">): boolean {
    const life = this.#last.get(task);
    return life?.generation === generation && life.end?.exit !== undefined && life.toldAtMs === undefined;
  }

  /**
   * Notes a cause. Each class counts once for each life of the gang, or of a task that lives on its own; where no program ran, each cause of a
   * program's class counts.
   */
  cause(cause: Cause, ran: boolean): void {
    const { task, generation, isMember } = cause;
    const life = isMember ? `generation ${generation}` : `${task} in generation ${generation}`;
    const isOfLife = ran || cause.class !== "program";
    const key = `${cause.class}: ${isOfLife ? life : `${task} before its start, ${this.#causes.size}`}`;
    const known = this.#causes.get(key);
    const tasks = (known?.tasks ?? new Set()).add(task);
    this.#causes.set(key, { cause: known?.cause.isCertain === true ? known.cause : cause, tasks });
  }

  /** All causes that were noted, or those of a class. */
  causes(of?: Cause["class"]): readonly Cause[] {
    return [...this.#causes.values()]
      .map(({ cause }) => cause)
      .filter((cause) => of === undefined || cause.class === of);
  }

  /**
   * How often a class, or some tasks' budget of it, may have been charged: once for each cause, and once for each task that had outlived its
   * gang when the cause was noticed.
   */
  mostCharges(of: FailureClass, isOf: (task: string) => boolean = () => true): number {
    // When a parameter server exits 0, all that is heard is that others lost a connection: whichever lost it first pays.
    const noted = [...this.#causes.values()].filter(
      ({ cause, tasks }) => cause.class === of && (!cause.isCertain || [...tasks].some(isOf)),
    );
    const charges = noted.map(({ cause, tasks }) => {
      const outlived = [...tasks].filter((task) => this.#mayHaveOutlived(task, cause.generation));
      return Math.max(1, outlived.length);
    });
    return charges.reduce((sum, many) => sum + many, 0);
  }

  /** Whether an untracked task may have outlived its gang: the tracked tasks of its stage were done in that generation. */
  #mayHaveOutlived(task: string, generation: number): boolean {
    const { roles } = this.#spec;
    const role = roles.find(({ name }) => task.startsWith(`${name}:`));
    const trial = trialOf(this.#spec, task);
    if (role?.tracking !== "untracked" || !this.mayBeDone(role, trial)) {
      return false;
    }
    const tracked = roles.filter(({ name, tracking }) => tracking === "tracked" && isOneStage(roles, name, role.name));
    const lives = tracked.flatMap((one) => this.#tasksOf(one, trial));
    return generation === Math.max(...lives.map((life) => life?.generation ?? 0));
  }

  /** A container shows that its machine may be at fault. */
  incident(host: string): void {
    this.#incidents.set(host, (this.#incidents.get(host) ?? 0) + 1);
  }

  incidentsOn(host: string): number {
    return this.#incidents.get(host) ?? 0;
  }

  /** Whether all programs whose end is the job's end have ended as they should: only then may the job have succeeded. */
  mayHaveSucceeded(): boolean {
    const { roles: all, trials } = this.#spec;
    const ofTrial = (trial: number) =>
      stagesOf(all).every(({ roles }) => !this.#isWaitedFor(roles) || this.#mayBeDone(roles, trial));
    // One trial that ended well is enough.
    return Array.from({ length: trials ?? 1 }, (_, trial) => trial).some(ofTrial);
  }

  /** Whether the same holds for the stage of a role. @param trial which trial, where trials are gangs */
  mayBeDone({ name }: RoleSpec, trial = 0): boolean {
    const stage = stagesOf(this.#spec.roles).find(({ roles }) => roles.includes(name));
    return stage !== undefined && this.#isWaitedFor(stage.roles) && this.#mayBeDone(stage.roles, trial);
  }

  #isWaitedFor(roles: readonly string[]): boolean {
    return this.#spec.roles.some(({ name, tracking }) => tracking === "tracked" && roles.includes(name));
  }

  #mayBeDone(roles: readonly string[], trial: number): boolean {
    const tracked = this.#spec.roles.filter(({ name, tracking }) => tracking === "tracked" && roles.includes(name));
    const chiefs = tracked.filter(({ chief }) => chief === "all");
    const main = tracked.filter(({ name }) => name !== "evaluator");
    const isDone = (role: RoleSpec) =>
      this.#tasksOf(role, trial).every((life) => this.#isDone(life)) || this.#isShareDone(role);
    const anyGood = tracked.some((role) => this.#tasksOf(role, trial).some(exitedWell));
    return anyGood && [tracked, chiefs, main].some((needed) => needed.length > 0 && needed.every(isDone));
  }

  /**
   * Whether the job must have succeeded: every program whose end is the job's has exited 0, the ApplicationMaster has heard that of each in
   * time, no other program has failed whose failure may end the job, and none is out of reach, which counts as such a failure. Where there is a
   * chief, its end is enough if nobody failed before it, and if no program of a role failed later whose failure ends the job whoever else is
   * done.
   */
  mustHaveSucceeded(): boolean {
    // In a search the results decide, too.
    if (this.#isOneMissing() || this.#spec.trials !== undefined) {
      return false;
    }
    const chiefs = this.#spec.roles.filter(({ chief, tracking }) => chief === "all" && tracking === "tracked");
    const isTold = (life: Life | undefined) => exitedWell(life) && life?.isToldTooLate === false;
    const chiefLives = chiefs.flatMap((role) => this.#tasksOf(role));
    const hasOneStage = stagesOf(this.#spec.roles).length === 1;
    if (hasOneStage && chiefLives.length > 0 && chiefLives.every(isTold)) {
      const doneAtMs = Math.max(...chiefLives.map((life) => life?.toldAtMs ?? 0));
      // A life whose end nobody was told about may have been taken for lost.
      const mayBeLost = ({ end, isOutOfReach }: Life) => isOutOfReach === true || (end?.atMs ?? doneAtMs) < doneAtMs;
      // So may a container in which nothing had begun.
      const mayEndIt = this.#spec.roles.filter(
        ({ restartPolicy, tracking }) => restartPolicy === "none" && tracking !== "sidecar",
      );
      if (mayEndIt.some((role) => this.#tasksOf(role).includes(undefined))) return false;
      const lives = [...this.#last.values()];
      return !lives.some((life) => (mayBeLost(life) && !isTold(life)) || this.#endsJob(life));
    }
    return this.#spec.roles.every((role) =>
      this.#tasksOf(role).every((life) => {
        if (role.tracking === "tracked") {
          return isTold(life);
        }
        const runsOn = life?.end === undefined && life?.isOutOfReach !== true;
        return role.tracking === "sidecar" || runsOn || exitedWell(life) || wasStopped(life);
      }),
    );
  }

  #endsJob(life: Life): boolean {
    const role = this.#spec.roles.find(({ name }) => life.task.startsWith(`${name}:`));
    return role?.stopOnFailure === true && life.end !== undefined && !exitedWell(life) && !wasStopped(life);
  }

  /** Whether the chiefs of a role's stage had ended well by then: the stage's other tasks were no longer needed, however they end. */
  chiefsHadSucceeded({ name }: RoleSpec, atMs: number, trial = 0): boolean {
    const { roles } = this.#spec;
    const chiefs = roles.filter(
      (role) => role.chief === "all" && role.tracking === "tracked" && isOneStage(roles, name, role.name),
    );
    const lives = chiefs.flatMap((role) => this.#tasksOf(role, trial));
    return lives.length > 0 && lives.every((life) => exitedWell(life) && (life?.toldAtMs ?? atMs) < atMs);
  }

  /** Whether one of a gang never started beside the others: its container had ended before it was told to start, and that is a failure. */
  #isOneMissing(): boolean {
    const { roles, distributedMode } = this.#spec;
    const members = roles.filter(({ tracking }) => tracking !== "sidecar");
    return distributedMode === "gang" && members.some((role) => this.#tasksOf(role).includes(undefined));
  }

  #tasksOf({ name, instances }: RoleSpec, trial = 0): (Life | undefined)[] {
    return Array.from({ length: instances }, (_, index) => this.#last.get(`${name}:${trial * instances + index}`));
  }

  /** Whether the first task of an elastic role has ended well, and none of the others has failed by itself, as far as anybody was told. */
  #isShareDone(role: RoleSpec): boolean {
    const [first, ...others] = this.#tasksOf(role);
    return (
      elasticRole(this.#spec, `${role.name}:0`) !== undefined &&
      exitedWell(first) &&
      !others.some((life) => gaveUp(life, first))
    );
  }

  #isDone(life: Life | undefined): boolean {
    // A task whose loss is tolerated may have been lost before it ran, or with the connection to its node.
    return this.#spec.failure.onWorkerFailure === "tolerate"
      ? life === undefined || life.end !== undefined || life.isOutOfReach === true
      : exitedWell(life);
  }
}

/** Whether the ApplicationMaster stopped it because it was no longer wanted. */
function wasStopped(life: Life): boolean {
  const stop = life.end?.exit?.stopReason;
  return stop !== undefined && stop.code !== "container-terminated" && stop.code !== "hung";
}

/** Whether it failed by itself, not before the first task's last start, and not because the others had ended before. */
function gaveUp(life: Life | undefined, first: Life | undefined): boolean {
  const exit = life?.end?.exit;
  const endedItself = exit !== undefined && exit.signal === "" && exit.stopReason === undefined;
  const isOfPresent = (life?.generation ?? 0) >= (first?.generation ?? 0);
  return isOfPresent && endedItself && exit.exitCode !== 0 && life?.toldAtMs !== undefined && !isClosed(exit);
}

function exitedWell(life: Life | undefined): boolean {
  const exit = life?.end?.exit;
  return (
    exit !== undefined &&
    exit.exitCode === 0 &&
    exit.signal === "" &&
    exit.stopReason === undefined &&
    !exit.failedToStart
  );
}
