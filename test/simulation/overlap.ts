import type { ExecutorModel } from "./executor-model.ts";
import { areOneGang, isJoiner } from "./ground-truth.ts";
import type { ModelNode } from "./node.ts";
import { LONGEST_UNANSWERED_MS } from "./node-service.ts";
import type { World } from "./world.ts";

/**
 * An executor that goes on after it had stood still looks for the ApplicationMaster at once, and notices within this time that a connection
 * has ended meanwhile.
 */
const SEARCH_AGAIN_MS = 1_000;

/**
 * Programs of two generations of the gang, or of two lives of a task, do not run side by side. Those on a node that is cut off are the
 * exception: they must have stopped doing anything once what replaces them has run for the isolation time.
 */
export class OverlapWatch {
  readonly #world: World;
  /** Until when the present program of an executor may still do something. */
  readonly #limitsMs = new Map<ExecutorModel, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** A program starts. */
  started(executor: ExecutorModel): void {
    const { executors, clock, spec, problems } = this.#world;
    const { isolationMs } = spec.timeouts;
    this.#limitsMs.delete(executor);
    for (const other of executors.values()) {
      if (!other.hasProgram || !this.#isReplacedBy(other, executor)) {
        continue;
      }
      if (!other.wasCut && this.#isDeaf(other) && this.#wasUnmanaged(other.container.node)) {
        // Nobody was there who could stop it: neither its executor nor its NodeManager, which stops it when it is back and is told again, or
        // when it comes to that order. No generation waits for it, because nobody can say how long that takes.
        continue;
      }
      if (!other.wasCut) {
        if (this.#isOfGangBefore(other, executor)) {
          problems.push(
            `${executor.task} starts in generation ${executor.generation}, ${other.task} still runs in ${other.generation}`,
          );
        }
      } else if (!this.#limitsMs.has(other)) {
        this.#limitsMs.set(other, clock.nowMs + isolationMs);
        clock.after(isolationMs + 1, () => this.runs(other));
      }
    }
  }

  /**
   * A program does something, or goes on. If its executor stands still, nobody can suspend it; an executor that has just gone on notices
   * only then that it reaches nobody. The model's executors do not notice that an ApplicationMaster stands still.
   */
  runs(executor: ExecutorModel): void {
    const limitMs = this.#limitsMs.get(executor);
    const { clock, problems, spec } = this.#world;
    const { isolationMs } = spec.timeouts;
    const { master } = executor.connection;
    const isHeldOn = master?.isCutOff === true && master.process.wasStoppedWithin(2 * isolationMs);
    const mayRunOn = isHeldOn || executor.frozen || clock.nowMs <= executor.thawedAtMs + isolationMs;
    if (limitMs === undefined || clock.nowMs <= limitMs || !executor.isProgramActive || mayRunOn) {
      return;
    }
    const { task, generation, containerId } = executor;
    problems.push(`${task} runs on in generation ${generation} in ${containerId}, cut off, long after it was replaced`);
  }

  /** Whether the executor stands still, or has just gone on and has not looked for the ApplicationMaster since. */
  #isDeaf({ frozen, thawedAtMs, connection }: ExecutorModel): boolean {
    return frozen || (!connection.isOpen && this.#world.clock.nowMs <= thawedAtMs + SEARCH_AGAIN_MS);
  }

  #wasUnmanaged({ isUnmanaged, managedAgainAtMs, slowMs, slowUntilMs }: ModelNode): boolean {
    const { nowMs } = this.#world.clock;
    const isToldAgain = nowMs > managedAgainAtMs + LONGEST_UNANSWERED_MS;
    return isUnmanaged || slowMs > 0 || nowMs <= slowUntilMs || (managedAgainAtMs > 0 && !isToldAgain);
  }

  #isReplacedBy(old: ExecutorModel, executor: ExecutorModel): boolean {
    const isReplaced = this.#isOfGangBefore(old, executor) || old.task === executor.task;
    return old !== executor && old.generation < executor.generation && isReplaced;
  }

  /** A program that joins an elastic role says nothing about the others' generation; the first of them does. */
  #isOfGangBefore(old: ExecutorModel, executor: ExecutorModel): boolean {
    return areOneGang(this.#world, old, executor) && !isJoiner(this.#world.spec, executor.task);
  }
}
