import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { SAME_SIGNAL_MS } from "../../client/following/signals.ts";
import { packageRoot, programPath } from "../../src/programs.ts";
import { TonyTs, tonyTs } from "../support/tony-ts.ts";

function jobFile(command: string): string {
  return `<configuration>
<property><name>tony.application.name</name><value>local</value></property>
<property><name>tony.application.framework</name><value>generic</value></property>
<property><name>tony.worker.instances</name><value>2</value></property>
<property><name>tony.worker.memory</name><value>512m</value></property>
<property><name>tony.worker.command</name><value>${command}</value></property>
</configuration>
`;
}

describe("a job on this machine, without any cluster", () => {
  let folder: string;
  let environment: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "cli-local-"));
    environment = { XDG_STATE_HOME: join(folder, "state"), HADOOP_HOME: "/nowhere" };
    await writeFile(join(folder, "hello.xml"), jobFile("echo hello"));
    await writeFile(join(folder, "long.xml"), jobFile("echo started; sleep 600"));
    // The first worker that fails ends the other: neither fails before both have said everything.
    const lines = [
      "echo one; sleep 0.6; echo two &gt;&amp;2; sleep 0.6; echo three",
      `touch ${folder}/said-$SESSION_ID-$TASK_INDEX`,
      `until test -e ${folder}/said-$SESSION_ID-0; do sleep 0.1; done`,
      `until test -e ${folder}/said-$SESSION_ID-1; do sleep 0.1; done`,
      "test $SESSION_ID = 1",
    ];
    const restarted = jobFile(lines.join("; ")).replace(
      "</configuration>",
      "<property><name>tony.am.retry-count</name><value>1</value></property></configuration>",
    );
    await writeFile(join(folder, "restarted.xml"), restarted);
    await writeFile(join(folder, "stubborn.xml"), jobFile("trap '' TERM; echo started; sleep 600"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("without HADOOP_CONF_DIR a submission says what to set and offers the local scheduler", async () => {
    const { exitCode, stderr } = await tonyTs(["submit", "--conf", join(folder, "hello.xml")], environment);
    expect(stderr).toMatch(/HADOOP_CONF_DIR is not set[\s\S]*tony-ts submit job\.xml --scheduler local/);
    expect(exitCode).toBe(3);
  });

  test("more tasks than this machine has cores run at once", async () => {
    const workers = availableParallelism() + 1;
    const together = `touch ${folder}/here-$TASK_INDEX; until test -e ${folder}/here-${workers - 1}; do sleep 0.1; done`;
    await writeFile(join(folder, "crowd.xml"), jobFile(together));
    const { exitCode, stdout } = await tonyTs(
      ["submit", "--scheduler", "local", join(folder, "crowd.xml"), "-conf", `tony.worker.instances=${workers}`],
      environment,
    );
    expect(stdout).toContain(`${workers} of ${workers} tasks exited 0`);
    expect(stdout).not.toContain("waiting will not help");
    expect(exitCode).toBe(0);
  });

  test("a search gives each trial its parameters, and shows the best ones", async () => {
    const search = {
      "tony.search.param.rate": "float 0.1 0.4 step 0.1",
      "tony.search.metric": "loss",
      "tony.search.direction": "minimize",
      "tony.search.max-parallel": "2",
    };
    const report = `echo "{\\"step\\": 1, \\"metrics\\": {\\"loss\\": $TONY_PARAM_RATE}}" &gt;&gt; $TONY_PROGRESS_FILE; echo rate {{param.rate}}; test {{param.rate}} != 0.3`;
    const properties = Object.entries(search).map(
      ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
    );
    const job = jobFile(report).replace("<value>2<", "<value>1<");
    await writeFile(join(folder, "job.xml"), job.replace("</configuration>", `${properties.join("")}</configuration>`));
    const { exitCode, stdout, stderr } = await tonyTs(
      ["search", "--scheduler", "local", "job.xml"],
      environment,
      folder,
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/SUCCEEDED +4 trials: 3 completed, 1 failed · 2 restarts/);
    const [best, second] = stdout
      .split("\n")
      .slice(stdout.split("\n").findIndex((line) => line.startsWith("trial ")) + 1);
    expect(best).toMatch(/^\d +completed +0\.1 +0\.1$/);
    expect(second).toMatch(/^\d +completed +0\.2 +0\.2$/);
    expect(stdout).toMatch(/^trial \d failed: exited 1 on .*: tony-ts logs local_\d+_\d+ trial:\d$/m);

    const [id = ""] = stdout.match(/local_\d+_\d+/) ?? [];
    const trials = await tonyTs(["trials", id, "--top", "2"], environment, folder);
    expect(trials.stdout).toContain("3 completed, 1 failed\n");
    expect(trials.stdout).toContain("and 2 more\n");
    const csv = await tonyTs(["trials", id, "--csv"], environment, folder);
    expect(csv.stdout).toMatch(
      /^number,task,state,loss,step,rate,checkpoint,why,startedAtMs,endedAtMs\n\d,worker:\d,completed,0\.1,1,0\.1,,,\d{13},\d{13}\n/,
    );
    const json = await tonyTs(["trials", id, "--json"], environment, folder);
    const { trials: all } = JSON.parse(json.stdout);
    for (const name of [`trial:${all[0].number}`, `trial:${all[0].number}/worker:0`])
      expect(await tonyTs(["logs", id, name], environment, folder)).toMatchObject({ stdout: "rate 0.1\n", stderr: "" });
    expect(all[3]).toMatchObject({ state: "failed", value: 0.3, why: expect.stringContaining("exited 1") });
    const status = await tonyTs(["status", id], environment, folder);
    expect(status.stdout).toContain("  trials: 3 completed, 1 failed\n  best so far: loss 0.1 of trial ");

    for (const printed of [stdout, trials.stdout]) {
      const [, alone = ""] = printed.match(/^trial \d alone: tony-ts (.*)$/m) ?? [];
      expect(alone).toBe(
        "search job.xml --scheduler local -conf tony.search.points=rate=0.1 -conf tony.search.max-trials=1",
      );
    }
    const alone = await tonyTs(
      "search job.xml --scheduler local -conf tony.search.points=rate=0.1 -conf tony.search.max-trials=1".split(" "),
      environment,
      folder,
    );
    expect(alone.stdout).toMatch(/^0 +completed +0\.1 +0\.1$/m);

    const [earlier = ""] = alone.stdout.match(/local_\d+_\d+/) ?? [];
    const wanted = ["--resume", earlier, "-conf", "tony.search.max-trials=2", "-conf", "tony.search.points=rate=0.2"];
    const results = ["-conf", `tony.output.dir=file://${folder}/out`];
    const resumed = await tonyTs(
      ["search", "--scheduler", "local", "job.xml", ...wanted, ...results],
      environment,
      folder,
    );
    expect(resumed.stdout).toMatch(/SUCCEEDED +2 trials: 2 completed/);
    expect(resumed.stdout).toMatch(new RegExp(`^took over 1 trial of ${earlier}: 1 ended$`, "m"));
    const [later = ""] = resumed.stdout.match(/^local_\d+_\d+/m) ?? [];
    const lines = (await readFile(join(folder, "out", later, "trials.jsonl"), "utf8")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { number: 0, params: { rate: 0.1 }, state: "completed", value: 0.1, application: earlier },
      { number: 1, params: { rate: expect.any(Number) }, state: "completed", application: later },
    ]);

    expect(await tonyTs(["logs", later, "trial:0"], environment, folder)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`which has its logs: tony-ts logs ${earlier} trial:0`),
    });

    const trialsFile = join(folder, "out", later, "trials.jsonl");
    const again = await tonyTs(["search", "job.xml", "--resume", trialsFile, ...wanted.slice(2)], environment, folder);
    expect(again.exitCode).toBe(2);
    expect(again.stderr).toContain("2 trials that have ended, and this search has 2 trials in all");
  });

  test("it runs to its end, and its state and logs stay", async () => {
    const submit = ["submit", "--scheduler", "local", "--conf", join(folder, "hello.xml"), "--logs", "all"];
    const { exitCode, stdout } = await tonyTs(submit, environment);
    expect(stdout).toMatch(/^local_\d+_\d{4} {2}local · on this machine · worker × 2/);
    expect(stdout).toMatch(/^worker:0 \| hello$/m);
    expect(stdout).toMatch(/^worker:1 \| hello$/m);
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0/);
    expect(exitCode).toBe(0);

    const [id = ""] = stdout.split(" ");
    const programs = await readdir(join(folder, "state/tony-ts/local", id), { recursive: true });
    // It keeps what it runs, compiled, whatever is installed or cleared meanwhile.
    expect(programs).toEqual(
      expect.arrayContaining(["am/am.cjs", "am/am.cjs.cache", "executor.cjs", "executor.cjs.cache"]),
    );
    const status = await tonyTs(["status", id, "--json"], environment);
    expect(JSON.parse(status.stdout)).toMatchObject({
      report: { state: "FINISHED", finalStatus: "SUCCEEDED" },
      status: { outcome: { result: "succeeded" } },
    });
    expect((await tonyTs(["logs", id, "worker:1"], environment)).stdout).toBe("hello\n");
    expect((await tonyTs(["list", "--scheduler", "local", "--all"], environment)).stdout).toContain(id);
  });

  test("what its tasks used and reported over time can be shown when it has ended", async () => {
    const report = `echo '{"step": 7, "metrics": {"loss": 0.5}}' &gt;&gt; $TONY_PROGRESS_FILE; sleep 3`;
    await writeFile(join(folder, "series.xml"), jobFile(report));
    const submit = ["submit", "--scheduler", "local", join(folder, "series.xml")];
    const { stdout: submitted } = await tonyTs(submit, environment);
    const [id = ""] = submitted.split(" ");
    const { stdout } = await tonyTs(["series", id], environment);
    expect(stdout).toMatch(/^worker:0 +cpu [\s\S]*^worker:1 +cpu [\s\S]* to step 7$[\s\S]*^ +loss +\S+ +0\.5 → 0\.5$/m);
    const { tasks } = JSON.parse((await tonyTs(["series", id, "worker:1", "--json"], environment)).stdout);
    expect(tasks).toMatchObject([{ task: "worker:1", memoryLimitBytes: 512 * 1024 ** 2 }]);
    const told = (await tonyTs(["advise", id], environment)).stdout;
    expect(told).toMatch(
      /^local_\d+_\d{4} {2}local \(took \d+ s\)\n {2}worker +no advice: not enough data: no run succeeded/,
    );
    const { runs, advice } = JSON.parse((await tonyTs(["advise", "local", "--json"], environment)).stdout);
    expect(runs[0]).toMatchObject({ applicationId: id, hasSeries: true });
    expect(advice).toEqual([{ code: "thin", role: "worker", runs: 0, ranMs: 0 }]);
    const { stdout: applied } = await tonyTs(["advise", id, "--apply", join(folder, "series.xml")], environment);
    expect(applied).toMatch(/^\/\S+series\.xml stays as it is: no setting is to change$/m);
  });

  test("a closed terminal leaves it running; another shell finds and ends it by its id", async () => {
    const submit = ["submit", "--scheduler", "local", "--conf", join(folder, "long.xml")];
    const running = new TonyTs(submit, environment);
    const [, id = ""] = await running.output(/^(local_\d+_\d{4}) [\s\S]*^worker:0 \| started$/m);
    running.process.kill("SIGHUP");
    await running.ended;
    const page = new TonyTs(["page", id], environment);
    const [, door = "", token = ""] = await page.output(/(http:\S+)#(\S+) shows/);
    const asked = await fetch(`${door}api/v1/settings`, { headers: { Accept: `application/json; key=${token}` } });
    expect(JSON.parse(await asked.text())).toMatchObject({
      xml: expect.stringMatching(/<name>tony\.worker\.memory<\/name><value>512m<\/value>.*<source>\S*long\.xml:5</),
    });
    page.process.kill("SIGINT");
    await page.ended;
    const status = await tonyTs(["status", id], environment);
    expect(status.stdout).toMatch(/local · RUNNING · queue local/);
    expect((await tonyTs(["kill", id], environment)).stdout).toBe(
      `${id} KILLED; its processes have ended; its logs are kept for 7 days: tony-ts logs ${id}\n`,
    );
    const after = await tonyTs(["status", id], environment);
    expect(after.stdout).toMatch(/^KILLED {2}local_/);
  });

  test("a closed pipe, a killed client and one that follows it again leave it running; SIGTERM at its owner ends it, and who waits for it is told", async () => {
    const submit = [
      process.execPath,
      programPath("tony-ts"),
      "submit",
      "--scheduler",
      "local",
      join(folder, "long.xml"),
    ];
    const { stdout: first } = await promisify(execFile)("sh", ["-c", `"$@" | head -1`, "sh", ...submit], {
      env: { ...process.env, ...environment },
    });
    const [id = ""] = first.split(" ");
    const waiting = new TonyTs(["wait", id], environment);
    const killed = new TonyTs(["attach", id], environment);
    await killed.output(/^worker:0 \| started$/m);
    killed.process.kill("SIGKILL");
    await killed.ended;
    const listed = await tonyTs(["list", "--state", "running", "--json"], environment);
    expect(JSON.parse(listed.stdout)).toMatchObject({ jobs: [{ id }], more: 0, places: ["local"] });
    expect(listed.stderr).toMatch(/^Jobs of this machine only\. HADOOP_CONF_DIR is not set/);

    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const following = new TonyTs(["attach", id], environment);
      await following.output(/^worker:0 \| started$/m);
      following.process.kill(signal);
      const left = await following.ended;
      expect(left.stderr).toContain(`Ctrl-C leaves the job running. To end the job: tony-ts kill ${id}`);
      expect(left.stderr).toContain(`${id} still runs; see tony-ts status ${id}`);
      expect(left.exitCode).toBe(5);
    }
    const status = await tonyTs(["status", id, "--json"], environment);
    expect(JSON.parse(status.stdout)).toMatchObject({ report: { state: "RUNNING" } });

    const attached = new TonyTs(["attach", "--own", id, "--logs", "worker:1", "--json"], environment);
    await attached.output(/"task":"worker:1","stream":"stdout","line":"started"/);
    attached.process.kill("SIGTERM");
    const { exitCode, stdout } = await attached.ended;
    expect(exitCode).toBe(4);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ jsonVersion: 1, event: "job", applicationId: id, submitted: false });
    expect(events.at(-1)).toMatchObject({ jsonVersion: 1, event: "end", outcome: { result: "killed" }, exitCode: 4 });
    const waited = await waiting.ended;
    expect(waited.stdout).toMatch(new RegExp(`^${id} KILLED: .*SIGTERM`));
    expect(waited.exitCode).toBe(4);
    expect((await tonyTs(["attach", id], environment)).exitCode).toBe(4);
  });

  test("its lines stay in their order, with their generation; the end of what is followed is told", async () => {
    const submit = ["submit", "--scheduler", "local", "--json", "--name", "again", join(folder, "restarted.xml")];
    const submitted = await tonyTs(submit, environment);
    expect(submitted.exitCode).toBe(0);
    const events = submitted.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const { applicationId: id } = events[0];
    expect(events[0]).toMatchObject({ event: "job", name: "again", submitted: true });
    expect(events.at(-1)).toMatchObject({ event: "end", outcome: { result: "succeeded" }, exitCode: 0 });

    const logs = await tonyTs(["logs", id, "worker:1", "--follow", "--json"], environment);
    const lines = logs.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.pop()).toMatchObject({ event: "end", outcome: { result: "succeeded" }, exitCode: 0 });
    expect(lines.map(({ stream, line, generation }) => `${generation} ${stream} ${line}`)).toEqual(
      [1, 2].flatMap((number) => [`${number} stdout one`, `${number} stderr two`, `${number} stdout three`]),
    );
    expect((await tonyTs(["logs", id, "--tail", "1", "--generation", "1"], environment)).stdout).toBe("three\n");
    const found = await tonyTs(["logs", id, "--grep", "^t.o$", "--generation", "1"], environment);
    expect(found.stdout).toBe("worker:0 | two\nworker:1 | two\n");
    expect((await tonyTs(["logs", id, "--stream", "stderr", "--grep", "three"], environment)).stderr).toBe(
      "no matching lines in worker:0, worker:1\n",
    );
    expect((await tonyTs(["logs", id, "--grep", "("], environment)).stderr).toContain(
      "--grep takes a regular expression",
    );
    expect(await tonyTs(["logs", id, "--since", "1h", "worker:7"], environment)).toMatchObject({
      exitCode: 2,
      stderr: "tony-ts: The job has no task worker:7; it has worker:0, worker:1\n",
    });
  });

  test("a rehearsal checks and says what it would do; several jobs are ended at once", async () => {
    const job = ["submit", "--scheduler", "local", join(folder, "long.xml")];
    const rehearsed = await tonyTs([...job, "--dry-run", "--name", "try"], environment);
    expect(rehearsed.stdout).toMatch(
      /^try · on this machine[\s\S]*asks for +3 containers: [\s\S]*Nothing was uploaded/,
    );
    const elsewhere = ["-conf", "tony.application.checkpoint-dir=~/checkpoints"];
    const refused = await tonyTs([...job, ...elsewhere, "--dry-run"], environment);
    expect(refused).toEqual(await tonyTs([...job, ...elsewhere], environment));
    expect(refused.exitCode).not.toBe(0);
    const none = await tonyTs([...job, "--logs", "worker:7"], environment);
    expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("it has worker:0, worker:1") });
    const ids = await Promise.all(
      [1, 2].map(async () => (await tonyTs([...job, "--detach"], environment)).stdout.trim()),
    );
    const killed = await tonyTs(["kill", ...ids, "local_1_0001", "--json"], environment);
    expect(JSON.parse(killed.stdout)).toMatchObject({
      jobs: [
        { applicationId: ids[0], finalStatus: "KILLED" },
        { applicationId: ids[1], finalStatus: "KILLED" },
        { applicationId: "local_1_0001", error: { code: "APPLICATION_NOT_FOUND" } },
      ],
    });
    expect(killed.exitCode).not.toBe(0);
    const listed = await tonyTs(["list", "--json"], environment);
    expect(JSON.parse(listed.stdout)).toMatchObject({ jobs: [], places: ["local"] });
    expect(listed.stderr).toMatch(/^Jobs of this machine only\. HADOOP_CONF_DIR is not set/);
    expect(listed.exitCode).toBe(0);
    const failed = await tonyTs(["list", "--state", "killed"], environment);
    expect(failed.stdout).toMatch(new RegExp(`^${ids[0]} +KILLED .*  \\S+`, "m"));
  });

  test("a program's time limit ends it, also where nothing but tony-ts holds that limit", async () => {
    const library = join(packageRoot(), "dist", "lib", "client", "library.js");
    const program = [
      `import { submit } from ${JSON.stringify(library)};`,
      "setInterval(gc, 100).unref();",
      `const job = await submit(${JSON.stringify(join(folder, "long.xml"))}, { local: true, signal: AbortSignal.timeout(5_000) });`,
      "console.log((await job.ended()).summary);",
    ];
    const words = ["--expose-gc", "--input-type=module", "--eval", program.join("\n")];
    const { stdout } = await promisify(execFile)(process.execPath, words, { env: { ...process.env, ...environment } });
    expect(stdout).toMatch(/^killed by \S+ from \S+ \(the program that submitted it: .*timeout/);
  });

  test("the second Ctrl-C leaves at once and says what becomes of the job", async () => {
    const submit = ["submit", "--scheduler", "local", "--conf", join(folder, "stubborn.xml")];
    const running = new TonyTs(submit, environment);
    const [, id = ""] = await running.output(/^(local_\d+_\d{4}) [\s\S]*^worker:0 \| started$/m);
    running.process.kill("SIGINT");
    await running.output(/Ending the job/);
    await setTimeout(2 * SAME_SIGNAL_MS);
    running.process.kill("SIGINT");
    const { exitCode, stderr } = await running.ended;
    expect(stderr).toMatch(
      /Left at once; local_\S+ (?:may still run: tony-ts kill|is being ended: tony-ts wait) local_/,
    );
    expect(exitCode).toBe(5);
    expect((await tonyTs(["kill", id], environment)).exitCode).toBe(0);
  });
});
