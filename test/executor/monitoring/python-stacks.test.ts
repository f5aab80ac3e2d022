import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { prepareStacks, STACKS_SIGNAL, takeStacks } from "../../../executor/monitoring/python-stacks.ts";
import { readProcFs } from "../../../executor/processes/proc-fs.ts";
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
