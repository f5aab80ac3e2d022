/** One of the processes of a task; all tasks have equally many. */
export interface TaskProcess {
  /** The task's number within its role. */
  readonly task: number;
  /** From 0. */
  readonly process: number;
}

/** The place of a process among all that train (horovod/runner/common/util/hosts.py, SlotInfo); each task counts as a host. */
export interface Slot {
  readonly rank: number;
  readonly size: number;
  readonly localRank: number;
  readonly localSize: number;
  readonly crossRank: number;
  readonly crossSize: number;
}

/** The result of a meeting. */
export type Round =
  | {
      readonly type: "met";
      readonly tasks: readonly number[];
      readonly slotOf: (asker: TaskProcess) => Slot | undefined;
    }
  | { readonly type: "too-few" };

export interface MeetingOptions {
  /** Number of processes in each task. */
  readonly processes: number;
  /** With fewer tasks than this, nobody trains. */
  readonly least: number;
  /** The tasks that start together. */
  readonly expected: readonly number[];
  /** How long the first processes wait for one of these that does not arrive. */
  readonly patienceMs: number;
  /** How long too few processes wait for more. */
  readonly enoughMs: number;
}

/**
 * Decides who trains together and with which ranks, as Horovod's own driver does for the processes that it has started
 * (horovod/runner/elastic/driver.py and registration.py). A process asks for its slot before it starts, and again whenever it has lost a
 * peer or was told that others wait. When all present processes have asked, they meet in a round. This runs next to task 0, which is
 * part of every round: rank 0 is its first process, and the others take their state from it.
 */
export class Meeting {
  readonly #options: MeetingOptions;
  readonly #present = new Map<number, Set<number>>();
  readonly #asking = new Map<number, Set<number>>();
  /** The tasks that train; undefined before the first round. */
  #members: readonly number[] | undefined;
  #firstAskedAtMs: number | undefined;
  #tooFewSinceMs: number | undefined;
  #isShareDone = false;

  constructor(options: MeetingOptions) {
    this.#options = options;
  }

  /** A process that has not started yet asks for its slot. Its earlier life, if any, is over, whether or not that was noticed. */
  join(joiner: TaskProcess, nowMs: number): void {
    this.leave(joiner);
    add(this.#present, joiner);
    add(this.#asking, joiner);
    this.#firstAskedAtMs ??= nowMs;
  }

  /** A running process asks again. @returns false for a process that is not known to run */
  ask(asker: TaskProcess): boolean {
    if (this.#present.get(asker.task)?.has(asker.process) !== true) return false;
    add(this.#asking, asker);
    return true;
  }

  /** A process has ended, and its task no longer trains. */
  leave({ task, process }: TaskProcess): void {
    this.#present.get(task)?.delete(process);
    this.#asking.get(task)?.delete(process);
    this.#members = this.#members?.filter((member) => member !== task);
  }

  /** A process has finished its share: the remaining ones, however few, wait for no others and admit none. */
  done(): void {
    this.#isShareDone = true;
  }

  /** Whether the task arrived after others had finished their share. */
  isTooLate(task: number): boolean {
    return this.#isShareDone && this.#members?.includes(task) === false;
  }

  /** Whether tasks wait for admission while others train, who have to be told. */
  get isAwaited(): boolean {
    return this.#members !== undefined && !this.#asks(0) && this.#ready.some((task) => !this.#members?.includes(task));
  }

  /** When the meeting has to be checked even without an event. */
  get dueMs(): number | undefined {
    const { patienceMs, enoughMs } = this.#options;
    if (this.#tooFewSinceMs !== undefined) return this.#tooFewSinceMs + enoughMs;
    return this.#members === undefined && this.#firstAskedAtMs !== undefined
      ? this.#firstAskedAtMs + patienceMs
      : undefined;
  }

  /** Answers those that ask, if that is possible now; an answered process has to ask again. */
  close(nowMs: number): Round | undefined {
    const ready = this.#ready;
    if (!ready.includes(0) || this.#isSomebodyAwaited(nowMs)) return undefined;
    if (ready.length < this.#options.least && !this.#isShareDone) return this.#tooFew(nowMs);
    this.#members = ready;
    return this.#closed({ type: "met", tasks: ready, slotOf: slotsOf(ready, this.#options.processes) });
  }

  #tooFew(nowMs: number): Round | undefined {
    this.#tooFewSinceMs ??= nowMs;
    return nowMs - this.#tooFewSinceMs < this.#options.enoughMs ? undefined : this.#closed({ type: "too-few" });
  }

  #closed(round: Round): Round {
    this.#tooFewSinceMs = undefined;
    this.#asking.clear();
    return round;
  }

  /** At first, the tasks that start together are awaited as long as patience lasts; later those that train, until they ask or end. */
  #isSomebodyAwaited(nowMs: number): boolean {
    const { expected, patienceMs } = this.#options;
    if (this.#members !== undefined) return this.#members.some((task) => !this.#asks(task));
    return expected.some((task) => !this.#asks(task)) && nowMs - (this.#firstAskedAtMs ?? nowMs) < patienceMs;
  }

  /** In the order of their ranks. */
  get #ready(): number[] {
    const tasks = [...this.#asking.keys()].filter((task) => this.#asks(task) && !this.isTooLate(task));
    return tasks.sort((a, b) => a - b);
  }

  #asks(task: number): boolean {
    return this.#asking.get(task)?.size === this.#options.processes;
  }
}

function add(processes: Map<number, Set<number>>, { task, process }: TaskProcess): void {
  const ofTask = processes.get(task) ?? new Set();
  processes.set(task, ofTask.add(process));
}

function slotsOf(tasks: readonly number[], processes: number): (asker: TaskProcess) => Slot | undefined {
  return ({ task, process }) => {
    const host = tasks.indexOf(task);
    if (host === -1) return undefined;
    return {
      rank: host * processes + process,
      size: tasks.length * processes,
      localRank: process,
      localSize: processes,
      crossRank: host,
      crossSize: tasks.length,
    };
  };
}
