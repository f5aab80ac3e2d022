import { describe, expect, test } from "@jest/globals";
import { migrateScript } from "../../../client/migration/command-lines.ts";

function migrated(script: string) {
  return migrateScript(script, "run.sh", (job) =>
    job.endsWith("jobs/job.xml") ? { path: "jobs/job.tony-ts.xml", isElsewhere: false } : undefined,
  );
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
    const command = `tony-ts submit -src_dir src -executes "python train.py --rate '0.1'" $HERE/jobs/job.tony-ts.xml -hdfs_classpath hdfs:///lib -conf tony.worker.gpus=1`;
    expect(commands).toMatchObject([{ at: "run.sh:2", command }]);
    expect(remarks.map(({ kind, at }) => `${at} ${kind}`)).toEqual([
      "run.sh:2 changes",
      "run.sh:3 stays",
      "run.sh:3 stays",
      "run.sh:4 changes",
      "run.sh:4 stays",
      "run.sh:5 no-meaning",
      "run.sh:5 stays",
    ]);
  });

  test("takes the place of the old one in the script, each of several", () => {
    const script = (one: string, other: string) => `#!/bin/sh\n${one} && echo done\nif ${other}; then exit 1; fi\n`;
    const text = migrated(script(`${submitter} -executes a.py`, `${submitter} -executes b.py`)).text;
    expect(text).toBe(script("tony-ts submit -executes a.py", "tony-ts submit -executes b.py"));
  });

  test("runs where the script has gone, step by step", () => {
    const folders = (...lines: readonly string[]) =>
      migrated([...lines, `${submitter} -executes a.py`].join("\n")).commands.map((command) => command);
    expect(folders("cd jobs", "cd nightly")).toMatchObject([{ folder: "jobs/nightly" }]);
    expect(folders("cd jobs", "cd /opt/jobs", "cd ..")).toMatchObject([{ folder: "/opt" }]);
  });

  test("runs in the script's own folder where that goes there, and in none that only a shell knows", () => {
    const after = (cd: string) => migrated([cd, `${submitter} -executes a.py`].join("\n"));
    for (const own of ['cd "$(dirname "$0")"', "cd $(dirname ${BASH_SOURCE[0]})", "cd a b"]) {
      const { commands, remarks } = after(own);
      expect(commands.map(({ folder = "." }) => folder || ".")).toEqual(["."]);
      expect(remarks.filter(({ kind }) => kind === "to-mend")).toEqual([]);
    }
    for (const unknown of ["cd $HERE", "cd -", "cd", "cd ~/jobs", "cd jobs*"])
      expect(after(`echo\n${unknown}`).remarks[0]).toEqual({
        kind: "to-mend",
        at: "run.sh:2",
        message: `${unknown}: run the commands after it in that folder`,
      });
    const before = migrated(`${submitter} -executes a.py\ncd $HERE\necho done`);
    expect(before.remarks.filter(({ kind }) => kind === "to-mend")).toEqual([]);
  });

  test("keeps sudo with its options in front of it, and what stands before the program that starts it", () => {
    const line = (start: string) => `${start} jar tony.jar com.linkedin.tony.cli.ClusterSubmitter -executes a.py`;
    const { commands, text } = migrated(line("sudo -u etl hadoop"));
    expect(commands).toMatchObject([{ before: "sudo -u etl ", command: "tony-ts submit -executes a.py" }]);
    expect(text).toBe("sudo -u etl tony-ts submit -executes a.py");
    const timed = migrated(line("time hadoop"));
    expect(timed.commands).toMatchObject([{ before: "" }]);
    expect(timed.text).toBe("time tony-ts submit -executes a.py");
  });

  test("keeps the name of a job's file that was not migrated", () => {
    for (const named of ["--conf_file other.xml", "--conf_file=other.xml", "-conf other.xml"]) {
      const { commands, remarks } = migrated(`${submitter} ${named}`);
      expect(commands[0]?.command).toBe("tony-ts submit other.xml");
      expect(remarks.map(({ message }) => message)).toEqual([
        "com.linkedin.tony.cli.ClusterSubmitter becomes tony-ts submit",
        `${named} becomes other.xml`,
      ]);
    }
    const { remarks } = migrated(`${submitter} other.xml -debug -help`);
    expect(remarks.filter(({ message }) => /debug|help/.test(message)).map(({ kind }) => kind)).toEqual([
      "stays",
      "stays",
    ]);
  });

  test.each([
    [
      "a class that is an option",
      `gcloud dataproc jobs submit hadoop --class=com.linkedin.tony.cli.ClusterSubmitter --jars=x.jar -- --executes=a.py other.xml`,
    ],
    [
      "words of the program that starts it",
      `gcloud jobs submit hadoop --class com.linkedin.tony.cli.ClusterSubmitter --jars x -- --executes=a.py other.xml`,
    ],
    ["a comment after the backslash", `${submitter} \\ # the program\n --executes=a.py \\  \n other.xml`],
  ])("is found with %s", (_what, line) => {
    expect(migrated(line).commands[0]?.command).toBe("tony-ts submit --executes=a.py other.xml");
  });

  test("is found by a variable that holds the class", () => {
    const script =
      'export CLASS="com.linkedin.tony.cli.ClusterSubmitter"\ngcloud jobs submit hadoop --class $CLASS --jars x -- -executes a.py -conf_file other.xml\n';
    const { commands, remarks, text } = migrated(script);
    expect(commands).toMatchObject([{ at: "run.sh:2", command: "tony-ts submit -executes a.py other.xml" }]);
    expect(remarks.filter(({ kind }) => kind === "to-mend")).toEqual([]);
    expect(text).toContain("\ntony-ts submit -executes a.py other.xml\n");
    const unused = 'CLASS="com.linkedin.tony.cli.ClusterSubmitter"\nrun $CLASS_OF_IT\n';
    expect(migrated(unused).remarks).toMatchObject([{ kind: "to-mend", at: "run.sh:1" }]);
  });

  test("leaves out the driver of a Horovod job that -conf describes, as in a job's file", () => {
    const conf = "-conf tony.driver.instances=1 -conf tony.application.framework=horovod -conf tony.worker.instances=2";
    expect(migrated(`${submitter} -executes a.py ${conf}`).commands[0]?.command).toBe(
      "tony-ts submit -executes a.py -conf tony.application.framework=horovod -conf tony.worker.instances=2",
    );
    const other = "-conf tony.driver.instances=1 -conf tony.application.framework=generic";
    expect(migrated(`${submitter} -executes a.py ${other}`).commands[0]?.command).toContain(other);
  });

  test("leaves out a Python in front of the program where an option names another", () => {
    const command = (words: string) => migrated(`${submitter} ${words} other.xml`).commands[0]?.command;
    expect(command(`-python_binary_path bin/python -executes "python3 train.py --rate 1"`)).toBe(
      `tony-ts submit -python_binary_path bin/python -executes "train.py --rate 1" other.xml`,
    );
    expect(command(`-executes='/usr/bin/python3.9 -u train.py' --python_binary_path=python`)).toBe(
      "tony-ts submit -executes='-u train.py' --python_binary_path=python other.xml",
    );
    expect(migrated(`${submitter} -python_binary_path python -executes "python3 a.py" other.xml`).remarks[2]).toEqual({
      kind: "changes",
      at: "run.sh:1",
      message:
        '-executes "python3 a.py" becomes -executes "a.py": -python_binary_path puts its own in front, and TonY runs python python3 a.py',
    });
    for (const stays of ['-executes "python3 train.py"', "-python_binary_path ./in-env -executes 'python3 train.py'"])
      expect(command(stays)).toBe(`tony-ts submit ${stays} other.xml`);
  });

  test("says which option a mistyped one may be", () => {
    expect(migrated(`${submitter} --srcdir src -frob other.xml`).remarks.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        "--srcdir is not an option of TonY: did you mean -src_dir?",
        "-frob is not an option of TonY",
      ]),
    );
  });

  test("for one machine runs there", () => {
    const local = "java com.linkedin.tony.cli.LocalSubmitter -conf_file job.xml";
    expect(migrated(local).commands[0]?.command).toBe("tony-ts submit --scheduler local job.xml");
  });

  test("names the tony.xml of its class path, where the new one is", () => {
    const given = (isElsewhere: boolean, classPath: string) => {
      const find = (job: string) =>
        job === "jobs/tony.xml" ? { path: isElsewhere ? "/new/tony.xml" : "old/jobs/new.xml", isElsewhere } : undefined;
      const line = `java -classpath ${classPath} com.linkedin.tony.cli.ClusterSubmitter -executes a.py`;
      return migrateScript(line, "run.sh", find).commands[0]?.command;
    };
    expect(given(false, "x.jar:jobs")).toBe("tony-ts submit -executes a.py jobs/new.xml");
    expect(given(true, "jobs:x.jar")).toBe("tony-ts submit -executes a.py /new/tony.xml");
  });

  test.each([
    ["-cp .:x.jar", true],
    ["-cp x.jar:./", true],
    ["-cp x.jar:$MORE", true],
    ["-cp x.jar", false],
    ["-cp conf:x.jar", false],
    ["", true],
  ])("has the working directory on the class path that java is given by %j: %s", (option, isThere) => {
    const line = `java ${option} com.linkedin.tony.cli.ClusterSubmitter -executes a.py`;
    const { remarks, commands } = migrateScript(line, "run.sh", (job) =>
      job === "tony.xml" ? { path: "tony.xml", isElsewhere: false } : undefined,
    );
    const command = `tony-ts submit -executes a.py${isThere ? " tony.xml" : ""}`;
    expect(commands.map((one) => one.command)).toEqual([command]);
    expect(remarks.at(-1)).toMatchObject({ kind: isThere ? "changes" : "to-mend", at: "run.sh:1" });
  });

  test("without a job's file is to be mended where TonY would find tony.xml in a folder that is not here", () => {
    const line = 'java -cp "$(hadoop classpath):jobs/*:jobs" com.linkedin.tony.cli.ClusterSubmitter -executes train.py';
    expect(migrated(line).remarks.at(-1)).toEqual({
      kind: "to-mend",
      at: "run.sh:1",
      message: "no job's file is named. TonY finds tony.xml in jobs of its class path: give it to the command",
    });
    expect(migrated(`${submitter} -executes train.py`).remarks.at(-1)).toEqual({
      kind: "stays",
      at: "run.sh:1",
      message: "no job's file is named, and no tony.xml was found: the options are the whole job",
    });
  });

  test("with a quote that is not closed is told so, where it stands", () => {
    const script = `${submitter} \\\n -executes a.py \\\n -task_params '--input x \\\n -src_dir src\n`;
    const { commands, remarks } = migrated(script);
    expect(commands).toMatchObject([]);
    expect(remarks).toEqual([{ kind: "to-mend", at: "run.sh:3", message: "a quote is not closed: '--input" }]);
  });

  test("of a notebook becomes tony-ts notebook, with what its container needs; what starts JupyterLab is its own", () => {
    const { commands, remarks } = migrated(
      "java com.linkedin.tony.cli.NotebookSubmitter --src_dir bin/ -python_venv env.zip -python_binary_path env/bin/python " +
        "-executes 'bin/lab --ip=*' -conf tony.am.memory=8g -conf tony.yarn.queue=ml -conf_file jobs/job.xml -hdfs_classpath /lib",
    );
    expect(commands).toMatchObject([
      {
        at: "run.sh:1",
        command:
          "tony-ts notebook --src_dir bin/ -python_venv env.zip -python_binary_path env/bin/python -conf tony.notebook.memory=8g " +
          "-conf tony.yarn.queue=ml --conf jobs/job.tony-ts.xml",
      },
    ]);
    expect(remarks[0]?.message).toBe(
      "com.linkedin.tony.cli.NotebookSubmitter becomes tony-ts notebook: it ends when it has been idle for an hour (--idle); TonY ends it after a day",
    );
    expect(new Set(remarks.map(({ at }) => at))).toEqual(new Set(["run.sh:1"]));
    expect(remarks.map(({ kind, message }) => `${kind} ${message.split(" ").slice(0, 3).join(" ")}`)).toEqual([
      "changes com.linkedin.tony.cli.NotebookSubmitter becomes tony-ts",
      "stays --src_dir bin/",
      "stays -python_venv env.zip",
      "stays -python_binary_path env/bin/python",
      "no-meaning -executes 'bin/lab --ip=*':",
      "changes tony.am.memory becomes tony.notebook.memory:",
      "stays tony.yarn.queue",
      "changes -conf_file jobs/job.xml becomes",
      "to-mend -hdfs_classpath /lib: a",
    ]);
  });

  test("of a notebook that says in no other way which Python has JupyterLab is to be mended", () => {
    const { commands, remarks } = migrated(
      "java com.linkedin.tony.cli.NotebookSubmitter -executes bin/lab -task_params --debug -sidecar_tensorboard_log_dir /logs",
    );
    expect(commands.map(({ command }) => command)).toEqual(["tony-ts notebook"]);
    expect(remarks.slice(1).map(({ kind }) => kind)).toEqual(["to-mend", "no-meaning", "to-mend"]);
    expect(remarks[1]?.message).toContain("--python_binary_path");
    for (const named of ["-python_venv env.zip", "-python_binary_path env/bin/python"]) {
      const line = `java com.linkedin.tony.cli.NotebookSubmitter -executes bin/lab ${named}`;
      expect(migrated(line).remarks[1]).toMatchObject({ kind: "no-meaning" });
    }
  });

  test("names what is no option", () => {
    const { remarks } = migrated(`${submitter} -conf_file job.xml -x`);
    expect(remarks.at(-1)).toEqual({ kind: "to-mend", at: "run.sh:1", message: "-x is not an option of TonY" });
  });

  test.each([
    ["a loop", 'for lr in 0.1 0.2; do\nSUBMIT -task_params "--lr $lr"\ndone', ["lr"]],
    ["what is read", "while read -r NAME REST; do SUBMIT -executes ${NAME}; done < names", ["NAME"]],
    ["a function's or the script's own arguments", 'run() { SUBMIT -executes="$1" "${@}"; }', ["$1", "$@"]],
    ["what is set below a function", "run() { SUBMIT -executes a.py -conf_file $CONF; }\nCONF=job.xml\nrun", ["CONF"]],
    ["what tony-ts reads itself", "export HADOOP_CONF_DIR=/a\nSUBMIT -executes a.py", ["HADOOP_CONF_DIR"]],
    ["a menu", "select NAME in a b; do SUBMIT -executes $NAME; done", ["NAME"]],
    ["what is read into a list", "mapfile -t FILES < names\nSUBMIT -executes ${FILES[0]}", ["FILES"]],
    ["what is read into a list by its other name", "readarray FILES < names\nSUBMIT -executes ${FILES[0]}", ["FILES"]],
    ["none but those that it has", "for A in B C; do echo $A; done\nread D\nSUBMIT -executes $B", []],
    ["what was added to", 'ARGS+=(-executes a.py)\nSUBMIT "${ARGS[@]}"', ["ARGS"]],
  ])("needs the script that has variables of %s", (_what, script, needs) => {
    const { commands, remarks } = migrated(script.replace("SUBMIT", submitter));
    expect(commands).toMatchObject([{ needs }]);
    expect(remarks.filter(({ kind }) => kind === "to-mend")).toEqual([]);
  });

  test.each([
    ["hadoop jar tony.jar", "to-mend"],
    ["/opt/hadoop/bin/yarn jar tony.jar", "to-mend"],
    ["gcloud dataproc jobs submit hadoop --jars tony.jar --class", "to-mend"],
    ["export HADOOP_CLASSPATH=.; hadoop jar tony.jar", "changes"],
    ["java", "changes"],
  ])("by %s has the tony.xml of the working directory only where that is on the class path", (starter, kind) => {
    const script = `${starter} com.linkedin.tony.cli.ClusterSubmitter -- -executes train.py`;
    const { remarks } = migrateScript(script, "run.sh", (job) => ({ path: job, isElsewhere: false }));
    expect(remarks.find(({ message }) => message.startsWith("tony.xml "))).toMatchObject({ kind });
  });

  test.each([
    ["-src_dir=src -executes=src/train.py", "-src_dir=src -executes=train.py"],
    ["-executes 'src/train.py --data src/x' -src_dir ./src", "-executes 'train.py --data src/x' -src_dir ./src"],
  ])("with a program where older releases had it, %s, has it where it is", (given, now) => {
    const { commands, remarks } = migrated(`${submitter} -conf_file job.xml ${given}`);
    expect(commands[0]?.command).toBe(`tony-ts submit job.xml ${now}`);
    const said = remarks.filter(({ message }) => message.startsWith("-executes"));
    expect(said.map(({ kind }) => kind)).toEqual(["changes"]);
    expect(said[0]?.message).toMatch(/ becomes -executes.*train\.py.*: it is looked for inside --src_dir/);
  });

  test("in a variable is pointed at, beside those that can be read", () => {
    const script = [`CMD='${submitter}'`, "$CMD -executes a.py", `${submitter} job.xml`].join("\n");
    const { remarks, commands } = migrated(script);
    expect(remarks[0]).toMatchObject({
      kind: "to-mend",
      at: "run.sh:1",
      message: expect.stringContaining("not in a command line"),
    });
    expect(commands.map(({ at }) => at)).toEqual(["run.sh:3"]);
  });

  test("that is no shell's is only pointed at", () => {
    const program = `run(["java", "com.linkedin.tony.TonyClient.main"])`;
    expect(migrated(program)).toMatchObject({
      text: program,
      commands: [],
      remarks: [{ kind: "to-mend", at: "run.sh" }],
    });
  });
});
