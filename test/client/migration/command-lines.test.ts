import { describe, expect, test } from "@jest/globals";
import { migrateScript } from "../../../client/migration/command-lines.ts";

function migrated(script: string) {
  return migrateScript(script, "run.sh", (job) => (job.endsWith("jobs/job.xml") ? "jobs/job.tony-ts.xml" : undefined));
}

const submitter = 'java -cp "$(hadoop classpath)" com.linkedin.tony.cli.ClusterSubmitter';

describe("TonY's command line", () => {
  test("becomes ours: options and their quotes stay, what has no meaning goes", () => {
    const script = [
      "#!/bin/sh",
      `${submitter} \\`,
      `  -src_dir src -executes "python train.py --rate '0.1'" \\`,
      "  -conf_file $HERE/jobs/job.xml -hdfs_classpath hdfs:///lib \\",
      "  -conf tony.application.security.enabled=false -conf tony.worker.gpus=1 >log 2>&1",
    ];
    const { commands, remarks } = migrated(script.join("\n"));
    const command = `tony-ts submit -src_dir src -executes "python train.py --rate '0.1'" $HERE/jobs/job.tony-ts.xml -conf tony.worker.gpus=1`;
    expect(commands).toEqual([{ at: "run.sh:2", command }]);
    expect(remarks.map(({ kind, at }) => `${at} ${kind}`)).toEqual([
      "run.sh:2 changes",
      "run.sh:3 stays",
      "run.sh:3 stays",
      "run.sh:4 changes",
      "run.sh:4 no-meaning",
      "run.sh:5 no-meaning",
      "run.sh:5 stays",
    ]);
  });

  test("keeps the name of a job's file that was not migrated", () => {
    expect(migrated(`${submitter} --conf_file other.xml`).commands[0]?.command).toBe("tony-ts submit other.xml");
  });

  test("for one machine runs there", () => {
    const local = "java com.linkedin.tony.cli.LocalSubmitter -conf_file job.xml";
    expect(migrated(local).commands[0]?.command).toBe("tony-ts submit --scheduler local job.xml");
  });

  test("without a job's file is to be mended: tony.xml is not searched for", () => {
    expect(migrated(`${submitter} -executes train.py`).remarks.at(-1)).toMatchObject({
      kind: "to-mend",
      at: "run.sh:1",
    });
  });

  test("of a notebook has no other", () => {
    const { commands, remarks } = migrated("java com.linkedin.tony.cli.NotebookSubmitter -src_dir x");
    expect(commands).toEqual([]);
    expect(remarks).toMatchObject([{ kind: "unsupported" }]);
  });

  test("names what is no option, and a program where older releases had it", () => {
    const { remarks } = migrated(`${submitter} -conf_file job.xml -src_dir src -executes src/train.py -x`);
    expect(remarks).toEqual(
      expect.arrayContaining([
        { kind: "to-mend", at: "run.sh:1", message: "-x is no option of TonY's" },
        expect.objectContaining({ kind: "changes", message: expect.stringContaining("write train.py") }),
      ]),
    );
  });

  test("that is no shell's is only pointed at", () => {
    expect(migrated(`run(["java", "com.linkedin.tony.TonyClient.main"])`)).toMatchObject({
      commands: [],
      remarks: [{ kind: "to-mend", at: "run.sh" }],
    });
  });
});
