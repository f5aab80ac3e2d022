import type { Core } from "../../am/core/core.ts";
import type { ChildExit, Event } from "../../am/core/state/events.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { memberRole } from "./ground-truth.ts";

/** The most by which an exit is taken to be older than its report. */
const LATE_MS = 2_000;

interface Heard {
  readonly task: string;
  readonly generation: number;
  readonly atMs: number;
}

/**
 * Which programs were suspended and which lost their peers, as far as the ApplicationMaster heard: the first explains the second where
 * they are in one gang.
 */
export class CutWatch {
  readonly #spec: JobSpec;
  readonly #suspensions: (Heard & { readonly fromMs: number })[] = [];
  readonly #losses: Heard[] = [];
  /** Generations of which a suspension was reported, also to an attempt that was still reading its journal. */
  readonly #suspended = new Set<number>();

  constructor(spec: JobSpec) {
    this.#spec = spec;
  }

  /** The present attempt reads an event; its core has not decided about it yet. */
  heard(event: Event, { state }: Core, nowMs: number): void {
    if (event.type === "child-exited") {
      this.#exited(event, event.exit, nowMs);
    } else if (event.type === "executor-registered" && event.child.state !== "none") {
      const { task, generation, containerId, child } = event;
      const { suspendedMs = 0 } = child;
      const container = state.containers[containerId];
      const isTenant = container?.phase === "held" && container.task === task;
      const isPeer = memberRole(this.#spec, task) !== undefined;
      if (suspendedMs > 0 && isPeer) {
        this.#suspended.add(generation);
      }
      if (suspendedMs > 0 && isTenant && isPeer && state.phase === "under-way") {
        this.#suspensions.push({ task, generation, atMs: nowMs, fromMs: nowMs - suspendedMs });
      }
      if (child.state === "exited") {
        this.#exited(event, child.exit, nowMs);
      }
    }
  }

  /** Whether a suspension may explain why others of the generation fail. */
  mayExplain(generation: number): boolean {
    return this.#suspended.has(generation);
  }

  #exited({ task, generation }: Omit<Heard, "atMs">, exit: ChildExit, atMs: number): void {
    const isKnown = this.#losses.some((one) => one.task === task && one.generation === generation);
    if (exit.peerConnectionLost && !isKnown) {
      this.#losses.push({ task, generation, atMs });
    }
  }

  /** Checks that no program is named as a generation's cause for having lost its peer while a node was known to have been cut off. */
  judge({ state }: Core): string[] {
    const generations = state.gangs.flatMap((gang) => gang.generations);
    return generations.flatMap(({ generation, endedBy }) => {
      const loss = this.#losses.find((one) => one.task === endedBy?.task && one.generation === generation);
      const isPutDown = loss !== undefined && endedBy?.reason.code === "program-exited";
      const suspension = isPutDown ? this.#explaining(loss) : undefined;
      return suspension === undefined
        ? []
        : [`generation ${generation} is put down to "${endedBy?.summary}", and ${suspension.task} had been suspended`];
    });
  }

  /**
   * The suspension that explains the loss: the suspended one is heard while the verdict is open, at the latest when its peers have to
   * have stopped.
   */
  #explaining({ generation, atMs }: Heard): Heard | undefined {
    const { isolationMs, stopGraceMs } = this.#spec.timeouts;
    return this.#suspensions.find(
      (one) =>
        one.generation === generation &&
        one.fromMs - isolationMs + LATE_MS <= atMs &&
        atMs <= one.atMs + isolationMs &&
        one.atMs <= atMs + stopGraceMs,
    );
  }
}
