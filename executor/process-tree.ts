import { sleep } from "../src/hadoop/clock.ts";
import type { ProcessStat, ProcFs } from "./proc-fs.ts";

export interface ProcessTreeOptions {
  /** The program's first process. */
  readonly root: number;
  /** Pids of before it was started: a quick search need not find out whose they are. */
  readonly earlier?: readonly number[];
  /** `NAME=value` that every process of the program was started with. */
  readonly marker: string;
  readonly procFs: ProcFs;
  readonly kill: (pid: number, signal: NodeJS.Signals) => void;
}

/** How often a tree that is ending is looked at. */
const LOOK_AGAIN_MS = 20;
/** How often, at least, a tree that is suspended is looked at for what runs in it all the same. */
const LOOK_AT_SUSPENDED_MS = 1_000;
/** A process that KILL does not end within this time sits in the kernel, and nobody can end it. */
const KILL_LIMIT_MS = 5_000;

/**
 * All processes of a program: the descendants of its first one, and those that left the tree by a double fork, which still carry the
 * marker. A process is named by pid and start time, so that a pid that is used again is never signalled.
 */
export class ProcessTree {
  readonly #options: ProcessTreeOptions;
  readonly #rootStart: number;
  /** Known to be others': not looked at by a quick search. */
  #foreign: Set<number>;
  /** Start times by pid. */
  #members = new Map<number, number>();
  #suspension: NodeJS.Timeout | undefined;

  constructor(options: ProcessTreeOptions) {
    this.#options = options;
    this.#foreign = new Set(options.earlier);
    this.#foreign.delete(options.root);
    this.#rootStart = options.procFs.stat(options.root)?.startTicks ?? Number.POSITIVE_INFINITY;
  }

  /** Every process of the program that runs. */
  members(): ProcessStat[] {
    this.#foreign.clear();
    return this.sample();
  }

  /** The same for the price of a glance: pids known as others' are skipped, at the risk of missing one that was used again. */
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

  /** Sends a signal to every process; how many there were. */
  signal(signal: NodeJS.Signals): number {
    const members = this.members();
    for (const member of members) this.#signalOne(member, signal);
    return members.length;
  }

  /** Stops every process (SIGSTOP), and what they may have forked meanwhile, until `resume` or `end`. */
  suspend(): void {
    if (this.#suspension === undefined) this.#keepSuspended(LOOK_AGAIN_MS);
  }

  /** Lets every process go on (SIGCONT). */
  resume(): void {
    if (this.#suspension === undefined) return;
    this.#endSuspension();
    this.signal("SIGCONT");
  }

  /**
   * TERM, the grace, KILL. TERM is for the processes that there are now: what their handlers start, to save something, lives until the
   * grace is over. Resolves when nothing runs any more, with true; false when something resists even KILL.
   * @param graceMs read anew at each look, so that a later, more urgent stop shortens it
   * @param toldGroup a process group that has had its TERM: a second one would end what a handler is doing
   */
  async end(graceMs: () => number, nowMs: () => number, toldGroup?: number): Promise<boolean> {
    const startedAtMs = nowMs();
    this.#endSuspension();
    for (const member of this.members()) if (member.group !== toldGroup) this.#signalOne(member, "SIGTERM");
    for (;;) {
      const members = this.members();
      if (members.length === 0) return true;
      const overdueMs = nowMs() - startedAtMs - graceMs();
      if (overdueMs > KILL_LIMIT_MS) return false;
      if (overdueMs >= 0) for (const member of members) this.#signalOne(member, "SIGKILL");
      await sleep(LOOK_AGAIN_MS);
    }
  }

  #keepSuspended(delayMs: number): void {
    const running = this.members().filter(({ state }) => state !== "T" && state !== "t");
    for (const member of running) this.#signalOne(member, "SIGSTOP");
    const nextMs = running.length > 0 ? LOOK_AGAIN_MS : Math.min(2 * delayMs, LOOK_AT_SUSPENDED_MS);
    this.#suspension = setTimeout(() => this.#keepSuspended(nextMs), nextMs);
  }

  #endSuspension(): void {
    clearTimeout(this.#suspension);
    this.#suspension = undefined;
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

  /** By itself, whoever its parent is now. */
  #belongs(stat: ProcessStat): boolean {
    if (stat.startTicks < this.#rootStart) return false;
    if (stat.pid === this.#options.root) return stat.startTicks === this.#rootStart;
    if (this.#members.get(stat.pid) === stat.startTicks) return true;
    return this.#options.procFs.hasVariable(stat.pid, this.#options.marker);
  }

  #signalOne({ pid, startTicks }: ProcessStat, signal: NodeJS.Signals): void {
    if (this.#options.procFs.stat(pid)?.startTicks !== startTicks) return;
    try {
      this.#options.kill(pid, signal);
    } catch {
      // It ended in between.
    }
  }
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
