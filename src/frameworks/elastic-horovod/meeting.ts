/** One of the processes that each task has, all tasks as many. */
export interface TaskProcess {
  /** The task's number within its role. */
  readonly task: number;
  /** From 0. */
  readonly process: number;
}

/** Where a process stands among all that train (horovod/runner/common/util/hosts.py, SlotInfo); each task counts as a host. */
export interface Slot {
  readonly rank: number;
  readonly size: number;
  readonly localRank: number;
  readonly localSize: number;
  readonly crossRank: number;
  readonly crossSize: number;
}

/** What a meeting comes to. */
export type Round =
  | {
      readonly type: "met";
      readonly tasks: readonly number[];
      readonly slotOf: (asker: TaskProcess) => Slot | undefined;
    }
  | { readonly type: "too-few" };

export interface MeetingOptions {
  /** Processes of each task. */
  readonly processes: number;
  /** With fewer tasks nobody trains. */
  readonly least: number;
  /** The tasks that start together. */
  readonly expected: readonly number[];
  /** How long those that came first wait for one of these that does not come. */
  readonly patienceMs: number;
  /** How long too few wait for more. */
  readonly enoughMs: number;
}

/**
 * Who trains together, and with which ranks: what Horovod's own driver decides for the processes that it has started
 * (horovod/runner/elastic/driver.py and registration.py). A process asks for its slot before it starts, and again whenever it has lost a
 * peer or was told that others wait. When all that are there have asked, they meet in a round. Task 0, beside which this is decided, is
 * part of each: rank 0 is its first process, from which the others take their state.
 */
export class Meeting {
  readonly #options: MeetingOptions;
  readonly #present = new Map<number, Set<number>>();
  readonly #asking = new Map<number, Set<number>>();
  /** Who trains; undefined before the first round. */
  #members: readonly number[] | undefined;
  #firstAskedAtMs: number | undefined;
  #tooFewSinceMs: number | undefined;
  #isShareDone = false;

  constructor(options: MeetingOptions) {
    this.#options = options;
  }

  /** A process that has not started yet asks for its slot. Its life before, if it had one, is over, whether that was noticed or not. */
  join(joiner: TaskProcess, nowMs: number): void {
    this.leave(joiner);
    add(this.#present, joiner);
    add(this.#asking, joiner);
    this.#firstAskedAtMs ??= nowMs;
  }

  /** A process that runs asks again. @returns false for one that is not known to run */
  ask(asker: TaskProcess): boolean {
    if (this.#present.get(asker.task)?.has(asker.process) !== true) return false;
    add(this.#asking, asker);
    return true;
  }

  /** A process has ended, and its task trains no longer. */
  leave({ task, process }: TaskProcess): void {
    this.#present.get(task)?.delete(process);
    this.#asking.get(task)?.delete(process);
    this.#members = this.#members?.filter((member) => member !== task);
  }

  /** A process has done its share: however few are left, they do not wait for more, and take nobody in any more. */
  done(): void {
    this.#isShareDone = true;
  }

  /** Whether the task has come when others had done their share. */
  isTooLate(task: number): boolean {
    return this.#isShareDone && this.#members?.includes(task) === false;
  }

  /** Whether tasks wait to be taken in while others train, who must be told. */
  get isAwaited(): boolean {
    return this.#members !== undefined && !this.#asks(0) && this.#ready.some((task) => !this.#members?.includes(task));
  }

  /** When the meeting is to be looked at though nothing has happened. */
  get dueMs(): number | undefined {
    const { patienceMs, enoughMs } = this.#options;
    if (this.#tooFewSinceMs !== undefined) return this.#tooFewSinceMs + enoughMs;
    return this.#members === undefined && this.#firstAskedAtMs !== undefined
      ? this.#firstAskedAtMs + patienceMs
      : undefined;
  }

  /** Whether those that ask can be answered now; who was answered has to ask again. */
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

  /** At first those that start together, as long as patience lasts; then the ones that train, until they ask or end. */
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
