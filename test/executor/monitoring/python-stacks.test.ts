import { type ChildProcess, spawn } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { prepareStacks, STACKS_SIGNAL, takeStacks } from "../../../executor/monitoring/python-stacks.ts";
import { type ProcessStat, readProcFs } from "../../../executor/processes/proc-fs.ts";
import type { ProcessStacks } from "../../../src/job/stacks.ts";
import { eventually } from "../../support/eventually.ts";

const procFs = readProcFs();
let folder = "";
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-ts-stacks-"));
});
afterEach(() => {
  for (const { pid = 0 } of children.splice(0)) {
    // With what it has started; one that has ended has left its group.
    if (procFs.stat(pid) !== undefined) process.kill(-pid, "SIGKILL");
  }
  rmSync(folder, { recursive: true });
});

interface Running {
  readonly pid: number;
  readonly said: () => string;
}

/** A process that has said `ready`. */
async function run(file: string, words: readonly string[], pythonPath?: string): Promise<Running> {
  const PYTHONPATH = prepareStacks(folder, pythonPath);
  const env = { PATH: process.env.PATH, PYTHONUNBUFFERED: "1", ...(PYTHONPATH !== undefined && { PYTHONPATH }) };
  const child = spawn(file, words, { env, cwd: folder, detached: true, stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  let said = "";
  child.stdout.on("data", (data) => {
    said += data;
  });
  await eventually(`${file} is ready`, () => said.includes("ready"));
  return { pid: child.pid ?? 0, said: () => said };
}

function python(...lines: string[]): Promise<Running> {
  return run("python3", ["-c", lines.join("\n")]);
}

function take(...pids: readonly number[]): Promise<readonly ProcessStacks[]> {
  const members = pids.flatMap((pid) => procFs.stat(pid) ?? []);
  return takeStacks({ members, procFs, workFolder: folder, kill: (pid, signal) => process.kill(pid, signal) });
}

/** On one line: who has read "ready" finds it there. */
const sleeps = ["while print('ready') or True: time.sleep(0.1)"];

describe("the stacks of a running program", () => {
  it("are written by its Python, which goes on, also once more", async () => {
    const { pid } = await python(
      "import threading, time",
      "threading.Thread(target=time.sleep, args=(9,)).start()",
      ...sleeps,
    );
    for (const _time of [1, 2]) {
      const [taken] = await take(pid);
      expect(taken).toMatchObject({ pid, program: expect.stringMatching(/^python3/) });
      expect(taken?.stacks).toMatch(
        /^Thread 0x.*\n[\s\S]*^Current thread 0x.*\n {2}File "<string>", line 3 in <module>\n$/m,
      );
    }
    expect(procFs.stat(pid)?.state).not.toBe("Z");
  });

  it("are told of each process that a Python has forked, by itself", async () => {
    const { pid, said } = await python(
      ...["import os, time", "child = os.fork()", "if child == 0:", "  while True: time.sleep(0.1)"],
      ...["print(child)", ...sleeps],
    );
    const child = Number.parseInt(said(), 10);
    const taken = await take(pid, child);
    expect(taken.map(({ stacks }) => /line (\d+) in/.exec(stacks ?? "")?.[1])).toEqual(["6", "4"]);
  });

  it("are not asked of a process that is no Python, or whose Python has none of our handler: the signal would end it", async () => {
    const shell = await run("bash", ["-c", "echo ready; sleep 60; true"]);
    const bare = await run("env", ["-u", "PYTHONPATH", "python3", "-c", ["import time", ...sleeps].join("\n")]);
    const own = await run("env", [
      ...["-u", "PYTHONPATH", "python3", "-c"],
      `import signal, time\nsignal.signal(${STACKS_SIGNAL}, lambda *_: print("handled"))\n${sleeps.join("\n")}`,
    ]);
    const without = await python("import signal, time", `signal.signal(${STACKS_SIGNAL}, signal.SIG_DFL)`, ...sleeps);
    const taken = await take(shell.pid, bare.pid, own.pid, without.pid);
    expect(taken.map(({ why }) => why)).toEqual([
      "it is not Python",
      ...Array(3).fill(expect.stringMatching(/^this Python has no handler for it/)),
    ]);
    for (const { pid } of [shell, bare, own, without]) expect(procFs.stat(pid)?.state).toMatch(/^[SR]$/);
    expect(own.said()).not.toContain("handled");
  });

  it("that has put its own handler in place of ours runs that, and does not answer", async () => {
    const { pid } = await python(
      ...["import signal, time", `signal.signal(${STACKS_SIGNAL}, lambda *_: None)`, ...sleeps],
    );
    expect(await take(pid)).toMatchObject([{ why: "it does not answer" }]);
    expect(procFs.stat(pid)?.state).toMatch(/^[SR]$/);
  });
});

describe("a program that can be asked", () => {
  const shown = ["import sys", "print([one for one in sys.path if 'stacks' in one])", "print('ready')"];

  it("finds its own sitecustomize, and the module path that it would have without us", async () => {
    const own = path.join(folder, "own");
    mkdirSync(own);
    writeFileSync(path.join(own, "sitecustomize.py"), "print('its own')\n");
    const { said } = await run("python3", ["-c", shown.join("\n")], own);
    expect(said()).toBe(`its own\n['${own}']\nready\n`);
  });

  it("starts as ever without one", async () => {
    const { said } = await python(...shown, "import sitecustomize");
    expect(said()).toBe("[]\nready\n");
  });
});

describe("who is asked for stacks", () => {
  const stat = (pid: number): ProcessStat => ({
    ...{ pid, parent: 1, group: 1, state: "S", cpuTicks: 0, reapedTicks: 0, startTicks: 1, residentPages: 1 },
  });
  const written = () => path.join(folder, ".tony-stacks", "stacks");
  /** Pythons with our handler, all but those of these numbers. */
  const pythons = (others: Readonly<Record<number, string>> = {}) => ({
    executable: (pid: number) => others[pid] ?? "python3.11",
    catches: (pid: number) => others[pid] === undefined,
    holds: (_pid: number, file: string) => file === realpathSync(written()),
  });
  const takeFrom = (pids: readonly number[], kill: (pid: number) => void, others?: Readonly<Record<number, string>>) =>
    takeStacks({ members: pids.map(stat), procFs: pythons(others), workFolder: folder, kill });
  beforeEach(() => {
    prepareStacks(folder, undefined);
  });

  it("answers by itself, whatever the one before has written, to the end and at most 64 KiB of it", async () => {
    const taken = await takeFrom([7, 8, 9], (pid) => {
      appendFileSync(written(), `Thread ${pid}\n`);
      if (pid === 8) setTimeout(() => appendFileSync(written(), "and more\n"), 25);
      if (pid === 9) appendFileSync(written(), "x".repeat(70_000));
    });
    expect(taken.slice(0, 2).map(({ stacks }) => stacks)).toEqual(["Thread 7\n", "Thread 8\nand more\n"]);
    expect(taken[2]?.stacks).toHaveLength(65_536);
  });

  it("does not answer once it has ended; another error is one", async () => {
    const failing = (code: string) => () => {
      throw Object.assign(new Error("kill"), { code });
    };
    expect(await takeFrom([7], failing("ESRCH"))).toEqual([
      { pid: 7, parent: 1, program: "python3.11", why: "it does not answer" },
    ]);
    await expect(takeFrom([7], failing("EPERM"))).rejects.toThrow("kill");
  });

  it("is left out where nobody knows what it runs; of very many the first 64 are told of", async () => {
    const others = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [100 + index, "bash"]));
    const pids = Object.keys(others).map(Number);
    const taken = await takeFrom([...pids.slice(0, 9), 7, ...pids.slice(9)], () => undefined, { ...others, 7: "" });
    expect(taken.map(({ pid }) => pid)).toEqual(pids.slice(0, 63));
    expect(taken[0]).toEqual({ pid: 100, parent: 1, program: "bash", why: "it is not Python" });
    const named = await takeFrom([7], () => undefined, { 7: "ipython" });
    expect(named).toMatchObject([{ why: "it is not Python" }]);
  });

  it("is found by the place that its folder really has", async () => {
    const link = `${folder}-link`;
    symlinkSync(folder, link);
    const kill = () => appendFileSync(written(), "Thread 7\n");
    const taken = await takeStacks({ members: [stat(7)], procFs: pythons(), workFolder: link, kill });
    rmSync(link);
    expect(taken).toMatchObject([{ stacks: "Thread 7\n" }]);
  });
});

describe("the module path of a program that can be asked", () => {
  it("has ours before its own, generation after generation", () => {
    expect(prepareStacks(folder, undefined)).toBe(path.join(folder, ".tony-stacks"));
    writeFileSync(path.join(folder, ".tony-stacks", "stacks"), "of the one before");
    expect(prepareStacks(folder, "lib:src")).toBe(`${path.join(folder, ".tony-stacks")}:lib:src`);
    expect(readFileSync(path.join(folder, ".tony-stacks", "stacks"), "utf8")).toBe("");
  });

  it("is its own where the folder has no room for ours", () => {
    writeFileSync(path.join(folder, "full"), "");
    for (const own of ["lib", undefined]) expect(prepareStacks(path.join(folder, "full"), own)).toBe(own);
  });
});
