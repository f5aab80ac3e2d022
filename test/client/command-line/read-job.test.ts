import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { JobOptionValues } from "../../../client/command-line/job-options.ts";
import { readJobOf, readJobText } from "../../../client/command-line/read-job.ts";
import { StandInCluster } from "../submission/stand-in-cluster.ts";
import { recordedContext } from "../support.ts";

import "../../support/loaded-client.ts";

/** No option is given. */
const nothing: JobOptionValues = {
  conf: undefined,
  conf_file: undefined,
  executes: undefined,
  task_params: undefined,
  src_dir: undefined,
  python_venv: undefined,
  python_binary_path: undefined,
  shell_env: undefined,
  container_env: undefined,
  secret: undefined,
  sidecar_tensorboard_log_dir: undefined,
  hdfs_classpath: undefined,
};

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-read-job-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const context = () => recordedContext({ workingDirectory: folder, environment: { HADOOP_HOME: "/nowhere" } });
const instances = "<property><name>tony.worker.instances</name><value>3</value></property>";
const write = (name: string, settings = instances) =>
  writeFileSync(path.join(folder, name), `<configuration>${settings}</configuration>`);

describe("which job", () => {
  test.each([
    [[], "Which job? Give its file: job.xml\n  tony-ts init writes one"],
    [["tony.xml"], "Which job? Give the file: tony-ts submit tony.xml"],
    [["tony.xml", "job.xml"], "Which job? Give the file: tony-ts submit job.xml"],
  ])("is asked where none is given and %j is there", async (names, message) => {
    for (const name of names) write(name);
    await expect(readJobOf("submit", { ...nothing, name: "bert" }, context())).rejects.toMatchObject({
      code: "USAGE",
      message,
    });
  });

  test("is not asked where options alone make one; what TonY would have read is told not to be", async () => {
    const given = { ...nothing, executes: "train.py" };
    expect((await readJobOf("submit", given, context())).problems).toEqual([]);
    write("tony.xml");
    expect((await readJobOf("submit", given, context())).problems).toEqual([
      {
        severity: "warning",
        message: "is not read: give it, if it is the job's: tony-ts submit tony.xml …",
        at: "tony.xml",
      },
    ]);
    expect((await readJobOf("submit", { ...nothing, job: "tony.xml" }, context())).problems).toEqual([]);
  });
});

describe("a job's file", () => {
  test.each([["job.xml"], ["./job.xml"]])("is where the working directory has it: %s", async (name) => {
    write("job.xml");
    const { settings } = await readJobText({ conf: [name] }, context());
    expect(settings.get("tony.worker.instances")).toMatchObject({ value: "3", at: `${name}:1` });
  });

  test("may have an address of this machine, and include others beside it", async () => {
    write("more.xml");
    write("job.xml", '<include href="more.xml"/>');
    for (const name of [`file://${folder}/job.xml`, "job.xml"]) {
      const { settings, problems } = await readJobText({ conf: [name] }, context());
      expect([settings.get("tony.worker.instances")?.value, problems]).toEqual(["3", []]);
    }
  });

  test("has no address of another machine", async () => {
    const message = "file://nn/job.xml is on the host nn: a file of this machine is file:///path, or its path alone";
    const { problems } = await readJobText({ conf: ["file://nn/job.xml"] }, context());
    expect(problems).toMatchObject([{ severity: "error", message }]);
  });

  test("that is no file is told by the name that was given", async () => {
    const { problems } = await readJobText({ conf: ["."] }, context());
    expect(problems).toMatchObject([
      { severity: "error", message: expect.stringMatching(/^\. is a folder: name a file/) },
    ]);
  });

  test("of a cluster is read from its file system, of which settings may say where it is, and which is left then", async () => {
    const there = await StandInCluster.start();
    try {
      there.file("job.xml", `<configuration>${instances}</configuration>`);
      const mount = `fs.viewfs.mounttable.jobs.link./=file://${there.folder}`;
      const read = (file: string) => readJobText({ conf: [`viewfs://jobs${file}`, mount] }, there.context);
      const { settings, problems } = await read("/job.xml");
      expect([settings.get("tony.worker.instances"), problems]).toMatchObject([
        { value: "3", at: "viewfs://jobs/job.xml:1" },
        [],
      ]);
      expect((await read("/gone.xml")).problems).toMatchObject([
        { severity: "error", message: "the job's file viewfs://jobs/gone.xml does not exist" },
      ]);
    } finally {
      await there.stop();
    }
  });

  test("of a cluster needs one", async () => {
    await expect(readJobText({ conf: ["hdfs:///job.xml"] }, context())).rejects.toMatchObject({ code: "NO_CLUSTER" });
  });
});
