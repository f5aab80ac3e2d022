import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { encodingOf, textFilesBelow } from "../../../client/migration/find-files.ts";
import { type MigrationPlace, migrateFiles, migrateJob } from "../../../client/migration/migrate.ts";

let workingDirectory: string;
beforeEach(() => {
  workingDirectory = mkdtempSync(path.join(tmpdir(), "migrate-"));
});
afterEach(() => rmSync(workingDirectory, { recursive: true }));

const withCommand = "<property><name>tony.worker.command</name><value>train</value></property>";
const job = (property = withCommand) =>
  `<configuration><property><name>tony.worker.instances</name><value>2</value></property>${property}</configuration>`;
const submitter = "java com.linkedin.tony.cli.ClusterSubmitter";
const specification = "services:\n  worker:\n    script: train\n    resources: {memory: 1 GiB, vcores: 1}\n";
const flow = "type=TonYJob\ntony.worker.instances=4\n";
const flowDocument = "nodes:\n  - name: train\n    type: TonYJob\n    config:\n      tony.worker.instances: 4\n";

/** What becomes of these files: what is written, and what is typed. */
async function migrated(files: Readonly<Record<string, string>>, place: Partial<MigrationPlace> = {}) {
  const found = Object.entries(files).map(([name, text]) => ({ name, text }));
  const all = await migrateFiles(found, { workingDirectory, ...place });
  return all.map(({ source, written, commands }) => ({
    source,
    written,
    typed: commands.map(({ command }) => command),
  }));
}

describe("the files that a file of TonY's becomes", () => {
  test.each([
    ["job.xml", job(), "job.tony-ts.xml", "tony-ts submit job.tony-ts.xml"],
    ["my jobs/job.xml", job(), "my jobs/job.tony-ts.xml", "tony-ts submit 'my jobs/job.tony-ts.xml'"],
    ["train.job", flow, "train.job.tony-ts", "mv train.job.tony-ts train.job"],
    ["train.properties", flow, "train.properties.tony-ts", "mv train.properties.tony-ts train.properties"],
    ["train.flow", flowDocument, "train.flow.tony-ts", "mv train.flow.tony-ts train.flow"],
    ["app.yaml", specification, "app.tony-ts.xml", "tony-ts submit app.tony-ts.xml"],
    ["app.yml", specification, "app.tony-ts.xml", "tony-ts submit app.tony-ts.xml"],
  ])("stand beside it: %s", async (source, text, written, command) => {
    expect(await migrated({ [source]: text })).toEqual([{ source, written, typed: [command] }]);
  });

  test.each([
    ["old/a/job.xml", job(), "new/a/job.xml", ["cd old/a && tony-ts submit ../../new/a/job.xml"]],
    ["old/app.yaml", specification, "new/app.xml", ["cd old && tony-ts submit ../new/app.xml"]],
    ["old/train.job", flow, "new/train.job", []],
    ["old/train.flow", flowDocument, "new/train.flow", []],
  ])("stand in a folder of their own, and are run where the old one was: %s", async (source, text, written, typed) => {
    expect(await migrated({ [source]: text }, { folder: "old", out: "new" })).toEqual([{ source, written, typed }]);
  });

  test("stand beside it where a folder is looked through that has no other place for them", async () => {
    expect(await migrated({ "old/train.job": flow }, { folder: "old" })).toEqual([
      {
        source: "old/train.job",
        written: "old/train.job.tony-ts",
        typed: ["mv old/train.job.tony-ts old/train.job"],
      },
    ]);
  });

  test("are told by kinds: jobs, what else has files, scripts, and programs, wherever they were found", async () => {
    const files = {
      "a.py": "import tf_yarn\n",
      "b.sh": `${submitter} -executes a.py\n`,
      "c.yaml": specification,
      "d.flow": flowDocument,
      "e.job": flow,
      "f.xml": job(),
    };
    expect((await migrated(files)).map(({ source }) => source)).toEqual([
      "f.xml",
      "e.job",
      "d.flow",
      "c.yaml",
      "b.sh",
      "a.py",
    ]);
  });

  test("have the name that is given to one", async () => {
    const [one] = await migrated({ "job.xml": job() }, { out: "new.xml" });
    expect(one).toEqual({ source: "job.xml", written: "new.xml", typed: ["tony-ts submit new.xml"] });
    const [other] = await migrated({ "train.job": flow }, { out: "new.job" });
    expect(other?.typed).toEqual(["mv new.job train.job"]);
  });

  test("are as the old ones were written: properties as Java reads them", async () => {
    const all = await migrateFiles(
      [
        { name: "train.job", text: flow },
        { name: "job.xml", text: job() },
      ],
      { workingDirectory },
    );
    expect(all.map(({ source, encoding }) => `${source} ${encoding}`)).toEqual(["job.xml utf8", "train.job latin1"]);
    expect(all[0]?.text).toContain("<name>tony.worker.instances</name>");
    expect(all[1]?.text).toBe("type=tony-ts\ntony.worker.instances=4\n");
    expect(all.map(({ commands }) => commands[0]?.at)).toEqual(["job.tony-ts.xml", "train.job.tony-ts"]);
    expect(["a.job", "a.properties", "a.flow", "a.job.xml"].map(encodingOf)).toEqual([
      "latin1",
      "latin1",
      "utf8",
      "utf8",
    ]);
  });

  test("are none of what is a site's, was migrated before, or has nothing of TonY's", async () => {
    const others = {
      "tony-site.xml": job(),
      "conf/tony-default.xml": job(),
      "job.tony-ts.xml": job(),
      "train.job.tony-ts": flow,
      "core-site.xml": "<configuration></configuration>",
      "etl.job": "type=command\n",
      "etl.flow": "nodes:\n  - name: a\n    type: noop\n",
      "compose.yaml": "services:\n  web:\n    image: x\n    command: serve\n",
      "train.py": "import torch\n",
      // What they are is said by their names, too.
      "job.txt": job(),
      "flow.txt": flowDocument,
      "app.txt": specification,
      "program.txt": "import tf_yarn\n",
    };
    expect(await migrated(others)).toEqual([]);
    expect(await migrated({ "my-tony-site.xml": job() })).toHaveLength(1);
  });
});

describe("what a person must do", () => {
  const remarksOf = async (name: string, text: string) => {
    const [only] = await migrateFiles([{ name, text }], { workingDirectory });
    return { ...only, remarks: only?.remarks.filter(({ kind }) => kind === "to-mend") };
  };

  test.each([
    ["job.xml", "<configuration>\n<name>tony.worker</name\n</configuration>", /^job\.xml:\d/],
    ["train.flow", "nodes:\n  - type: TonYJob\n   bad", /^train\.flow:\d/],
    ["app.yaml", `${specification}  bad: [`, /^app\.yaml:\d/],
  ])("is to mend what cannot be read, where it is: %s", async (name, text, at) => {
    const { remarks, commands, written } = await remarksOf(name, text);
    expect(remarks).toEqual([{ kind: "to-mend", at: expect.stringMatching(at), message: expect.any(String) }]);
    expect([commands, written]).toEqual([[], undefined]);
  });

  test("is to mend a file that is too large to be one of a person's, as a whole", async () => {
    const { remarks } = await remarksOf("app.yaml", `${specification}  more: &a [*a]\n`);
    expect(remarks).toEqual([{ kind: "to-mend", at: "app.yaml", message: "its aliases stand for too many values" }]);
  });

  test("is to write the job of a program of tf-yarn's, which describes it itself", async () => {
    for (const text of ["from tf_yarn import TaskSpec\n", "import os\n  import tf_yarn.pytorch\n"])
      expect(await remarksOf("train.py", text)).toEqual({
        source: "train.py",
        remarks: [{ kind: "to-mend", at: "train.py", message: expect.stringContaining("coming-from-tf-yarn.md") }],
        commands: [],
      });
  });

  test("is to name the program of a job whose file does not, by the script that runs it", async () => {
    const { commands, remarks } = migrateJob({ name: "job.xml", text: job("") }, { workingDirectory });
    expect(commands).toEqual([]);
    expect(remarks.at(-1)).toMatchObject({
      kind: "stays",
      at: "job.xml",
      message: expect.stringContaining("-executes"),
    });
  });

  test("is to run a script that sets variables for its command, unless that is written", async () => {
    const files = [{ name: "run.sh", text: `export RATE=1\n${submitter} -executes "train $RATE"\n` }];
    const needs = async (place: Partial<MigrationPlace>) => {
      const [script] = await migrateFiles(files, { workingDirectory, ...place });
      return { written: script?.written, needs: script?.remarks.filter(({ message }) => message.includes("RATE for")) };
    };
    expect(await needs({})).toEqual({
      written: undefined,
      needs: [
        {
          kind: "to-mend",
          at: "run.sh:2",
          message: "the script sets RATE for the command: run it in the script, which --out FILE writes",
        },
      ],
    });
    expect(await needs({ out: "new.sh" })).toEqual({ written: "new.sh", needs: [] });
    const [written] = await migrateFiles(files, { workingDirectory, out: "new.sh" });
    expect(written?.text).toBe('export RATE=1\ntony-ts submit -executes "train $RATE"\n');
    expect((await remarksOf("run.sh", `${submitter} -executes "train 1"\n`)).remarks).toEqual([]);
  });
});

describe("a script that runs a job's file", () => {
  const script = (file: string) => `#!/bin/sh\n${submitter} -executes train.py -conf_file ${file}\n`;
  const command = (file: string) => `tony-ts submit -executes train.py ${file}`;

  test("has the command of the job's new file, which has none itself, nor a word about its program", async () => {
    const files = { "jobs/run.sh": script("job.xml"), "jobs/job.xml": job("") };
    expect(await migrated(files)).toEqual([
      { source: "jobs/job.xml", written: "jobs/job.tony-ts.xml", typed: [] },
      { source: "jobs/run.sh", written: undefined, typed: [`cd jobs && ${command("job.tony-ts.xml")}`] },
    ]);
    const [migratedJob] = await migrateFiles(
      Object.entries(files).map(([name, text]) => ({ name, text })),
      { workingDirectory },
    );
    expect(migratedJob?.remarks.filter(({ message }) => message.includes("-executes"))).toEqual([]);
    expect(migratedJob?.remarks.map(({ message }) => message)).toContain("tony.worker.instances");
    const whole = await migrated({ "jobs/run.sh": script("job.xml"), "jobs/job.xml": job() });
    expect(whole[0]?.typed).toEqual([]);
  });

  test("is run where it finds the file: beside it, where people are, or in the folder that they give", async () => {
    const here = await migrated({ "bin/run.sh": script("job.xml"), "job.xml": job() });
    expect(here.at(-1)?.typed).toEqual([command("job.tony-ts.xml")]);
    const given = await migrated(
      { "old/bin/run.sh": script("jobs/job.xml"), "old/jobs/job.xml": job() },
      { folder: "old" },
    );
    expect(given.at(-1)?.typed).toEqual([`cd old && ${command("jobs/job.tony-ts.xml")}`]);
  });

  test("finds the file by its whole path, and where the script has gone", async () => {
    const whole = path.join(workingDirectory, "jobs", "job.xml");
    const byPath = await migrated({ "bin/run.sh": script(whole), "jobs/job.xml": job() });
    const newFile = path.join(workingDirectory, "jobs", "job.tony-ts.xml");
    expect(byPath.at(-1)?.typed).toEqual([`cd bin && ${command(newFile)}`]);
    const jobs = path.join(workingDirectory, "jobs");
    const gone = await migrated({ "bin/run.sh": `cd ${jobs}\n${script("job.xml")}`, "jobs/job.xml": job() });
    expect(gone.at(-1)?.typed).toEqual([`cd ${jobs} && ${command("job.tony-ts.xml")}`]);
  });

  test("goes on in its own folder where the new files have another", async () => {
    const files = { "old/run.sh": script("job.xml"), "old/job.xml": job() };
    const [, moved] = await migrateFiles(
      Object.entries(files)
        .map(([name, text]) => ({ name, text }))
        .toReversed(),
      { workingDirectory, folder: "old", out: "new" },
    );
    expect(moved).toMatchObject({ source: "old/run.sh", written: "new/run.sh" });
    expect(moved?.commands.map(({ command: typed }) => typed)).toEqual([`cd old && ${command("../new/job.xml")}`]);
  });

  test("that is given alone names what was written before, or the tony.xml that TonY finds", async () => {
    expect((await migrated({ "run.sh": script("job.xml") }))[0]?.typed).toEqual([command("job.xml")]);
    writeFileSync(path.join(workingDirectory, "job.tony-ts.xml"), "");
    expect((await migrated({ "bin/run.sh": script("job.xml") }))[0]?.typed).toEqual([command("job.xml")]);
    expect((await migrated({ "run.sh": script("job.xml") }))[0]?.typed).toEqual([command("job.tony-ts.xml")]);
    const inFolder = await migrated({ "run.sh": script("job.xml") }, { folder: "." });
    expect(inFolder[0]?.typed).toEqual([command("job.xml")]);
    expect((await migrated({ "run.sh": `${submitter} -executes train.py\n` }))[0]?.typed).toEqual([
      "tony-ts submit -executes train.py",
    ]);
    writeFileSync(path.join(workingDirectory, "tony.xml"), "");
    const alone = `${submitter} -executes train.py\n`;
    expect((await migrated({ "run.sh": alone }))[0]?.typed).toEqual([command("tony.xml")]);
  });
});

test("text files of a folder are found by path, but not those of other programs, large ones, binary ones or behind links", () => {
  const write = (name: string, text = "text") => {
    mkdirSync(path.dirname(path.join(workingDirectory, name)), { recursive: true });
    writeFileSync(path.join(workingDirectory, name), text, "latin1");
  };
  for (const name of ["b.xml", "a/c.sh", "a.sh"]) write(name);
  for (const name of [".git/a", "node_modules/a", "a/__pycache__/b", "venv/a"]) write(name);
  write("binary", "a\0b");
  write("full", "x".repeat(1024 * 1024));
  write("large", "x".repeat(1024 * 1024 + 1));
  write("e.properties", "caf\u00e9");
  symlinkSync(path.join(workingDirectory, "b.xml"), path.join(workingDirectory, "link"));
  const found = [...textFilesBelow(workingDirectory)];
  expect(found.map(({ name }) => path.relative(workingDirectory, name))).toEqual([
    "a/c.sh",
    "a.sh",
    "b.xml",
    "e.properties",
    "full",
  ]);
  expect(found.find(({ name }) => name.endsWith("e.properties"))?.text).toBe("caf\u00e9");
});
