import { describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { defineCommand } from "../../../client/command-line/command.ts";
import { commands } from "../../../client/commands/commands.ts";
import { ExitCode } from "../../../src/errors.ts";
import { recordedContext } from "../support.ts";

async function mistakeIn(...words: string[]): Promise<string> {
  return await parseArguments(words, commands).then(
    () => "",
    (error: Error) => error.message,
  );
}

describe("mistakes in a command line", () => {
  test("nothing at all shows the whole help", async () => {
    const shown = await mistakeIn();
    expect(shown).toMatch(/^Runs distributed machine-learning jobs/);
    expect(shown).toContain("tony-ts submit");
  });

  test.each([
    [["sumbit"], "unknown command: sumbit\n  Did you mean tony-ts submit?"],
    [["sumbit", "--queue", "ml", "job.xml"], "unknown command: sumbit\n  Did you mean tony-ts submit?"],
    [["--json", "sumbit"], "unknown command: sumbit\n  Did you mean tony-ts submit?"],
    [["cache", "lst"], "unexpected argument: lst\n  tony-ts cache list|prune\n  tony-ts cache --help"],
    [["frobnicate"], "unknown command: frobnicate\n  tony-ts --help lists the commands"],
    [["history"], "unknown command: history\n  Did you mean tony-ts list --all?"],
    [["jobs", "--json"], "unknown command: jobs\n  Did you mean tony-ts list?"],
    ...[
      ["sacct", "list --all"],
      ["squeue", "list"],
      ["show", "status ID"],
      ["scancel", "kill ID"],
      ["sbatch", "submit job.xml"],
      ["watch", "attach ID"],
      ["download", "get ID"],
      ["lint", "validate job.xml"],
      ["port-forward", "forward ID worker:0 8080"],
      ["ssh", "shell ID worker:0"],
      ["tail", "logs ID -f"],
      ["convert", "migrate job.xml"],
      ["sinfo", "nodes"],
      ["config", "doctor"],
    ].map(([typed = "", meant]) => [[typed], `unknown command: ${typed}\n  Did you mean tony-ts ${meant}?`] as const),
    [["ps"], "unknown command: ps\n  Did you mean tony-ts list?"],
    [["describe", "local_1_0001"], "unknown command: describe\n  Did you mean tony-ts status local_1_0001?"],
    [["delete"], "unknown command: delete\n  Did you mean tony-ts kill ID?"],
    [["application", "-list"], "unknown command: application\n  Did you mean tony-ts list?"],
    [["app", "-list", "-appStates", "ALL"], "unknown command: app\n  Did you mean tony-ts list --all?"],
    [
      ["application", "-status", "application_1_0001"],
      "unknown command: application\n  Did you mean tony-ts status application_1_0001?",
    ],
    [
      ["application", "-kill", "application_1_0001"],
      "unknown command: application\n  Did you mean tony-ts kill application_1_0001?",
    ],
    [
      ["application", "kill", "application_1_0001"],
      "unknown command: application\n  Did you mean tony-ts kill application_1_0001?",
    ],
    [["application", "submit", "app.yaml"], "unknown command: application\n  Did you mean tony-ts submit job.xml?"],
    [["cp", "application_1_0001"], "unknown command: cp\n  Did you mean tony-ts get application_1_0001?"],
    [
      ["logs", "-applicationId", "application_1_0001"],
      "the job's id stands by itself, without -applicationId\n  tony-ts logs application_1_0001\n  tony-ts logs --help",
    ],
    [
      ["logs", "--application_id=local_1_0001", "-f"],
      "the job's id stands by itself, without --application_id\n  tony-ts logs local_1_0001\n  tony-ts logs --help",
    ],
    [
      ["logs", "-appOwner", "bob", "-applicationId", "application_1_0001"],
      "the job's id stands by itself, without -applicationId\n  tony-ts logs application_1_0001\n  tony-ts logs --help",
    ],
    [
      ["kill", "-id", "application_1_0001"],
      "the job's id stands by itself, without -id\n  tony-ts kill application_1_0001\n  tony-ts kill --help",
    ],
    [
      ["status", "--jsn"],
      "unknown option: --jsn\n  Did you mean --json?\n  tony-ts status <application>\n  tony-ts status --help",
    ],
    [
      ["submit", "--envv", "A=1", "job.xml"],
      "unknown option: --envv\n  Did you mean --env?\n  tony-ts submit [job]\n  tony-ts submit --help",
    ],
    [
      ["submit", "--srcdir", "src", "job.xml"],
      "unknown option: --srcdir\n  Did you mean --src_dir?\n  tony-ts submit [job]\n  tony-ts submit --help",
    ],
    [
      ["submit", "--python-venv", "v.zip", "job.xml"],
      "unknown option: --python-venv\n  Did you mean --python_venv?\n  tony-ts submit [job]\n  tony-ts submit --help",
    ],
    [
      ["submit", "--dry_run", "job.xml"],
      "unknown option: --dry_run\n  Did you mean --dry-run?\n  tony-ts submit [job]\n  tony-ts submit --help",
    ],
    [["list", "--bogus"], "unknown option: --bogus\n  tony-ts list\n  tony-ts list --help"],
    [["status"], "Which job? Give its id (tony-ts list)\n  tony-ts status <application>\n  tony-ts status --help"],
    [["kill"], "Which job? Give its id (tony-ts list)\n  tony-ts kill <application..>\n  tony-ts kill --help"],
    [["wait", "a", "b"], "unexpected argument: b\n  tony-ts wait [application]\n  tony-ts wait --help"],
    [["submit", "--xyz"], "unknown option: --xyz\n  tony-ts submit [job]\n  tony-ts submit --help"],
    [
      ["submit", "-confg", "job.xml"],
      "unknown option: -confg\n  Did you mean --conf?\n  tony-ts submit [job]\n  tony-ts submit --help",
    ],
    [["submit", "--conf"], "--conf needs a value\n  tony-ts submit [job]\n  tony-ts submit --help"],
    [["cache"], "Say what to do with the cache: list, prune\n  tony-ts cache list|prune\n  tony-ts cache --help"],
  ])("%j", async (words, message) => {
    expect(await mistakeIn(...words)).toBe(message);
  });

  test.each(["-debug", "--debug"])("%s is an option of every command", async (debug) => {
    for (const { verb } of commands) expect(await mistakeIn(verb, debug)).not.toMatch(/unknown option/);
  });

  test("a single-valued option given twice is refused", async () => {
    expect(await mistakeIn("submit", "-executes", "a", "-executes", "b")).toMatch(
      /^--executes can be given once only\n/,
    );
  });

  test("a scheduler that does not exist is refused with the choice", async () => {
    expect(await mistakeIn("submit", "--scheduler", "mesos")).toMatch(/Choices: "yarn", "local"/);
  });

  test.each([
    [
      ["submit", "job.xml", "--dry-run", "--detach"],
      "--dry-run submits nothing, so there is no job to leave with --detach",
    ],
    [["submit"], "Which job? Give its file: job.xml"],
    [["submit", "--name", "bert"], "Which job? Give its file: job.xml"],
    [["submit", "job.xml", "--name", ""], "--name needs a value"],
    [["submit", "job.xml", "--queue", " "], "--queue needs a value"],
    [["submit", "--queue", "ml", "--priority", "3"], "Which job? Give its file: job.xml"],
    ...["--queue", "--priority", "--application-tag"].map(
      (option) =>
        [
          ["submit", "job.xml", "--scheduler", "local", option, "3"],
          `${option} has no effect with --scheduler local: leave one of them out`,
        ] as const,
    ),
    [["submit", "job.xml", "--conf", "other.xml"], "one job file can be given, not job.xml and other.xml"],
    [["submit", "--conf", "job.xml", "--logs", "Worker"], "--logs takes none, all, or tasks"],
    [["validate"], "Which job?"],
    [["status", "nonsense"], '"nonsense" is not an application\'s id'],
    [["kill", "local_1_0001", "job_1_2"], '"job_1_2" is not an application\'s id'],
    [["attach", "job_1_2"], '"job_1_2" is not an application\'s id'],
    [["wait", "job_1_2"], '"job_1_2" is not an application\'s id'],
    [["attach", "local_1_0001", "--logs", "Worker"], "--logs takes none, all, or tasks"],
    [["logs", "local_1_0001", "worker:0", "--logs", "all"], "Give a task or --logs, not both"],
    [["logs", "local_1_0001", "Worker:0"], "TASK takes none, all, or tasks"],
    [["logs", "local_1_0001", "am", "--executor"], "The AM has no executor: leave out --executor"],
    [["logs", "local_1_0001", "--json", "--split"], "With --json each line names its stream: leave out --split"],
    [["list", "--user", "bob", "--all-users"], "--all-users and --user: leave one of them out"],
    [["list", "--until", "yesterday"], "--until takes a duration such as 10m"],
    [["list", "--limit", "0"], "--limit takes a whole number above 0"],
    [["cache", "prune", "--unused-for", "soon"], "--unused-for takes a duration"],
    [["init", "caffe"], 'There is no "caffe" to start from'],
  ])("%j", async (words, message) => {
    const parsed = await parseArguments(words, commands);
    if (!("run" in parsed)) throw new Error("nothing to run");
    const context = recordedContext({ environment: { HADOOP_HOME: "/nowhere", HOME: "/nowhere" } });
    await expect(parsed.run(context)).rejects.toMatchObject({
      exitCode: ExitCode.usage,
      message: expect.stringContaining(message),
    });
  });
});

describe("a cluster that is not configured", () => {
  test.each([
    [["submit", "hdfs:///jobs/job.xml"]],
    [["status", "application_1_0001"]],
    [["logs", "application_1_0001"]],
    [["list"]],
    [["cache", "list"]],
  ])("is exit code 3: %j", async (words) => {
    const parsed = await parseArguments(words, commands);
    if (!("run" in parsed)) throw new Error("nothing to run");
    const context = recordedContext({ environment: { HADOOP_HOME: "/nowhere", HOME: "/nowhere" } });
    await expect(parsed.run(context)).rejects.toMatchObject({
      exitCode: ExitCode.cluster,
      code: "NO_CLUSTER",
      message: expect.stringContaining("HADOOP_CONF_DIR is not set, so there is no cluster to talk to."),
    });
  });
});

describe("a command", () => {
  test("gets its arguments with the types of its tables", async () => {
    const echo = defineCommand({
      verb: "echo",
      summary: "Repeats",
      positionals: { what: { describe: "What", required: true } },
      examples: [["echo ab", "Says ab"]],
      options: { times: { type: "number", default: 1 }, conf: { type: "string", array: true } },
      run: async ({ what, times, conf }, { output }) => {
        output.print(`${what.repeat(times)} ${conf?.join("+") ?? "-"}`);
        return ExitCode.succeeded;
      },
    });
    const parsed = await parseArguments(["echo", "ab", "--times", "2", "-conf", "x=1", "--conf", "y"], [echo]);
    if (!("run" in parsed)) throw new Error("nothing to run");
    const context = recordedContext({});
    expect(await parsed.run(context)).toBe(0);
    expect(context.out.text).toBe("abab x=1+y\n");
  });
});
