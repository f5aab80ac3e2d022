import { basename } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { checkJob, defaultName, lookUpLocalPath, readJob } from "../../../src/job/build/load-job.ts";
import type { SubmissionOptions } from "../../../src/job/build/submission.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import { jobSpec, role } from "../../simulation/job.ts";

const files: Readonly<Record<string, string>> = {
  "jobs/job.xml": `<configuration>
  <property><name>tony.application.name</name><value>digits-\${user.name}</value></property>
  <property><name>tony.worker.instances</name><value>4</value></property>
  <property><name>tony.worker.memory</name><value>64g</value></property>
  <property><name>tony.containers.resources</name><value>train.py</value></property>
  <property><name>fs.defaultFS</name><value>hdfs://other:8020</value></property>
</configuration>`,
  "/etc/tony/tony-site.xml": `<configuration>
  <property><name>tony.worker.memory</name><value>8g</value><final>true</final></property>
</configuration>`,
  "/etc/other/hdfs-site.xml": `<configuration>
  <property><name>fs.defaultFS</name><value>hdfs://third:8020</value></property>
  <property><name>dfs.nameservices</name><value>other</value></property>
</configuration>`,
  "empty.xml": `<configuration>
  <property><name>tony.worker.instances</name><value>1</value></property>
  <property><name>tony.worker.memory</name><value></value></property>
  <property><name>tony.worker.command</name>
    <value></value></property>
  <property><name>tony.ps.instances</name><value>1</value></property>
  <property><name>tony.ps.command</name><value> </value></property>
</configuration>`,
  "nameless.xml": `<configuration>
  <property><name>tony.worker.instances</name><value>1</value></property>
  <property><value>4</value></property>
</configuration>`,
  "broken.xml": "<configuration>\n</wrong>",
  "train.py": "import torch\n",
};

function load(options: SubmissionOptions, siteFolder = "/etc/tony") {
  const text = readJob(options, {
    variables: { environment: { TONY_CONF_DIR: siteFolder }, systemProperties: { "user.name": "ada" } },
    readText: (path) => files[path],
    lookUp: (path) => (path === "/etc/tony" ? "directory" : undefined),
  });
  const checked = checkJob(text, {
    workingDirectory: "/home/ada",
    lookUp: (path) => (path === "/home/ada/jobs/train.py" ? "file" : undefined),
  });
  return { ...checked, hadoop: text.hadoop, said: checked.problems.map(formatProblem) };
}

describe("loading a job", () => {
  test("file, site and options make one spec; paths start at the job's file", () => {
    const { spec, hadoop, said } = load({
      conf: ["jobs/job.xml", "tony.worker.memory=16g"],
      executes: "python3 train.py",
    });
    expect(said).toEqual([
      "jobs/job.xml:4: warning: tony.worker.memory = 64g has no effect: /etc/tony/tony-site.xml:2 declares it final, 8g",
      "-conf: warning: tony.worker.memory = 16g has no effect: /etc/tony/tony-site.xml:2 declares it final, 8g",
    ]);
    expect(spec).toMatchObject({
      name: "digits-ada",
      roles: [{ command: "python3 train.py", resource: { memoryMiB: 8192 } }],
      files: [{ source: "/home/ada/jobs/train.py", name: "train.py", as: "file" }],
      sources: { "tony.worker.instances": "jobs/job.xml:3", "tony.worker.memory": "/etc/tony/tony-site.xml:2" },
    });
    expect(hadoop).toEqual({ "fs.defaultFS": "hdfs://other:8020" });
  });

  test("files of the cluster's configuration that it names go over the cluster's, and the job's own properties over them", () => {
    const conf = ["jobs/job.xml", "tony.application.hdfs-conf-path=/etc/other/hdfs-site.xml"];
    expect(load({ conf }).hadoop).toEqual({ "fs.defaultFS": "hdfs://other:8020", "dfs.nameservices": "other" });
    expect(load({ conf: [...conf, "tony.application.yarn-conf-path=/etc/none.xml"] }).said).toContain(
      "-conf: tony.application.yarn-conf-path names /etc/none.xml, which does not exist",
    );
  });

  test("a Hadoop that it brings is an archive in every working directory, and its class path CLASSPATH", () => {
    const { spec } = load({
      conf: [
        "jobs/job.xml",
        "tony.containers.command=true",
        "tony.application.hadoop.location=hdfs:///apps/hadoop-3.4.2.tar.gz#mr",
        "tony.application.hadoop.classpath=$PWD/mr/etc/hadoop, $PWD/mr/share/hadoop/hdfs/*",
      ],
    });
    expect(spec?.files).toContainEqual({ source: "hdfs:///apps/hadoop-3.4.2.tar.gz", name: "mr", as: "archive" });
    expect(spec?.containerEnvironment.CLASSPATH).toBe("$PWD/mr/etc/hadoop:$PWD/mr/share/hadoop/hdfs/*");
  });

  test("a file that is missing or no XML is one clear problem, and no spec", () => {
    expect(load({ conf: ["gone.xml"], executes: "true" }).said[0]).toBe("the job's file gone.xml does not exist");
    expect(load({ conf: ["train.py"], executes: "true" }).said[0]).toMatch(/^train.py is not a job.xml: /);
    const broken = load({ conf: ["broken.xml", "tony.worker.instances=1"], executes: "true" });
    expect(broken.said[0]).toMatch(/^broken.xml:1: not well-formed XML/);
    expect(broken.problems[0]).toMatchObject({
      at: "broken.xml:1",
      message: expect.stringMatching(/^not well-formed/),
    });
    expect(broken.spec).toBeUndefined();
  });

  test("a folder of the site's file that does not exist is said", () => {
    const { said } = load({ conf: ["tony.worker.instances=1"], executes: "true" }, "/etc/tonny");
    expect(said).toEqual(["TONY_CONF_DIR: warning: /etc/tonny is not a folder, so no tony-site.xml is read"]);
    expect(load({ conf: ["tony.worker.instances=1"], executes: "true" }, "").said).toEqual([]);
  });

  test("names that are neither a job's nor Hadoop's are said", () => {
    const { said } = load({ conf: ["tony.worker.instances=1", "worker.memory=8g"], executes: "true" });
    expect(said).toEqual([
      "-conf: worker.memory is not a key: those of a job begin with tony.; did you mean tony.worker.memory?",
    ]);
  });

  test("a command without text is wrong where it stands, and another key without a value is said", () => {
    const { spec, said } = load({ conf: ["empty.xml"] }, "");
    expect(spec).toBeUndefined();
    expect(said).toEqual([
      "empty.xml:3: warning: tony.worker.memory has no value and therefore no effect",
      "empty.xml:4: tony.worker.command is empty: write what its tasks run, or take it out and set tony.containers.command",
      "empty.xml:7: tony.ps.command is empty: write what its tasks run, or take it out and set tony.containers.command",
    ]);
    expect(load({ conf: ["empty.xml"], executes: "run.sh" }, "").said).toEqual([
      "empty.xml:3: warning: tony.worker.memory has no value and therefore no effect",
      "empty.xml:4: warning: tony.worker.command has no value and therefore no effect",
    ]);
  });

  test("problems come in the order of the file", () => {
    const { said } = load({ conf: ["jobs/job.xml", "tony.nonsense=1"] });
    expect(said.map((line) => line.split(": ")[0])).toEqual(["jobs/job.xml:3", "jobs/job.xml:4", "-conf"]);
  });

  test("a property without a name is a warning, as Hadoop skips it; strictly, every warning is an error", () => {
    const job = { conf: ["nameless.xml"], executes: "true" };
    const message = "this <property> has no effect: it has no <name>";
    expect(load(job, "")).toMatchObject({ spec: expect.anything(), said: [`nameless.xml:3: warning: ${message}`] });
    const strict = load({ ...job, strict: true }, "");
    expect(strict.said).toEqual([`nameless.xml:3: ${message}`]);
    expect(strict.spec).toBeUndefined();
  });
});

describe("what lies at a path of this machine", () => {
  const here = import.meta.filename;
  test.each([
    ["a file", here, "file"],
    ["a folder", import.meta.dirname, "directory"],
    ["what is not there", `${here}.none`, undefined],
    ["what would lie in a file, as code.zip/main.py of an archive beside the job", `${here}/main.py`, undefined],
    ["a name longer than any", `${here}/${"x".repeat(5000)}`, undefined],
  ])("%s", (_what, path, found) => expect(lookUpLocalPath(path)).toBe(found));

  test("a job beside its archive runs what is in it; a site's folder that is a file has no tony-site.xml", () => {
    const conf = [`tony.containers.resources=${here}::code.zip`, "tony.worker.instances=1"];
    const executes = `python3 ${basename(here)}/main.py`;
    const variables = { environment: { TONY_CONF_DIR: here }, systemProperties: {} };
    const text = readJob({ conf, executes }, { variables });
    const { problems } = checkJob(text, { workingDirectory: import.meta.dirname, lookUp: lookUpLocalPath });
    expect(problems.map(formatProblem)).toEqual([
      expect.stringContaining("is not a folder, so no tony-site.xml is read"),
      expect.stringContaining("which the job does not ship"),
    ]);
  });
});

const named = (command: string, jobFile?: string) => {
  const spec = jobSpec([role("ps", 1), { ...role("worker", 2), command }]);
  return defaultName({ ...spec, leadTask: "worker:0" }, jobFile, "/home/ada/bert");
};

test.each([
  ["python3 -u src/train.py --lr 0.1", "train"],
  ["bash run.sh", "run"],
  ["./digits", "digits"],
])("a job without a name has that of its program: %s", (command, name) => {
  expect(named(command, "job.xml")).toBe(name);
});

test.each([
  ["job.xml", "bert"],
  ["jobs/large/job.xml", "large"],
  ["/srv/jobs/nightly/job.xml", "nightly"],
  ["hdfs:///jobs/weekly/job.xml", "weekly"],
])("where the program has none, it has that of its file's folder: %s", (jobFile, name) => {
  expect(named("python3 -m bert.train", jobFile)).toBe(name);
});

test("there is none where there is neither", () => {
  expect(named("true")).toBeUndefined();
  expect(named("true", "/job.xml")).toBeUndefined();
});
