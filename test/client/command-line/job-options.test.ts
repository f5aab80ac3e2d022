import { describe, expect, test } from "@jest/globals";
import { jobWords, submissionOptions } from "../../../client/command-line/job-options.ts";

describe("a job's options on a command line", () => {
  test("are told by the names of the submission, each its own", () => {
    const given = {
      job: "job.xml",
      conf: ["tony.worker.memory=4g"],
      conf_file: "more.xml",
      executes: "train.py",
      task_params: "--lr 1",
      src_dir: "src",
      python_venv: "venv.zip",
      python_binary_path: "bin/python3",
      shell_env: ["A=1"],
      container_env: ["B=2"],
      secret: ["C=env:C"],
      sidecar_tensorboard_log_dir: "/logs",
      hdfs_classpath: "/lib",
      name: "bert",
      queue: "ml",
      priority: "3",
      tags: ["nightly"],
      resumeFrom: "/checkpoints/9",
      strict: true,
      runsSearch: true,
    };
    expect(submissionOptions(given)).toEqual({
      conf: ["job.xml", "tony.worker.memory=4g"],
      confFile: "more.xml",
      executes: "train.py",
      taskParams: "--lr 1",
      srcDir: "src",
      pythonVenv: "venv.zip",
      pythonBinaryPath: "bin/python3",
      shellEnv: ["A=1"],
      containerEnv: ["B=2"],
      secrets: ["C=env:C"],
      sidecarTensorboardLogDir: "/logs",
      hdfsClasspath: "/lib",
      name: "bert",
      queue: "ml",
      priority: "3",
      tags: ["nightly"],
      resumeFrom: "/checkpoints/9",
      strict: true,
      runsSearch: true,
    });
  });

  test("that are not given are not there, also those that are false", () => {
    expect(submissionOptions({ strict: false, runsSearch: false, executes: undefined })).toEqual({});
    expect(submissionOptions({ conf: ["job.xml"], executes: "" })).toEqual({ conf: ["job.xml"], executes: "" });
  });

  test("are words again that describe the same job: its file first, a repeated one each time, no other command's options", () => {
    const given = {
      ...{ conf: ["tony.worker.memory=4g", "tony.worker.vcores=2"], executes: "train --lr 1", src_dir: undefined },
      ...{ job: "job.xml", queue: "ml", strict: true, detach: true },
    };
    expect(jobWords(given)).toEqual([
      "job.xml",
      ...["--conf", "tony.worker.memory=4g", "--conf", "tony.worker.vcores=2"],
      ...["--executes", "train --lr 1"],
    ]);
    expect(jobWords({ executes: "train" })).toEqual(["--executes", "train"]);
  });
});
