import { sleep } from "../../src/hadoop/clock.ts";
import { Timer } from "../timers.ts";
import type { ProcessIo, ProcessStat, ProcFs } from "./proc-fs.ts";

export interface ProcessTreeOptions {
  /** The program's first process. */
  readonly root: number;
  /** Pids that existed before it was started: a quick search skips them. */
  readonly earlier?: readonly number[];
  /** `NAME=value` that every process of the program was started with. */
  readonly marker: string;
  readonly procFs: ProcFs;
  readonly kill: (pid: number, signal: NodeJS.Signals) => void;
}

/** How often a tree that is ending is checked. */
const LOOK_AGAIN_MS = 20;
/** How many times a signal is followed by a look for processes that were forked just before it arrived. */
const LATE_LOOKS = 5;
/** The longest time to try to stop a whole tree for a moment, and how often it is checked meanwhile. */
const HOLD_LIMIT_MS = 500;
const HOLD_LOOK_MS = 5;
/** The longest time between two checks of a suspended tree for processes that run all the same. */
const LOOK_AT_SUSPENDED_MS = 1_000;
/** A process that SIGKILL does not end within this time is blocked in the kernel: nothing can end it. */
const KILL_LIMIT_MS = 5_000;

/**
 * All processes of a program: the descendants of its first one, and those that left the tree by a double fork, which still have the marker
 * in their environment. A process is identified by pid and start time, so that one with a reused pid is never signalled.
 */
export class ProcessTree {
  readonly #options: ProcessTreeOptions;
  readonly #rootStart: number;
  /** Pids of other programs, which a quick search skips. */
  #foreign: Set<number>;
  /** Start times by pid. */
  #members = new Map<number, number>();
  readonly #suspension = new Timer();
  #isSuspended = false;
  #isHeld = false;
  /** It was resumed while it was held: everything stopped is to continue when the hold ends. */
  #resumesAll = false;

  constructor(options: ProcessTreeOptions) {
    this.#options = options;
    this.#foreign = new Set(options.earlier);
    this.#foreign.delete(options.root);
    this.#rootStart = options.procFs.stat(options.root)?.startTicks ?? Number.POSITIVE_INFINITY;
  }

  /** Every running process of the program. */
  members(): ProcessStat[] {
    this.#foreign.clear();
    return this.sample();
  }

  /** The same, cheaper: pids known to belong to other programs are skipped, at the risk of missing one that was reused. */
  sample(): ProcessStat[] {
    const found = new Map<number, ProcessStat>();
    const pids = this.#options.procFs.pids();
    for (const pid of pids) {
      if (this.#foreign.has(pid)) continue;
      const stat = this.#options.procFs.stat(pid);
      if (stat !== undefined) found.set(pid, stat);
    }
    const members = this.#membersAmong(found);
    this.#foreign = new Set(pids.filter((pid) => !members.has(pid)));
    this.#members = new Map([...members].map(([pid, { startTicks }]) => [pid, startTicks]));
    return [...members.values()].filter(({ state }) => state !== "Z" && state !== "X");
  }

  /** What all of these have read and written; undefined where that is known of none. */
  ioOf(processes: readonly ProcessStat[]): ProcessIo | undefined {
    const known = processes.flatMap(({ pid }) => this.#options.procFs.io(pid) ?? []);
    if (known.length === 0) return undefined;
    const sum = (amount: keyof ProcessIo) => known.reduce((all, io) => all + io[amount], 0);
    return { readBytes: sum("readBytes"), writtenBytes: sum("writtenBytes") };
  }

  /**
   * Sends a signal to every process, including those forked between the look at the tree and the signal's arrival. Processes that a handler
   * of the signal starts do not get it.
   * @param toldGroup a process group that has already got it: a second one would interrupt its handlers
   */
  signal(signal: NodeJS.Signals, toldGroup?: number): void {
    const told = new Set<string>();
    const handlers = new Set<number>();
    for (let look = 0; look <= LATE_LOOKS; look++) {
      const fresh = this.members().filter((member) => !told.has(identity(member)));
      const wanted = look === 0 ? fresh : fresh.filter(({ parent }) => !this.#mayBeOfHandler(parent, handlers));
      if (wanted.length === 0) return;
      for (const { pid } of wanted) if (this.#options.procFs.catches(pid, signal)) handlers.add(pid);
      for (const member of wanted) {
        told.add(identity(member));
        if (member.group !== toldGroup) this.#signalOne(member, signal);
      }
    }
  }

  /** Suspends every process (SIGSTOP), and what they fork meanwhile, until `resume` or `end`. */
  suspend(): void {
    if (this.#isSuspended) return;
    this.#isSuspended = true;
    this.#resumesAll = false;
    this.#keepSuspended(LOOK_AGAIN_MS);
  }

  /** Resumes every process (SIGCONT). */
  resume(): void {
    if (!this.#isSuspended) return;
    this.#endSuspension();
    this.#resumesAll = this.#isHeld;
    if (!this.#isHeld) this.signal("SIGCONT");
  }

  /**
   * Does the work at a moment at which no process runs. If a process cannot be stopped in time, because it waits for a disk, the work is not
   * done and must be tried again.
   */
  async whileStopped(work: () => void): Promise<void> {
    this.#isHeld = true;
    const held = new Map<number, ProcessStat>();
    try {
      if (await this.#holdAll(held)) work();
    } finally {
      this.#release(held.values());
    }
  }

  /** Continues the processes that were held, unless the tree was suspended meanwhile. */
  #release(held: Iterable<ProcessStat>): void {
    this.#isHeld = false;
    if (this.#resumesAll) this.signal("SIGCONT");
    else if (!this.#isSuspended) for (const member of held) this.#signalOne(member, "SIGCONT");
    this.#resumesAll = false;
  }

  /**
   * SIGTERM, a grace period, SIGKILL. Only the processes that exist now get SIGTERM: what their handlers start, to save something, may run
   * until the grace period is over. Resolves with true when no process is left, with false when one survives SIGKILL.
   * @param graceMs read again at each check, so that a later, more urgent stop shortens it
   * @param toldGroup a process group that has already got SIGTERM
   */
  async end(graceMs: () => number, nowMs: () => number, toldGroup?: number): Promise<boolean> {
    const startedAtMs = nowMs();
    this.#endSuspension();
    this.signal("SIGTERM", toldGroup);
    for (;;) {
      const members = this.members();
      if (members.length === 0) return true;
      const overdueMs = nowMs() - startedAtMs - graceMs();
      if (overdueMs > KILL_LIMIT_MS) return false;
      if (overdueMs >= 0) for (const member of members) this.#signalOne(member, "SIGKILL");
      await sleep(LOOK_AGAIN_MS);
    }
  }

  /** A process is seen as stopped when its first thread is: by the second look the others are stopped, too. */
  async #holdAll(held: Map<number, ProcessStat>): Promise<boolean> {
    let stopped = 0;
    for (let look = 0; look * HOLD_LOOK_MS < HOLD_LIMIT_MS && stopped < 2; look++) {
      const running = this.sample().filter(({ state }) => state !== "T" && state !== "t");
      stopped = running.length === 0 ? stopped + 1 : 0;
      for (const member of running) {
        held.set(member.pid, member);
        this.#signalOne(member, "SIGSTOP");
      }
      await sleep(HOLD_LOOK_MS);
    }
    return stopped >= 2;
  }

  #keepSuspended(delayMs: number): void {
    const running = this.members().filter(({ state }) => state !== "T" && state !== "t");
    for (const member of running) this.#signalOne(member, "SIGSTOP");
    const nextMs = running.length > 0 ? LOOK_AGAIN_MS : Math.min(2 * delayMs, LOOK_AT_SUSPENDED_MS);
    this.#suspension.set(nextMs, () => this.#keepSuspended(nextMs));
  }

  #endSuspension(): void {
    this.#suspension.clear();
    this.#isSuspended = false;
  }

  #membersAmong(found: ReadonlyMap<number, ProcessStat>): Map<number, ProcessStat> {
    const members = new Map<number, ProcessStat>();
    const childrenOf = groupByParent(found);
    const take = (stat: ProcessStat) => {
      if (members.has(stat.pid)) return;
      members.set(stat.pid, stat);
      for (const child of childrenOf.get(stat.pid) ?? []) take(child);
    };
    for (const stat of found.values()) if (this.#belongs(stat)) take(stat);
    return members;
  }

  /** Whether it belongs to the program by itself, whatever its parent is now. */
  #belongs(stat: ProcessStat): boolean {
    if (stat.startTicks < this.#rootStart) return false;
    if (stat.pid === this.#options.root) return stat.startTicks === this.#rootStart;
    if (this.#members.get(stat.pid) === stat.startTicks) return true;
    return this.#options.procFs.hasVariable(stat.pid, this.#options.marker);
  }

  /** Whether a new process may have been started by a handler. The parent of an orphan is no longer known, and may have had one. */
  #mayBeOfHandler(parent: number, handlers: ReadonlySet<number>): boolean {
    return this.#members.has(parent) ? handlers.has(parent) : handlers.size > 0;
  }

  #signalOne({ pid, startTicks }: ProcessStat, signal: NodeJS.Signals): void {
    if (this.#options.procFs.stat(pid)?.startTicks !== startTicks) return;
    try {
      this.#options.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** A pid is reused, but a pid and a start time together are not. */
function identity({ pid, startTicks }: ProcessStat): string {
  return `${pid} ${startTicks}`;
}

function groupByParent(stats: ReadonlyMap<number, ProcessStat>): Map<number, ProcessStat[]> {
  const children = new Map<number, ProcessStat[]>();
  for (const stat of stats.values()) {
    const siblings = children.get(stat.parent);
    if (siblings === undefined) children.set(stat.parent, [stat]);
    else siblings.push(stat);
  }
  return children;
}
