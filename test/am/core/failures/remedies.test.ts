import { describe, expect, test } from "@jest/globals";
import type { ChildExit } from "../../../../am/core/state/events.ts";
import type { FileToShip, RoleSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

interface Job {
  readonly command?: string;
  readonly environment?: RoleSpec["environment"];
  readonly files?: RoleSpec["files"];
  readonly sources?: Readonly<Record<string, string>>;
  readonly containerEnvironment?: RoleSpec["environment"];
}

/** What the report advises when the job's only program ends so. */
function advice(
  exit: Partial<ChildExit>,
  { sources = { "tony.worker.command": "job.xml:5" }, containerEnvironment = {}, ...of }: Job = {},
) {
  const base = jobSpec([role("worker", 1, of)], { sources, containerEnvironment });
  const scenario = new Scenario({ ...base, failure: { ...base.failure, budgets: { program: 0, infrastructure: 0 } } });
  scenario.toRunning();
  scenario.exits("worker:0", { exitCode: 1, ...exit });
  return scenario.core.state.outcome?.cause?.remedy;
}

describe("the advice", () => {
  const missing = {
    errorSummary: "ModuleNotFoundError: No module named 'torch'",
    lastLines: ["    import torch", "ModuleNotFoundError: No module named 'torch'"],
  };

  test("for a missing module names the interpreter that was used, and the key that sets another one", () => {
    expect(advice(missing, { command: "OMP_NUM_THREADS=1 /usr/bin/python3.11 train.py" })).toBe(
      "/usr/bin/python3.11 on that node does not have it: name another Python in tony.worker.command (job.xml:5), or ship one with --python_venv",
    );
    expect(advice(missing, { command: "./run.sh" })).toMatch(/^its Python on that node does not have it/);
    const sources = { "tony.containers.command": "-executes" };
    expect(advice(missing, { command: "python3 train.py", sources })).toContain("name another Python in --executes");
    const byOption = { ...sources, "tony.python-exec-path": "--python_binary_path" };
    expect(advice(missing, { command: "python3 train.py", sources: byOption })).toContain("in --python_binary_path");
  });

  test("for a missing module of a command that names its Python by a variable says where to set the variable", () => {
    const of = { command: '"${PYTHON:-python3}" train.py', environment: { PYTHON: "/opt/bin/python3" } };
    expect(advice(missing, { ...of, sources: { "tony.execution.envs": "job.xml:7" } })).toBe(
      "/opt/bin/python3 on that node does not have it: name another Python as PYTHON in tony.execution.envs (job.xml:7), or ship one with --python_venv",
    );
    expect(advice(missing, { ...of, environment: {} })).toContain(
      "python3 on that node does not have it: name another Python as PYTHON in",
    );
  });

  test.each([
    ["the role's own", { "tony.worker.envs": "a:1", "tony.containers.envs": "b:2" }, {}, "tony.worker.envs (a:1)"],
    ["that of all containers", { "tony.containers.envs": "b:2" }, {}, "tony.containers.envs (b:2)"],
    ["that of all programs", { "tony.execution.envs": "c:3" }, {}, "tony.execution.envs (c:3)"],
    [
      "that of all programs where it set the variable",
      { "tony.containers.envs": "b:2", "tony.execution.envs": "c:3" },
      { PYTHON: "/opt/own/python3" },
      "tony.execution.envs (c:3)",
    ],
  ])(
    "for a missing module names the key that set the variable of the command: %s",
    (_whose, sources, environment, key) => {
      const containerEnvironment = { PYTHON: "/opt/all/python3" };
      const of = { command: "$PYTHON train.py", environment, containerEnvironment, sources };
      expect(advice(missing, of)).toContain(`name another Python as PYTHON in ${key}`);
      expect(advice(missing, of)).toMatch("PYTHON" in environment ? /^\/opt\/own\/python3 / : /^\/opt\/all\/python3 /);
      const misnamed = { kind: "module", missing: "torch", found: "torchx.py" } as const;
      expect(advice({ ...missing, misnamed }, of)).toMatch(/^the container has torchx\.py: did you mean that\?/);
    },
  );

  test("for a missing module of an environment that the job ships: to install it there", () => {
    const files: RoleSpec["files"] = [{ source: "/home/ada/v", name: "v", as: "archive" }];
    const mend =
      "v/bin/python, which the job ships, does not have it: install it into v (without -e), or name another Python in tony.worker.command (job.xml:5)";
    expect(advice(missing, { command: "v/bin/python train.py", files })).toBe(mend);
    expect(advice(missing, { command: ". ./v/bin/activate && python train.py", files })).toMatch(/install it into v /);
    expect(advice(missing, { command: '"$PWD/v/bin/python3" train.py', files })).toMatch(/install it into v /);
    const byVariable = { command: "$PYTHON train.py", environment: { PYTHON: "v/bin/python" }, files };
    expect(advice(missing, byVariable)).toMatch(/install it into v .* as PYTHON in/);
    const python = (path: string) => ({ ...missing, lastLines: [`${path}: No module named torch`] });
    const command = "bash run.sh";
    expect(advice(python("/data/container_e1_1_1_01_2/v/bin/python"), { command, files })).toMatch(
      /install it into v /,
    );
    for (const other of ["/usr/bin/python3", "/opt/v/bin/python3"]) {
      const own = { command: "v/bin/python -m launcher", files };
      expect(advice(python(other), own)).toMatch(/on that node does not have it/);
    }
    expect(advice(missing, { command: "w/bin/python train.py", files })).toMatch(/on that node does not have it/);
  });

  test("for what an exception followed from, unless another way was tried after it", () => {
    const raised = { errorSummary: "RuntimeError: no model", lastLines: ["RuntimeError: no model"] };
    const error = "ModuleNotFoundError: No module named 'torch'";
    const advised = (how: "cause" | "context" | "child") =>
      advice({ ...raised, errorOrigin: { how, error } }, { command: "python3 train.py" });
    expect(advised("cause")).toMatch(/^python3 on that node does not have it/);
    expect(advised("child")).toMatch(/^python3 on that node does not have it/);
    expect(advised("context")).toBeUndefined();
    const file = "FileNotFoundError: [Errno 2] No such file or directory: 'data/x.csv'";
    expect(advice({ ...raised, errorOrigin: { how: "context", error: file } })).toMatch(/ships no data\/x\.csv/);
  });

  test("is none for a script that a helper did not find, after which the program went on", () => {
    const lastLines = ["python3: can't open file '/c_2/helper.py': [Errno 2] No such file", "no helper, giving up"];
    expect(advice({ exitCode: 7, lastLines }, { command: "./run.sh" })).toBeUndefined();
  });

  test("for a missing module that -m names has the interpreter that reported it", () => {
    const lastLines = ["/usr/bin/python3: No module named torch"];
    expect(advice({ ...missing, lastLines }, { command: "bash run.sh" })).toMatch(/^\/usr\/bin\/python3 on that node/);
    const specification = [
      "/usr/bin/python3: Error while finding module specification for 'torch.x' (ModuleNotFoundError: No …)",
    ];
    expect(advice({ ...missing, lastLines: specification }, { command: "python3 -m torch.x" })).toMatch(
      /^\/usr\/bin\/python3 on that node does not have it: name another Python in tony\.worker\.command/,
    );
  });

  test("for a file that the program opens and the job does not ship names the keys that ship it", () => {
    const opened = (file: string) => ({
      errorSummary: `FileNotFoundError: [Errno 2] No such file or directory: '${file}'`,
    });
    expect(advice(opened("train.csv"))).toBe(
      "the job ships no train.csv: if the program reads it, ship it with tony.containers.resources, tony.worker.resources or --src_dir",
    );
    expect(advice(opened("./data/train.csv"))).toMatch(
      /^the job ships no data\/train\.csv: .*; if it writes it, create/,
    );
    for (const file of [
      "/data/train.csv",
      "../train.csv",
      "data/../../x",
      "~/x",
      "~ada/x",
      "hdfs://nn/x",
      "a' -> 'b",
    ]) {
      expect(advice(opened(file))).toBeUndefined();
    }
  });

  test("for a file that the container has under another name: that name", () => {
    const misnamed = { kind: "file", missing: "Train.py", found: "train.py" } as const;
    const lastLines = ["python3: can't open file '/c_2/Train.py': [Errno 2] No such file or directory"];
    expect(advice({ exitCode: 2, lastLines, misnamed }, { command: "python3 ./Train.py" })).toBe(
      "the container has no Train.py, but train.py: did you mean that in tony.worker.command (job.xml:5)?",
    );
    const data = { kind: "file", missing: "data/trian.csv", found: "data/train.csv" } as const;
    expect(advice({ misnamed: data }, { command: "python3 train.py" })).toBe(
      "the container has no data/trian.csv, but data/train.csv: did you mean that?",
    );
    const shell = { failedToStart: true, lastLines: ["/bin/bash: line 1: ./rum.sh: No such file or directory"] };
    const script = { kind: "file", missing: "rum.sh", found: "run.sh" } as const;
    expect(advice({ ...shell, misnamed: script }, { command: "./rum.sh" })).toMatch(
      /but run\.sh: did you mean that in/,
    );
  });

  test("for a module that the container has under another name, or where Python does not look, has that place", () => {
    const of = { command: "python3 train.py" };
    const misnamed = { kind: "module", missing: "torch", found: "torchx.py" } as const;
    expect(advice({ ...missing, misnamed }, of)).toBe(
      "the container has torchx.py: did you mean that? If not: python3 on that node does not have it: name another Python in tony.worker.command (job.xml:5), or ship one with --python_venv",
    );
    const elsewhere = { kind: "module", missing: "nets.torch", found: "lib/torch.py" } as const;
    expect(advice({ ...missing, misnamed: elsewhere }, of)).toBe(
      "the container has lib/torch.py, where Python does not look for nets.torch: add its folder to PYTHONPATH",
    );
  });

  test("for a missing file does not claim that the job ships none where it may ship it", () => {
    const errorSummary = "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.csv'";
    const shipping = (file: Pick<FileToShip, "name" | "as">) =>
      advice({ errorSummary }, { files: [{ ...file, source: "/home/ada/x" }] });
    expect(shipping({ name: "other", as: "archive" })).toMatch(/^the job ships no data/);
    expect(shipping({ name: "data", as: "archive" })).toBeUndefined();
    expect(shipping({ name: "src", as: "working-directory" })).toBeUndefined();
  });

  test("for a port that another process has names the ports that are kept free", () => {
    const error = "OSError: [Errno 98] Address already in use";
    const hint =
      "if that port is why it ended: another process on that node has it, or the program opens it twice; let it open TONY_PORT, " +
      "which is kept free for it, or name ports in tony.worker.ports";
    expect(advice({ exitCode: 1, traceback: `Traceback …\n${error}`, errorSummary: error })).toBe(hint);
    expect(advice({ exitCode: 1, lastLines: ["Error: listen EADDRINUSE: address already in use :::8080"] })).toBe(hint);
    const logged = { lastLines: [error], traceback: "Traceback …\nValueError", errorSummary: "ValueError" };
    expect(advice({ exitCode: 1, ...logged })).toBeUndefined();
  });

  test("for a missing module is another Python, unless the program went on printing after it", () => {
    const error = "ModuleNotFoundError: No module named 'apex'";
    const exit = { exitCode: 1, traceback: `Traceback …\n${error}`, errorSummary: error };
    expect(advice({ ...exit, lastLines: ["Traceback …", `[rank0]: ${error}`] })).toMatch(
      /on that node does not have it/,
    );
    expect(advice({ ...exit, lastLines: [error, "loss is nan, giving up"] })).toBeUndefined();
  });

  test("for a script in a folder into which the command changes says what the folder lacks", () => {
    const folder = "/data/usercache/alice/appcache/application_1_2/container_1_2_01_000002";
    const exit = {
      exitCode: 2,
      lastLines: [`python3: can't open file '${folder}/sub/train.py': [Errno 2] No such file`],
    };
    expect(advice(exit, { command: "mkdir sub; cd sub; python3 train.py" })).toMatch(
      /^the container has no sub\/train\.py: shipped files are in its working directory; check the folder from which .* runs it/,
    );
  });

  test("for a crash says how to see where Python was in its code, unless that is already on", () => {
    const crash = { exitCode: 139, signal: "SIGSEGV" };
    const hint =
      "if it is a Python program, add PYTHONFAULTHANDLER=1 to tony.execution.envs: it then prints its stack when it crashes";
    expect(advice(crash)).toBe(hint);
    expect(advice(crash, { environment: { PYTHONFAULTHANDLER: "1" } })).toBeUndefined();
    expect(advice({ ...crash, lastLines: ["Fatal Python error: Segmentation fault", "", "  File"] })).toBeUndefined();
    expect(advice({ exitCode: 137, signal: "SIGKILL" })).toBeUndefined();
  });

  test.each([
    ["import: command not found", ["use.py: line 1: import: command not found"], { exitCode: 2 }],
    ["a syntax error", ["./use.py: line 3: syntax error near unexpected token `('"], { exitCode: 2 }],
    ["use.py: command not found", ["/bin/bash: line 1: use.py: command not found"], { failedToStart: true }],
    ["permission denied", ["/bin/bash: ./use.py: Permission denied"], { failedToStart: true }],
  ])("for a Python script that bash was given is the command that runs it (%s)", (_complaint, lastLines, exit) => {
    const command = lastLines.join().includes("./use.py") ? "./use.py --steps 3" : "use.py --steps 3";
    const sources = { "tony.containers.command": "-executes" };
    expect(advice({ lastLines, ...exit }, { command, sources })).toBe(
      `bash was given a Python script: give --executes "python3 ${command}"`,
    );
    expect(advice({ lastLines, ...exit }, { command })).toBe(
      `bash was given a Python script: set tony.worker.command (job.xml:5) to python3 ${command}`,
    );
  });

  test("for Python statements that bash met is none where the command names no Python script, and is given whatever else was said", () => {
    const lastLines = ["use.py: line 1: import: command not found", "giving up"];
    expect(advice({ lastLines }, { command: "bash run.sh" })).toBeUndefined();
    expect(advice({ lastLines }, { command: "  use.py  --steps 3" })).toContain("to python3 use.py --steps 3");
  });

  test.each([
    [
      "of Python",
      "train.py",
      { exitCode: 2, lastLines: ["python3: can't open file '/c_2/train.py': [Errno 2] No such"] },
    ],
    ["of a shell", "bash run.sh", { exitCode: 127, lastLines: ["bash: run.sh: No such file or directory"] }],
    ["itself", "./x", { failedToStart: true, lastLines: ["/bin/bash: line 1: ./x: No such file or directory"] }],
  ])("for a missing program is to check its name and the keys that ship it (%s)", (_whose, program, exit) => {
    const command = program === "train.py" ? "python3 train.py --steps 3" : program;
    const file = /[\w.]+$/.exec(program)?.[0];
    expect(advice(exit, { command })).toBe(
      `no ${file} in the container: check its name in tony.worker.command (job.xml:5), and that the job ships it: tony.containers.resources, tony.worker.resources or --src_dir`,
    );
    const sources = { "tony.containers.command": "-executes" };
    expect(advice(exit, { command, sources })).toContain("check its name in --executes, and");
  });

  test("for a missing script is to ship it where the command does not name it, and to check a path that the command names on the node", () => {
    const exit = { exitCode: 2, lastLines: ["python3: can't open file '/opt/train.py': [Errno 2] No such file"] };
    expect(advice(exit, { command: "./run.sh" })).toBe(
      "no train.py in the container: ship it with tony.containers.resources, tony.worker.resources or --src_dir",
    );
    expect(advice(exit, { command: "python3 /opt/train.py" })).toBe(
      "no /opt/train.py on that node: check its name in tony.worker.command (job.xml:5)",
    );
  });

  test("is none for another file that a program misses, because the program's own words say more", () => {
    const exit = { exitCode: 1, lastLines: ["cat: data.txt: No such file or directory"] };
    expect(advice(exit, { command: "bash run.sh data.txt" })).toBeUndefined();
  });

  test("for a command that the node does not have is to check its name, or to install or ship it", () => {
    const exit = { failedToStart: true, lastLines: ["/bin/bash: line 1: torchrun: command not found"] };
    expect(advice(exit, { command: "torchrun train.py" })).toBe(
      "that node's PATH has no torchrun: check its name in tony.worker.command (job.xml:5), install it there, or ship it with " +
        "--python_venv or tony.containers.resources, tony.worker.resources or --src_dir and write its path",
    );
  });

  /** Read from each of them anew, the 250,000 that a message can hold take minutes. */
  test.each([
    ["slashes", `: ${"/".repeat(60_000)}`, { failedToStart: true }],
    [
      "signs of a Python's path",
      `${"x".repeat(60_000)}python: No module named torch`,
      { errorSummary: "ModuleNotFoundError" },
    ],
  ])("for a line of many %s: it is read once", (_what, line, exit) => {
    const files: RoleSpec["files"] = [{ source: "/home/ada/v", name: "v", as: "archive" }];
    const before = process.cpuUsage();
    advice({ ...exit, lastLines: [line] }, { command: "bash run.sh", files });
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(2);
  });

  test("for a script that is not executable is to make it executable or to name its interpreter", () => {
    const exit = { failedToStart: true, lastLines: ["/bin/bash: line 1: ./run.sh: Permission denied"] };
    expect(advice(exit, { command: "./run.sh" })).toBe(
      "run.sh is not executable: chmod +x it before you submit, or run it by its interpreter (bash run.sh)",
    );
  });

  test("for a program of the node that the tasks' user may not run is to open it to that user", () => {
    const lastLines = ["/bin/bash: line 1: /root/env/bin/python: Permission denied"];
    expect(advice({ failedToStart: true, lastLines }, { command: "/root/env/bin/python train.py" })).toBe(
      "the user that your tasks run as there may not run /root/env/bin/python: give that user access to it, to what it links to and to the folders above",
    );
  });

  test("for a program built for another kind of machine is to ship one for that node", () => {
    const said = "/bin/bash: line 1: venv/bin/python: cannot execute binary file: Exec format error";
    const exit = { failedToStart: true, lastLines: [said] };
    expect(advice(exit, { command: "venv/bin/python train.py" })).toBe(
      "venv/bin/python was built for another kind of machine than that node: ship one that was built for it",
    );
  });

  test("for any other complaint of a shell about a command is to look at the command", () => {
    const exit = { failedToStart: true, lastLines: ["/bin/bash: line 1: ./a: Text file busy"] };
    expect(advice(exit, { command: "./a" })).toBe("check tony.worker.command (job.xml:5)");
  });

  test.each([
    [
      "bash 5.2",
      { failedToStart: true, lastLines: ["/bin/bash: line 1: ./run.sh: cannot execute: required file not found"] },
    ],
    [
      "bash 5.0",
      { failedToStart: true, lastLines: ["/bin/bash: ./run.sh: /opt/sh: bad interpreter: No such file or directory"] },
    ],
  ])(
    "for a script whose first line names no program of the node is to change that line or remove CRLF, as %s complains",
    (_bash, exit) => {
      expect(advice(exit, { command: "./run.sh" })).toBe(
        "the first line (#!) of ./run.sh names a program that the node does not have: name one that it has; " +
          String.raw`if the file has Windows line endings (CRLF), remove them: sed -i 's/\r$//' ./run.sh`,
      );
    },
  );

  test("for a script whose interpreter env cannot find because of its CRLF is to remove the CRLF", () => {
    const lastLines = [String.raw`/usr/bin/env: ‘python3\r’: No such file or directory`];
    expect(advice({ exitCode: 127, lastLines }, { command: "./train.py" })).toBe(
      String.raw`the script has Windows line endings (CRLF): remove them with sed -i 's/\r$//'`,
    );
  });

  test("for too little memory is a value above what was used", () => {
    const [used, limit] = [900 * 2 ** 20, 1024];
    expect(advice({ outOfMemory: true, peakMemoryBytes: used })).toContain("e.g. to 1536m");
    expect(advice({ outOfMemory: true, peakMemoryBytes: 2 * limit * 2 ** 20 })).toContain("e.g. to 2560m");
    expect(advice({ outOfMemory: true, peakMemoryBytes: 2_051 * 2 ** 20 })).toContain("e.g. to 3g");
    expect(advice({ outOfMemory: true, peakMemoryBytes: 3 * limit * 2 ** 20 })).toContain("e.g. to 4g");
  });
});
