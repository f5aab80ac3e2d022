import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { migrate } from "../../../client/commands/migrate.ts";
import { ExitCode } from "../../../src/errors.ts";
import { processVariables } from "../../../src/hadoop/conf/configuration.ts";
import { checkJob, lookUpLocalPath, readJob } from "../../../src/job/build/load-job.ts";
import { recordedContext } from "../support.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-migrate-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What `tony-ts migrate …` prints and exits with, run in the folder. */
async function migrated(...words: string[]) {
  const parsed = await parseArguments(["migrate", ...words], [migrate]);
  if ("text" in parsed) throw new Error(parsed.text);
  const context = recordedContext({ workingDirectory: folder });
  const exitCode = await parsed.run(context);
  return { exitCode, printed: context.out.text };
}

function write(name: string, text: string, encoding: "utf8" | "latin1" = "utf8"): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), text, encoding);
}

const read = (name: string, encoding: "utf8" | "latin1" = "utf8") => readFileSync(path.join(folder, name), encoding);

const job = (...more: string[]) =>
  [
    "<configuration>",
    "<property><name>tony.worker.instances</name><value>2</value></property>",
    "<property><name>tony.worker.command</name><value>a &amp;&amp; b</value></property>",
    "<property><name>tony.task.am.jvm.opts</name><value>-Xss1m</value></property>",
    ...more,
    "</configuration>",
  ].join("\n");

describe("tony-ts migrate", () => {
  test("says what becomes of each line of a job's file, and writes one that is valid", async () => {
    write("job.xml", job());
    const { exitCode, printed } = await migrated("job.xml");
    expect(exitCode).toBe(ExitCode.succeeded);
    expect(printed.split("\n")).toEqual([
      "job.xml:2: stays: tony.worker.instances",
      "job.xml:3: stays: tony.worker.command",
      "job.xml:4: left out: tony.task.am.jvm.opts has no effect: there is no JVM",
      expect.stringMatching(/^job.xml: changes: a failed worker fails the job/),
      "Wrote job.tony-ts.xml (stays 2, changes 1, left out 1)",
      "  tony-ts submit job.tony-ts.xml",
      "",
    ]);
    const conf = [path.join(folder, "job.tony-ts.xml")];
    const text = readJob({ conf }, { variables: processVariables({}) });
    expect(checkJob(text, { workingDirectory: folder, lookUp: lookUpLocalPath }).problems).toEqual([]);
  });

  test("exits with 2 where a person has to mend something, and writes all the same", async () => {
    write("job.xml", job("<property><name>tony.worker.memory</name><value>lots</value></property>"));
    expect((await migrated("job.xml", "--out", "new.xml")).exitCode).toBe(ExitCode.usage);
    expect(read("new.xml")).toContain("<value>lots</value>");
  });

  test("finds in a folder job files, scripts and jobs of Azkaban's", async () => {
    write("flows/conf/job.xml", job());
    write("flows/core-site.xml", "<configuration/>");
    write("flows/run.sh", "java com.linkedin.tony.TonyClient -conf_file conf/job.xml\n");
    write("flows/train.job", "# für alle\ntype=TonYJob\n", "latin1");
    write("flows/prepare.job", "type=command\n");
    const { printed } = await migrated("flows", "--json");
    expect(JSON.parse(printed)).toMatchObject({
      files: [
        { source: "flows/conf/job.xml", written: "flows/conf/job.tony-ts.xml" },
        { source: "flows/train.job", written: "flows/train.job.tony-ts" },
        {
          source: "flows/run.sh",
          commands: [{ at: "flows/run.sh:1", command: "cd flows && tony-ts submit conf/job.tony-ts.xml" }],
        },
      ],
    });
    expect(read("flows/train.job.tony-ts", "latin1")).toBe("# für alle\ntype=tony-ts\n");
  });

  test("writes a flow of Azkaban's Flow 2.0 beside the old one, found in a folder or given alone", async () => {
    write("flows/x.flow", "nodes:\n- name: train # it\n  type: TonYJob\n");
    write("flows/y.flow", "nodes:\n- name: a\n  type: noop\n");
    const { printed } = await migrated("flows");
    expect(printed).toContain("Wrote flows/x.flow.tony-ts (changes 1)\n  mv flows/x.flow.tony-ts flows/x.flow\n");
    expect(printed).not.toContain("y.flow");
    expect(read("flows/x.flow.tony-ts")).toBe("nodes:\n- name: train # it\n  type: tony-ts\n");
    expect((await migrated("flows/x.flow")).printed).toContain("Unchanged: flows/x.flow.tony-ts (changes 1)");
    write("flows/x.flow.tony-ts", "mine");
    await expect(migrated("flows/x.flow")).rejects.toThrow("flows/x.flow.tony-ts is already there");
    expect((await migrated("flows/x.flow", "--force")).exitCode).toBe(ExitCode.succeeded);
    expect(read("flows/x.flow")).toContain("TonYJob");
  });

  test("reads Skein's specifications, and says of tf-yarn's programs that they are not read", async () => {
    write("app.yaml", "name: x\nservices:\n  worker:\n    resources: {memory: 1 GiB, vcores: 1}\n    script: work\n");
    expect((await migrated("app.yaml")).printed).toContain("  tony-ts submit app.tony-ts.xml");
    expect(read("app.tony-ts.xml")).toContain("<name>tony.worker.command</name><value>work</value>");
    write("all/compose.yml", "# no script: that is in the image\nservices:\n  web: {image: nginx}\n");
    write("all/broken.yaml", "services:\n  w:\n    script: [\n");
    write("all/train.py", "from tf_yarn.tensorflow import TaskSpec\n");
    const { exitCode, printed } = await migrated("all");
    expect(exitCode).toBe(ExitCode.usage);
    expect(printed).not.toContain("compose.yml");
    expect(printed).toMatch(/^all\/broken\.yaml:\d: needs a decision: /m);
    expect(printed).toMatch(
      /^all\/train\.py: needs a decision: tf-yarn's TaskSpec is Python, which tony-ts does not parse: .*docs\/guide\/coming-from-tf-yarn\.md/m,
    );
  });

  test("replaces nothing unless told to, and writes nothing then", async () => {
    write("a/job.xml", job());
    write("b/job.xml", job());
    write("b/job.tony-ts.xml", "mine");
    await expect(migrated(".")).rejects.toThrow(
      "b/job.tony-ts.xml is already there and differs from what would be written: because you changed them, or the old files have changed since. Nothing was written; --force replaces, --out writes elsewhere",
    );
    expect(() => read("a/job.tony-ts.xml")).toThrow();
    await migrated(".", "--force");
    expect(read("b/job.tony-ts.xml")).not.toBe("mine");
    expect((await migrated(".")).printed).toMatch(/^Unchanged: a\/job\.tony-ts\.xml .*\n {2}tony-ts submit a\/job/m);
  });

  test("says of a job's file without a command where the program is, and prints no command that could not run", async () => {
    write("a/tony.xml", job().replace("tony.worker.command", "tony.worker.vcores").replace("a &amp;&amp; b", "1"));
    const alone = await migrated("a/tony.xml");
    expect(alone.exitCode).toBe(ExitCode.succeeded);
    expect(alone.printed).toMatch(/^a\/tony\.xml: stays: it has no command: TonY's command line names the program/m);
    expect(alone.printed).not.toContain("tony-ts submit");
    write("a/run.sh", "java com.linkedin.tony.cli.ClusterSubmitter -executes a.py -conf_file tony.xml\n");
    const script = await migrated("a/run.sh");
    expect(script.printed).toContain("  cd a && tony-ts submit -executes a.py tony.tony-ts.xml\n");
    const both = (await migrated("a")).printed;
    expect(both).not.toContain("it has no command");
    expect(both.match(/^ {2}.*$/gm)).toEqual(["  cd a && tony-ts submit -executes a.py tony.tony-ts.xml"]);
  });

  test("prints a command that needs a decision as one that waits for it", async () => {
    write("job.xml", job("<property><name>tony.worker.memory</name><value>lots</value></property>"));
    expect((await migrated("job.xml")).printed).toMatch(
      /\n {2}once that is decided:\n {2}tony-ts submit job\.tony-ts\.xml\n$/,
    );
  });

  test("with --out prints commands that run where the sources are, with the new files", async () => {
    write("flows/jobs/tony.xml", job());
    write("flows/other.xml", job());
    const line = "java com.linkedin.tony.cli.ClusterSubmitter -src_dir src -executes a.py";
    write("flows/run.sh", `${line} -conf_file jobs/tony.xml\n`);
    write("flows/bin/whole.sh", `${line} -conf_file ${path.join(folder, "flows/jobs/tony.xml")}\n`);
    const { printed } = await migrated("flows", "--out", "new");
    expect(printed.match(/^ {2}.*$/gm)).toEqual([
      "  cd flows && tony-ts submit ../new/other.xml",
      "  cd flows/bin && tony-ts submit -src_dir src -executes a.py ../../new/jobs/tony.xml",
      "  cd flows && tony-ts submit -src_dir src -executes a.py ../new/jobs/tony.xml",
    ]);
  });

  test("says what a script sets for its command, which typed alone would be without", async () => {
    const tony = "sudo -E java -cp x.jar com.linkedin.tony.cli.ClusterSubmitter";
    write("run.sh", `export TONY_CONF_DIR=conf\nOTHER=1\nPY=a.py\n${tony} -executes ${"${PY}"} -src_dir $SRC\n`);
    const { exitCode, printed } = await migrated("run.sh");
    expect(exitCode).toBe(ExitCode.usage);
    expect(printed).toContain(
      "run.sh:4: needs a decision: the script sets TONY_CONF_DIR, PY for the command: run it in the script, which --out FILE writes\n",
    );
    expect(printed).toContain("  sudo -E tony-ts submit -executes ${PY} -src_dir $SRC\n");
    expect((await migrated("run.sh", "--out", "new.sh")).exitCode).toBe(ExitCode.succeeded);
    expect(read("new.sh")).toContain("PY=a.py\nsudo -E tony-ts submit -executes ${PY} -src_dir $SRC\n");
  });

  test("does not give a command the tony.xml that is not on its class path", async () => {
    write("tony.xml", job());
    const printed = async (classPath: string) => {
      write("run.sh", `java -cp ${classPath} com.linkedin.tony.TonyClient -src_dir src\n`);
      return (await migrated("run.sh")).printed;
    };
    for (const other of ["x.jar", '"$(hadoop classpath):x.jar"']) {
      expect(await printed(other)).toContain("run.sh:1: needs a decision: tony.xml is not on the class path");
      expect(await printed(other)).toContain("  tony-ts submit -src_dir src\n");
    }
    for (const here of [".:x.jar", "x.jar:", "$CLASSES"])
      expect(await printed(here)).toContain("  tony-ts submit -src_dir src tony.xml\n");
  });

  test("quotes the new file of a folder whose name has a blank", async () => {
    write("flows/My Job/tony.xml", job());
    write("flows/run.sh", 'cd "My Job"; java -cp . com.linkedin.tony.cli.ClusterSubmitter -src_dir src\n');
    expect((await migrated("flows", "--out", "new")).printed).toContain(
      "  cd 'flows/My Job' && tony-ts submit -src_dir src '../../new/My Job/tony.xml'\n",
    );
  });

  test("goes on where one file of a folder is damaged", async () => {
    write("a.xml", "<configuration><property><name>tony.x</name>");
    write("b.xml", job());
    const { exitCode, printed } = await migrated(".");
    expect(exitCode).toBe(ExitCode.usage);
    expect(printed).toMatch(/^a.xml:1: needs a decision: not well-formed XML/);
    expect(printed).toContain("Wrote b.tony-ts.xml");
  });

  test("says when there is nothing of TonY's, and that --out is for one file", async () => {
    write("notes.txt", "TonY");
    await expect(migrated(".")).rejects.toThrow(". has nothing to convert");
    write("train.py", "from tf_yarn.tensorflow import TaskSpec\n");
    await expect(migrated("train.py", "--out", "c.xml")).rejects.toThrow("--out is for one new file");
  });

  test("writes a folder's new files into the folder --out, under their own names, with scripts that run them", async () => {
    write("flows/conf/job.xml", job());
    write("flows/train.job", "type=TonYJob\n");
    write("flows/app.yaml", "name: x\nservices:\n  worker:\n    script: work\n");
    write(
      "flows/bin/run.sh",
      `#!/bin/bash
set -e
if java -cp "$(hadoop classpath)" \\ # TonY's
     com.linkedin.tony.cli.ClusterSubmitter -conf_file=conf/job.xml \\
     -executes "python3 train.py" > log 2>&1; then echo done; fi
exec java com.linkedin.tony.cli.LocalSubmitter -conf_file conf/job.xml
`,
    );
    chmodSync(path.join(folder, "flows/bin/run.sh"), 0o755);
    const { exitCode, printed } = await migrated("flows", "--out", "new");
    expect(exitCode).toBe(ExitCode.succeeded);
    expect(printed).toContain("Wrote new/conf/job.xml");
    expect(printed).not.toContain("mv ");
    expect(read("new/train.job")).toBe("type=tony-ts\n");
    expect(read("new/app.xml")).toContain("work");
    expect(read("new/bin/run.sh")).toBe(`#!/bin/bash
set -e
if tony-ts submit conf/job.xml -executes "python3 train.py" > log 2>&1; then echo done; fi
exec tony-ts submit --scheduler local conf/job.xml
`);
    expect(statSync(path.join(folder, "new/bin/run.sh")).mode & 0o777).toBe(0o755);
    expect(read("flows/bin/run.sh")).toContain("ClusterSubmitter");
    expect(printed.match(/^ {2}.*$/gm)).toEqual([
      "  cd flows && tony-ts submit ../new/app.xml",
      '  cd flows && tony-ts submit ../new/conf/job.xml -executes "python3 train.py"',
      "  cd flows && tony-ts submit --scheduler local ../new/conf/job.xml",
    ]);
    write("new/app.xml", "mine");
    await expect(migrated("flows", "--out", "new")).rejects.toThrow("already there");
  });

  test("follows a script's cd: to the file that it means, and to where the command is typed", async () => {
    const submit = (file: string) => `java com.linkedin.tony.cli.ClusterSubmitter -executes a.py -conf_file ${file}`;
    write("flows/tony.xml", job());
    write("flows/project/tony.xml", job());
    const typed = async (script: string) => {
      write("flows/run.sh", script);
      const { printed, exitCode } = await migrated("flows", "--force");
      return { typed: /^ {2}(.* -executes .*)$/m.exec(printed)?.[1], printed, exitCode };
    };
    expect((await typed(`cd project\n${submit("tony.xml")}\n`)).typed).toBe(
      "cd flows/project && tony-ts submit -executes a.py tony.tony-ts.xml",
    );
    expect((await typed(`cd project && ${submit("../tony.xml")}\n`)).typed).toBe(
      "cd flows/project && tony-ts submit -executes a.py ../tony.tony-ts.xml",
    );
    expect((await typed(`cd "$(dirname "$0")"\n${submit("tony.xml")}\n`)).typed).toBe(
      "cd flows && tony-ts submit -executes a.py tony.tony-ts.xml",
    );
    expect((await typed(`cd /srv/jobs\n${submit("tony.xml")}\n`)).typed).toBe(
      "cd /srv/jobs && tony-ts submit -executes a.py tony.xml",
    );
    const unknown = await typed(`cd $PROJECT\n${submit("tony.xml")}\n`);
    expect(unknown.printed).toContain("cd $PROJECT: run the commands after it in that folder");
    expect(unknown.exitCode).toBe(ExitCode.usage);
  });

  test("gives a script's command the tony.xml beside it, which TonY finds on its class path", async () => {
    write("flows/tony.xml", job());
    write("flows/run.sh", "java -cp .:tony.jar com.linkedin.tony.cli.ClusterSubmitter -src_dir src\n");
    expect((await migrated("flows/run.sh")).printed).toContain("  cd flows && tony-ts submit -src_dir src tony.xml\n");
    const { exitCode, printed } = await migrated("flows");
    expect(exitCode).toBe(ExitCode.succeeded);
    expect(printed).toContain("  cd flows && tony-ts submit -src_dir src tony.tony-ts.xml\n");
    write("more/conf/tony.xml", job());
    write(
      "more/run.sh",
      'java -cp "`hadoop classpath --glob`:conf/*:conf/" com.linkedin.tony.cli.ClusterSubmitter -executes a.py\n',
    );
    expect((await migrated("more")).printed).toContain(
      "  cd more && tony-ts submit -executes a.py conf/tony.tony-ts.xml\n",
    );
    expect((await migrated("flows/run.sh", "--out", "run.sh")).printed).toContain(
      "  cd flows && tony-ts submit -src_dir src tony.tony-ts.xml\n",
    );
    expect(read("run.sh")).toBe("tony-ts submit -src_dir src tony.tony-ts.xml\n");
  });
});
