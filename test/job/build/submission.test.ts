import { describe, expect, test } from "@jest/globals";
import { isSetting, type SubmissionOptions, submissionSettings } from "../../../src/job/build/submission.ts";
import { formatProblem } from "../../../src/job/problem.ts";

function overlay(options: SubmissionOptions): string[] {
  return submissionSettings(options).settings.map(({ key, value, at }) => `${key} = ${value} (${at})`);
}

describe("the two forms of conf", () => {
  test.each([
    "tony.worker.memory=4g",
    "tony.worker.resource.yarn.io/fpga=1",
    "fs.defaultFS=hdfs://nn/",
    "fs.viewfs.mounttable.site.link./user=hdfs://nn/user",
    "tony.execution.envs=A=1",
  ])("%s is a setting", (argument) => {
    expect(isSetting(argument)).toBe(true);
  });

  test.each(["job.xml", "./a=b.xml", "/jobs/lr=0.1/job.xml", "jobs/lr=0.1/job.xml", "hdfs://nn/jobs/job.xml"])(
    "%s is a file",
    (argument) => {
      expect(isSetting(argument)).toBe(false);
    },
  );

  test("may be mixed, in any order, and with TonY's conf_file", () => {
    const options = { conf: ["tony.yarn.queue=ml", "job.xml", "tony.worker.memory=4g"] };
    expect(submissionSettings(options).jobFile).toBe("job.xml");
    expect(overlay(options)).toEqual(["tony.yarn.queue = ml (-conf)", "tony.worker.memory = 4g (-conf)"]);
    expect(submissionSettings({ confFile: "tony.xml", conf: ["tony.yarn.queue=ml"] }).jobFile).toBe("tony.xml");
  });

  test("that are a key without a value are told so, and are no file", () => {
    const { jobFile, problems } = submissionSettings({ conf: ["w5.xml", "tony.worker.instances"] });
    expect(jobFile).toBe("w5.xml");
    expect(problems.map(formatProblem)).toEqual([
      "--conf: tony.worker.instances is neither a file nor KEY=VALUE: write tony.worker.instances=VALUE, or ./tony.worker.instances for a file of that name",
    ]);
    expect(submissionSettings({ conf: ["tony.xml"] })).toMatchObject({ jobFile: "tony.xml", problems: [] });
  });

  test("name one file only", () => {
    expect(submissionSettings({ conf: ["a.xml"], confFile: "b.xml" }).problems.map(formatProblem)).toEqual([
      "--conf: one job file can be given, not a.xml and b.xml",
    ]);
  });
});

test("a Python that another one would run is said to be left out", () => {
  const { problems } = submissionSettings({ executes: "python3 train.py", pythonBinaryPath: "python3.11" });
  expect(problems.map(formatProblem)).toEqual([
    "-executes: warning: python3 is left out: --python_binary_path says which Python runs the program",
  ]);
});

describe("the command that TonY's options make", () => {
  const command = (options: SubmissionOptions) =>
    submissionSettings(options).settings.find(({ key }) => key === "tony.containers.command")?.value;

  test.each([
    [{ executes: "python3 train.py" }, "python3 train.py"],
    [{ executes: "train.py", taskParams: "--epochs 5 --lr '0.1'" }, "train.py --epochs 5 --lr '0.1'"],
    [{ executes: "train.py", pythonBinaryPath: "python3.11" }, "python3.11 train.py"],
    [{ executes: "python3 -u train.py", pythonBinaryPath: "python3.11" }, "python3.11 -u train.py"],
    [
      { executes: "/usr/bin/python train.py", pythonBinaryPath: "bin/python", pythonVenv: "e.zip" },
      "venv/bin/python train.py",
    ],
    [{ executes: "python3 train.py", pythonBinaryPath: "./in-env" }, "./in-env python3 train.py"],
    [{ executes: "python-like train.py", pythonBinaryPath: "python3" }, "python3 python-like train.py"],
    [{ executes: "train.py", pythonBinaryPath: "bin/python", pythonVenv: "env.zip" }, "venv/bin/python train.py"],
    [
      { executes: "train.py", pythonBinaryPath: "/opt/bin/python", pythonVenv: "env.zip", taskParams: "-v" },
      "/opt/bin/python train.py -v",
    ],
    [{ executes: "train.py", pythonBinaryPath: "./env.pex", pythonVenv: "envs/env.pex" }, "./env.pex train.py"],
    [{ executes: "train.py", pythonVenv: "envs/env.pex", taskParams: "-v" }, "./env.pex train.py -v"],
    [{ executes: "python3.11 env.pex train.py", pythonVenv: "envs/env.pex" }, "python3.11 env.pex train.py"],
    [{ pythonBinaryPath: "python3" }, undefined],
  ])("%j", (options, expected) => {
    expect(command(options)).toBe(expected);
  });

  test("the interpreter is kept for what runs beside the program", () => {
    expect(overlay({ pythonBinaryPath: "bin/python", pythonVenv: "env.zip" })).toEqual([
      "tony.python-exec-path = venv/bin/python (--python_binary_path)",
    ]);
  });

  test("parameters of no command are pointed out", () => {
    expect(submissionSettings({ taskParams: "-v" }).problems.map(formatProblem)).toEqual([
      "--task_params: warning: has no effect without -executes",
    ]);
  });
});

describe("the other options", () => {
  test("environments, a comma kept, and TensorBoard's folder", () => {
    expect(
      overlay({ shellEnv: ["A=1", "LIST=a,b"], containerEnv: ["CUDA=12"], sidecarTensorboardLogDir: "hdfs:///logs" }),
    ).toEqual([
      "tony.application.tensorboard-log-dir = hdfs:///logs (-sidecar_tensorboard_log_dir)",
      "tony.execution.envs = A=1 (--shell_env)",
      "tony.execution.envs = LIST=a\\,b (--shell_env)",
      "tony.containers.envs = CUDA=12 (--container_env)",
    ]);
  });

  test("name, queue and priority of this submission", () => {
    expect(overlay({ name: "try-2", queue: "ml", priority: 5 })).toEqual([
      "tony.application.name = try-2 (--name)",
      "tony.yarn.queue = ml (--queue)",
      "tony.application.priority = 5 (--priority)",
    ]);
  });

  test("an environment variable without a value is refused", () => {
    expect(submissionSettings({ shellEnv: ["A"] }).problems.map(formatProblem)).toEqual([
      '--shell_env: must be NAME=value, not "A"',
    ]);
  });

  test("a program that is named with the source tree's own folder is told where it will be", () => {
    const said = (executes: string, srcDir: string) =>
      submissionSettings({ executes, srcDir }).problems.map(formatProblem);
    expect(said("src/models/train.py", "../src/")).toEqual([
      "-executes: warning: is looked for inside --src_dir: write models/train.py, unless ../src/ has a folder src of its own",
    ]);
    expect(said("models/train.py", "src")).toEqual([]);
    expect(said("src/train.py", ".")).toEqual([]);
  });

  test("source tree and Python environment are shipped", () => {
    expect(submissionSettings({ srcDir: "src", pythonVenv: "hdfs:///env.tar.gz" }).ship).toEqual([
      { source: "src", name: "src-dir", as: "working-directory" },
      { source: "hdfs:///env.tar.gz", name: "venv", as: "archive" },
    ]);
  });

  test("a PEX stays a file of its own name", () => {
    const { ship } = submissionSettings({ pythonVenv: "hdfs:///envs/env.pex" });
    expect(ship).toEqual([{ source: "hdfs:///envs/env.pex", name: "env.pex", as: "file" }]);
  });
});
