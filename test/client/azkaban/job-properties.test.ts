import { describe, expect, test } from "@jest/globals";
import { flowJob } from "../../../client/azkaban/job-properties.ts";

const nothing = () => false;
const jobOf = (properties: Readonly<Record<string, string>>, exists: (path: string) => boolean = nothing) =>
  flowJob(new Map(Object.entries(properties)), exists);

describe("a job of a flow", () => {
  test("has every tony.* property as a setting of its file", () => {
    const { options } = jobOf({ "tony.worker.instances": "2", "tony.yarn.queue": "ml", type: "tony-ts", retries: "1" });
    expect(options.properties).toEqual(
      new Map([
        ["tony.worker.instances", "2"],
        ["tony.yarn.queue", "ml"],
        ["tony.application.tags", ""],
      ]),
    );
  });

  test("has the options of TonY's client by their names", () => {
    const { options } = jobOf({
      executes: "train.py",
      task_params: "--rate 0.1",
      src_dir: "code",
      python_venv: "venv.zip",
      python_binary_path: "bin/python3",
      conf_file: "job.xml",
    });
    expect(options).toMatchObject({
      executes: "train.py",
      taskParams: "--rate 0.1",
      srcDir: "code",
      pythonVenv: "venv.zip",
      pythonBinaryPath: "bin/python3",
      confFile: "job.xml",
    });
  });

  test("takes the folder src where the flow has one, unless another is named", () => {
    expect(jobOf({}, (path) => path === "src").options.srcDir).toBe("src");
    expect(jobOf({}).options.srcDir).toBeUndefined();
    expect(jobOf({ src_dir: "code" }, () => true).options.srcDir).toBe("code");
  });

  test("takes a property without a value for one that is not there, and no blanks around a value", () => {
    const { options } = jobOf({ executes: " train.py ", src_dir: " ", conf_file: "" }, (path) => path === "src");
    expect(options).toMatchObject({ executes: "train.py", srcDir: "src" });
    expect(options.confFile).toBeUndefined();
  });

  test("hands worker_env.* and the data sets to the programs", () => {
    const { options } = jobOf({
      "worker_env.RATE": "0,1",
      "azkaban.input.dataset": "/data/a,/data/b,/data/c",
      "azkaban.output.dataset": "/out",
    });
    expect(options.shellEnv).toEqual([
      "RATE=0,1",
      "AZKABAN_INPUT_DATASET=/data/a;/data/b;/data/c",
      "AZKABAN_OUTPUT_DATASET=/out",
    ]);
  });

  test("is tagged with its execution beside its own tags, in ASCII and as short as YARN wants it", () => {
    const { options } = jobOf({
      "tony.application.tags": "nightly",
      "azkaban.flow.execid": "12",
      "azkaban.flow.flowid": "träning,2",
      "azkaban.flow.projectname": "p".repeat(200),
      "azkaban.webserverhost": "azkaban.example.org",
    });
    expect(options.properties?.get("tony.application.tags")).toBe(
      [
        "nightly",
        "azkaban.flow.execid:12",
        "azkaban.flow.flowid:tr%C3%A4ning\\,2",
        `azkaban.flow.projectname:${"p".repeat(75)}`,
        "azkaban.webserverhost:azkaban.example.org",
      ].join(","),
    );
    const empty = jobOf({ "azkaban.flow.execid": "", "azkaban.flow.flowid": "train" }).options;
    expect(empty.properties?.get("tony.application.tags")).toBe("azkaban.flow.flowid:train");
  });

  test("says which of TonY's properties have no effect", () => {
    const { options, remarks } = jobOf({ "tony.default.jvm.opts": "-Xmx1g" });
    expect(options.properties?.has("tony.default.jvm.opts")).toBe(false);
    expect(remarks).toEqual(["tony.default.jvm.opts has no effect: there is no JVM"]);
  });

  test("brings what hdfs_classpath names", () => {
    const { options } = jobOf({ hdfs_classpath: "/libs,hdfs://other/lib.zip" });
    expect(options.hdfsClasspath).toBe("/libs,hdfs://other/lib.zip");
  });
});

describe("the tag by which a retry finds what an earlier try left running", () => {
  const job = {
    "azkaban.flow.execid": "12",
    "azkaban.job.id": "train",
    "azkaban.webserverhost": "azkaban.example.org",
  };

  test("is the same for each attempt at the job of an execution", () => {
    expect(jobOf({ ...job, "azkaban.job.attempt": "1" }).tag).toBe(jobOf({ ...job, "azkaban.job.attempt": "2" }).tag);
    expect(jobOf(job).tag).toBe("tony-ts:azkaban:cfee9ee6fc67275e62d5403ec0ad0d4b");
    expect(jobOf({ ...job, "azkaban.flow.nested.path": "train" }).tag).toBe(jobOf(job).tag);
  });

  test.each([
    { "azkaban.flow.execid": "13" },
    { "azkaban.job.id": "evaluate" },
    { "azkaban.webserverhost": "other.example.org" },
    { "azkaban.flow.nested.path": "inner:train" },
  ])("is another one with %j", (other) => {
    expect(jobOf({ ...job, ...other }).tag).not.toBe(jobOf(job).tag);
  });

  test("is missing where nothing says which execution it is", () => {
    expect(jobOf({ "azkaban.job.id": "train" }).tag).toBeUndefined();
    expect(jobOf({ ...job, "azkaban.flow.execid": "" }).tag).toBeUndefined();
    expect(jobOf({ ...job, "azkaban.job.id": "" })).not.toHaveProperty("tag");
  });
});
