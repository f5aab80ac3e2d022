import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import {
  type ProcessIo,
  type ProcessStat,
  type ProcFs,
  parseIo,
  parseStat,
  readKernelUnits,
  readProcFs,
} from "../../../executor/processes/proc-fs.ts";
import { ProcessTree } from "../../../executor/processes/process-tree.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const marker = "TONY_PROGRAM_OF=c1";

/** A process table in memory. */
class FakeProcesses implements ProcFs {
  readonly table = new Map<number, ProcessStat & { readonly marked: boolean }>();
  readonly killed: string[] = [];
  looked: number[] = [];
  /** Pids with a handler. */
  readonly catching = new Set<number>();
  /** What processes have read and written, of which that is known. */
  readonly counts = new Map<number, ProcessIo>();
  /** What a signal does to a process; default: it ends. */
  onSignal: (pid: number, signal: string) => void = (pid) => this.table.delete(pid);

  add(pid: number, parent: number, { startTicks = pid, marked = false, state = "S", group = 1 } = {}): void {
    this.table.set(pid, {
      pid,
      parent,
      group,
      startTicks,
      marked,
      state,
      cpuTicks: 0,
      reapedTicks: 0,
      residentPages: 1,
    });
  }

  pids(): number[] {
    return [...this.table.keys()];
  }

  stat(pid: number): ProcessStat | undefined {
    this.looked.push(pid);
    return this.table.get(pid);
  }

  io(pid: number): ProcessIo | undefined {
    return this.counts.get(pid);
  }

  executable(): string {
    return "";
  }
  holds(): boolean {
    return false;
  }
  catches(pid: number): boolean {
    return this.catching.has(pid);
  }
  hasVariable(pid: number): boolean {
    return this.table.get(pid)?.marked ?? false;
  }

  tree(root: number, earlier: readonly number[] = []): ProcessTree {
    const kill = (pid: number, signal: NodeJS.Signals) => {
      this.killed.push(`${signal} ${pid}`);
      this.onSignal(pid, signal);
    };
    return new ProcessTree({ root, earlier, marker, procFs: this, kill });
  }
}

function pidsOf(stats: readonly ProcessStat[]): number[] {
  return stats.map(({ pid }) => pid).sort((a, b) => a - b);
}

let processes: FakeProcesses;
beforeEach(() => {
  processes = new FakeProcesses();
});

describe("a program's processes", () => {
  it("are the descendants of the first one", () => {
    for (const [pid, parent] of [
      [100, 1],
      [101, 100],
      [102, 101],
      [103, 1],
      [104, 103],
    ] as const)
      processes.add(pid, parent);
    expect(pidsOf(processes.tree(100).members())).toEqual([100, 101, 102]);
  });

  it("are those, too, that left the tree but carry the marker, with their descendants", () => {
    processes.add(100, 1, { marked: true });
    processes.add(200, 1, { marked: true });
    processes.add(201, 200);
    processes.add(300, 1);
    expect(pidsOf(processes.tree(100).members())).toEqual([100, 200, 201]);
  });

  it("are remembered when they lose their parent, marker or not", () => {
    processes.add(100, 1);
    processes.add(101, 100);
    const tree = processes.tree(100);
    tree.sample();
    processes.table.delete(100);
    processes.add(101, 1);
    expect(pidsOf(tree.sample())).toEqual([101]);
  });

  it("are none that began before the program, whatever they carry", () => {
    processes.add(100, 1, { startTicks: 500 });
    processes.add(90, 1, { startTicks: 499, marked: true });
    expect(pidsOf(processes.tree(100).members())).toEqual([100]);
  });

  it("are also those that began at the same moment, and none of another program with its first one's pid", () => {
    processes.add(100, 1, { startTicks: 500 });
    processes.add(101, 1, { startTicks: 500, marked: true });
    const tree = processes.tree(100);
    processes.add(100, 1, { startTicks: 501 });
    expect(pidsOf(tree.members())).toEqual([101]);
  });

  it("are none where it could not be started, whatever an earlier one of its container has left", () => {
    processes.add(90, 1, { marked: true });
    expect(processes.tree(0).members()).toEqual([]);
  });

  it("do not count when they only wait to be reaped", () => {
    processes.add(100, 1, { state: "Z" });
    processes.add(101, 100);
    processes.add(102, 100, { state: "X" });
    expect(pidsOf(processes.tree(100).members())).toEqual([101]);
  });

  it("are sampled without reading again what belongs to others", () => {
    processes.add(100, 1);
    for (let pid = 1000; pid < 1100; pid += 1) processes.add(pid, 1);
    const tree = processes.tree(100);
    tree.sample();
    processes.looked = [];
    expect(pidsOf(tree.sample())).toEqual([100]);
    expect(processes.looked).toEqual([100]);
  });

  it("are sampled from the first time on without reading what ran before the program", () => {
    for (let pid = 1000; pid < 1100; pid += 1) processes.add(pid, 1);
    const earlier = processes.pids();
    processes.add(5000, 1);
    const tree = processes.tree(5000, earlier);
    processes.add(5001, 5000);
    processes.looked = [];
    expect(pidsOf(tree.sample())).toEqual([5000, 5001]);
    expect(processes.looked).toEqual([5000, 5001]);
  });

  it("are found in full by a pid that somebody else had before the program was started", () => {
    processes.add(5000, 1);
    processes.add(1001, 5000, { startTicks: 5001 });
    const tree = processes.tree(5000, [1000, 1001, 5000]);
    expect(pidsOf(tree.sample())).toEqual([5000]);
    expect(pidsOf(tree.members())).toEqual([1001, 5000]);
  });

  it("are never signalled by a pid that is used again", () => {
    processes.add(100, 1);
    processes.add(101, 100);
    const stat = processes.stat.bind(processes);
    const tree = processes.tree(100);
    // Between the look and the signal 101 ends and somebody else gets its pid.
    processes.stat = (pid) => {
      const found = stat(pid);
      if (pid === 101) processes.add(101, 1, { startTicks: 9999 });
      return found;
    };
    tree.signal("SIGTERM");
    expect(processes.killed).toEqual(["SIGTERM 100"]);
  });

  describe("being signalled", () => {
    /** 100 forks 150 just before the signal arrives, and 150 outlives it. */
    function forking() {
      const processes = new FakeProcesses();
      processes.add(100, 1);
      processes.onSignal = (pid) => {
        processes.table.delete(pid);
        if (pid === 100) processes.add(150, 1, { marked: true });
      };
      return processes;
    }

    it("include what was forked just before the signal arrived", () => {
      const processes = forking();
      processes.tree(100).signal("SIGTERM");
      expect(processes.killed).toEqual(["SIGTERM 100", "SIGTERM 150"]);
    });

    it("are all signalled, though one of them ends meanwhile", () => {
      processes.add(100, 1);
      processes.add(101, 100);
      processes.onSignal = (pid) => {
        processes.table.delete(pid);
        if (pid === 100) throw new Error("ESRCH");
      };
      processes.tree(100).signal("SIGTERM");
      expect(processes.killed).toEqual(["SIGTERM 100", "SIGTERM 101"]);
    });

    it("do not include what a handler may have started", () => {
      const processes = forking();
      processes.catching.add(100);
      processes.tree(100).signal("SIGTERM");
      expect(processes.killed).toEqual(["SIGTERM 100"]);
    });

    it("include what a process without a handler has forked beside one that has one", () => {
      processes.add(100, 1);
      processes.add(101, 100);
      processes.catching.add(100);
      processes.onSignal = (pid) => {
        if (pid === 100) processes.add(150, 100);
        else if (pid === 101) processes.add(151, 101);
      };
      processes.tree(100).signal("SIGINT");
      expect(processes.killed).toEqual(["SIGINT 100", "SIGINT 101", "SIGINT 151"]);
    });

    it("are not followed for ever when they fork without end", () => {
      processes.add(100, 1);
      processes.onSignal = (pid) => processes.add(pid + 1, pid);
      processes.tree(100).signal("SIGUSR1");
      expect(processes.killed).toHaveLength(6);
    });
  });

  describe("being ended", () => {
    it("get TERM once, and it is over when all have ended", async () => {
      processes.add(100, 1);
      processes.add(101, 100);
      const graceMs = () => 1000;
      expect(await processes.tree(100).end(graceMs, () => 0)).toBe(true);
      expect(processes.killed).toEqual(["SIGTERM 100", "SIGTERM 101"]);
    });

    it("may start others to save something, which live until the grace is over", async () => {
      processes.add(100, 1);
      processes.catching.add(100);
      let nowMs = 0;
      processes.onSignal = (pid) => {
        processes.table.delete(pid);
        if (pid === 100) processes.add(150, 1, { marked: true });
      };
      const later = () => {
        nowMs += 100;
        return nowMs;
      };
      expect(await processes.tree(100).end(() => 300, later)).toBe(true);
      expect(processes.killed).toEqual(["SIGTERM 100", "SIGKILL 150"]);
    });

    it("get no second TERM where their group has had one", async () => {
      processes.add(100, 1, { group: 7 });
      processes.add(101, 100, { group: 8 });
      let nowMs = 0;
      processes.onSignal = (pid, signal) => {
        if (signal === "SIGKILL") processes.table.delete(pid);
        nowMs = 300;
      };
      const over = await processes.tree(100).end(
        () => 300,
        () => nowMs,
        7,
      );
      expect(over).toBe(true);
      expect(processes.killed).toEqual(["SIGTERM 101", "SIGKILL 100", "SIGKILL 101"]);
    });

    it("get KILL when the grace is over", async () => {
      processes.add(100, 1);
      let nowMs = 0;
      processes.onSignal = (pid, signal) => {
        if (signal === "SIGKILL") processes.table.delete(pid);
        else nowMs = 300;
      };
      expect(
        await processes.tree(100).end(
          () => 300,
          () => nowMs,
        ),
      ).toBe(true);
      expect(processes.killed).toEqual(["SIGTERM 100", "SIGKILL 100"]);
    });

    it("are given up when one survives KILL, which is sent again for five seconds", async () => {
      processes.add(100, 1);
      let nowMs = 0;
      processes.onSignal = () => {};
      const secondLater = () => {
        nowMs += 1_000;
        return nowMs;
      };
      expect(await processes.tree(100).end(() => 1_000, secondLater)).toBe(false);
      expect(processes.killed).toEqual(["SIGTERM 100", ...Array(6).fill("SIGKILL 100")]);
    });
  });
});

describe("a program's processes, suspended", () => {
  function suspendable() {
    jest.useFakeTimers();
    const processes = new FakeProcesses();
    processes.onSignal = (pid, signal) => {
      const stat = processes.table.get(pid);
      if (signal === "SIGKILL") processes.table.delete(pid);
      else if (stat !== undefined) processes.table.set(pid, { ...stat, state: signal === "SIGSTOP" ? "T" : "S" });
    };
    processes.add(100, 1);
    processes.add(101, 100);
    return processes;
  }
  afterEach(() => {
    jest.useRealTimers();
  });

  it("are all stopped, with what they had forked meanwhile, and looked after while it lasts", () => {
    const processes = suspendable();
    const tree = processes.tree(100);
    tree.suspend();
    processes.add(102, 101);
    jest.advanceTimersByTime(20);
    expect(processes.killed).toEqual(["SIGSTOP 100", "SIGSTOP 101", "SIGSTOP 102"]);
    jest.advanceTimersByTime(60_000);
    processes.onSignal(101, "SIGCONT");
    jest.advanceTimersByTime(1_000);
    expect(processes.killed.slice(3)).toEqual(["SIGSTOP 101"]);
  });

  it("are looked after often at first, also one whose pid another program had; one that a debugger has stopped is left to it", () => {
    const processes = suspendable();
    processes.add(103, 101, { state: "t" });
    processes.add(500, 1);
    processes.tree(100).suspend();
    jest.advanceTimersByTime(30);
    processes.onSignal(101, "SIGCONT");
    processes.add(500, 1, { startTicks: 9_999, marked: true });
    jest.advanceTimersByTime(40);
    expect(processes.killed).toEqual(["SIGSTOP 100", "SIGSTOP 101", "SIGSTOP 101", "SIGSTOP 500"]);
  });

  it("go on, all of them, and are then left alone", () => {
    const processes = suspendable();
    const tree = processes.tree(100);
    tree.suspend();
    tree.resume();
    jest.advanceTimersByTime(60_000);
    expect(processes.killed.slice(2)).toEqual(["SIGCONT 100", "SIGCONT 101"]);
    expect([...processes.table.values()].map(({ state }) => state)).toEqual(["S", "S"]);
  });

  it("get no SIGCONT where none was suspended", () => {
    const processes = suspendable();
    processes.tree(100).resume();
    expect(processes.killed).toEqual([]);
  });

  it("are held for a moment, until every one is seen to stand still twice, and go on", async () => {
    const processes = suspendable();
    const tree = processes.tree(100);
    let seen: string[] = [];
    const held = tree.whileStopped(() => (seen = [...processes.table.values()].map(({ state }) => state)));
    processes.add(102, 101);
    await jest.advanceTimersByTimeAsync(100);
    await held;
    expect(seen).toEqual(["T", "T", "T"]);
    expect(processes.killed.slice(-3)).toEqual(["SIGCONT 100", "SIGCONT 101", "SIGCONT 102"]);
  });

  it("are seen to stand still twice in a row: one that was forked between begins that anew", async () => {
    const processes = suspendable();
    processes.add(103, 101, { state: "t" });
    const work = jest.fn();
    const held = processes.tree(100).whileStopped(work);
    await jest.advanceTimersByTimeAsync(5);
    processes.add(102, 101);
    await jest.advanceTimersByTimeAsync(19);
    expect(work).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(work).toHaveBeenCalled();
    await held;
    expect(processes.killed.filter((one) => one.endsWith("103"))).toEqual([]);
  });

  it("go on where what was to be done at that moment fails", async () => {
    const processes = suspendable();
    const held = processes.tree(100).whileStopped(() => {
      throw new Error("no space");
    });
    const failed = expect(held).rejects.toThrow("no space");
    await jest.advanceTimersByTimeAsync(100);
    await failed;
    expect(processes.killed.slice(-2)).toEqual(["SIGCONT 100", "SIGCONT 101"]);
  });

  it("stay suspended where they were resumed and suspended again within the moment", async () => {
    const processes = suspendable();
    const tree = processes.tree(100);
    tree.suspend();
    const held = tree.whileStopped(() => {});
    tree.resume();
    tree.suspend();
    await jest.advanceTimersByTimeAsync(100);
    await held;
    expect(processes.killed).not.toContain("SIGCONT 100");
    tree.resume();
    expect(processes.killed.slice(-2)).toEqual(["SIGCONT 100", "SIGCONT 101"]);
  });

  it("are not held for what cannot be done because one of them does not stop, and go on", async () => {
    const processes = suspendable();
    processes.onSignal = () => {};
    const work = jest.fn();
    const held = processes.tree(100).whileStopped(work);
    await jest.advanceTimersByTimeAsync(1_000);
    await held;
    expect(work).not.toHaveBeenCalled();
    expect(processes.killed.slice(-2)).toEqual(["SIGCONT 100", "SIGCONT 101"]);
  });

  it("stay suspended when the moment is over, and are not resumed within it", async () => {
    const processes = suspendable();
    const tree = processes.tree(100);
    const held = tree.whileStopped(() => {});
    tree.suspend();
    await jest.advanceTimersByTimeAsync(100);
    await held;
    expect(processes.killed).not.toContain("SIGCONT 100");
    const again = tree.whileStopped(() => {});
    tree.resume();
    expect(processes.killed).not.toContain("SIGCONT 100");
    await jest.advanceTimersByTimeAsync(100);
    await again;
    expect([...processes.table.values()].map(({ state }) => state)).toEqual(["S", "S"]);
    // What was resumed within one moment is not within the next.
    tree.suspend();
    const before = processes.killed.length;
    const later = tree.whileStopped(() => {});
    await jest.advanceTimersByTimeAsync(100);
    await later;
    expect(processes.killed.slice(before)).not.toContain("SIGCONT 100");
    tree.resume();
    expect([...processes.table.values()].map(({ state }) => state)).toEqual(["S", "S"]);
  });

  it("are ended where they stand", async () => {
    const processes = suspendable();
    const tree = processes.tree(100);
    tree.suspend();
    const over = tree.end(
      () => 0,
      () => 0,
    );
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await over).toBe(true);
    expect(processes.killed.slice(-2)).toEqual(["SIGKILL 100", "SIGKILL 101"]);
    expect(processes.killed).not.toContain("SIGCONT 100");
    expect(jest.getTimerCount()).toBe(0);
  });
});

it("what a program's processes read and write is the sum of those that tell it, and not known where none does", () => {
  for (const pid of [100, 101, 102]) processes.add(pid, pid - 1);
  const tree = processes.tree(100);
  expect(tree.ioOf(tree.sample())).toBeUndefined();
  processes.counts.set(100, { readBytes: 1, writtenBytes: 20 });
  processes.counts.set(102, { readBytes: 4, writtenBytes: 80 });
  processes.counts.set(99, { readBytes: 1_000, writtenBytes: 1_000 });
  expect(tree.ioOf(tree.sample())).toEqual({ readBytes: 5, writtenBytes: 100 });
});

describe("/proc", () => {
  it("gives a process's fields, whatever its name is", () => {
    const rest = "S 7 8 9 0 -1 4194304 1 2 3 4 50 25 6 5 20 0 1 0 123456 1000 77 18446744073709551615";
    expect(parseStat(`42 (a) (b c) ${rest}`)).toEqual({
      pid: 42,
      parent: 7,
      group: 8,
      state: "S",
      cpuTicks: 75,
      reapedTicks: 11,
      startTicks: 123456,
      residentPages: 77,
    });
  });

  it("gives nothing of a process that is gone", () => {
    expect(parseStat("")).toBeUndefined();
    expect(readProcFs().stat(2 ** 22 + 1)).toBeUndefined();
  });

  it("gives what a process had read from disks and written to them, not what it read of sockets and pipes", () => {
    const lines = ["rchar: 9", "wchar: 8", "syscr: 7", "syscw: 6", "read_bytes: 4096", "write_bytes: 8192"];
    expect(parseIo([...lines, "cancelled_write_bytes: 1", ""].join("\n"))).toEqual({
      readBytes: 4096,
      writtenBytes: 8192,
    });
    expect(parseIo(lines.slice(0, 4).join("\n"))).toBeUndefined();
    expect(readProcFs().io(2 ** 22 + 1)).toBeUndefined();
  });

  describe("of a process", () => {
    const folder = temporaryFolder();
    const place = (file: string, content: string) => {
      mkdirSync(path.join(folder.path, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(folder.path, file), content);
    };

    it("is a folder whose name is a number", () => {
      for (const name of ["7", "42", "self", "42a"]) mkdirSync(path.join(folder.path, name));
      expect(readProcFs(folder.path).pids().sort()).toEqual([42, 7]);
    });

    it("names what it runs, and tells whether it has a file open", () => {
      mkdirSync(path.join(folder.path, "7/fd"), { recursive: true });
      symlinkSync("/usr/bin/python3.11", path.join(folder.path, "7/exe"));
      symlinkSync("/work/stacks", path.join(folder.path, "7/fd/500"));
      const procFs = readProcFs(folder.path);
      expect([procFs.executable(7), procFs.executable(8)]).toEqual(["python3.11", ""]);
      expect(["/work/stacks", "/work/stack", "/work"].map((file) => procFs.holds(7, file))).toEqual([
        true,
        false,
        false,
      ]);
      expect(procFs.holds(8, "/work/stacks")).toBe(false);
    });

    it("tells the signals that it has handlers for", () => {
      place("7/status", "Name:\tpython\nSigIgn:\t0000000000000800\nSigCgt:\t0002000000000200\nCapInh:\t0\n");
      const procFs = readProcFs(folder.path);
      const caught = (["SIGUSR1", 10, 50, "SIGKILL", "SIGSEGV", "SIGUSR2"] as const).filter((signal) =>
        procFs.catches(7, signal),
      );
      expect(caught).toEqual(["SIGUSR1", 10, 50]);
      expect(procFs.catches(8, "SIGUSR1")).toBe(false);
    });

    it("tells the whole variables that it was started with", () => {
      place("7/environ", "A=1\0MARK=c_1\0C=3");
      const procFs = readProcFs(folder.path);
      const wanted = ["A=1", "MARK=c_1", "C=3", "MARK=c_", "ARK=c_1", "MARK=c_11", "B=2"];
      expect(wanted.filter((variable) => procFs.hasVariable(7, variable))).toEqual(["A=1", "MARK=c_1", "C=3"]);
      expect(procFs.hasVariable(8, "A=1")).toBe(false);
    });
  });

  it("tells this very process", () => {
    const procFs = readProcFs();
    expect(procFs.pids()).toContain(process.pid);
    expect(procFs.stat(process.pid)).toMatchObject({ pid: process.pid, parent: process.ppid });
    const [name, value] = Object.entries(process.env).find(([, text]) => text !== undefined && text.length > 3) ?? [];
    expect(procFs.hasVariable(process.ppid, `${name}=${value}`.slice(0, -1))).toBe(false);
  });

  it("tells the kernel's units, which are the usual ones where it tells none", () => {
    const vector = Buffer.alloc(56);
    for (const [at, number] of [3, 6, 6, 65_536, 17, 250].entries()) vector.writeBigUInt64LE(BigInt(number), at * 8);
    expect(readKernelUnits(vector)).toEqual({ pageBytes: 65_536, ticksPerSecond: 250 });
    expect(readKernelUnits(vector.subarray(0, 8))).toEqual({ pageBytes: 4_096, ticksPerSecond: 100 });
  });

  it("tells this kernel's units", () => {
    const { pageBytes, ticksPerSecond } = readKernelUnits();
    const { residentPages = 0 } = readProcFs().stat(process.pid) ?? {};
    expect((residentPages * pageBytes) / process.memoryUsage.rss()).toBeCloseTo(1, 0);
    expect(ticksPerSecond).toBe(100);
  });
});
