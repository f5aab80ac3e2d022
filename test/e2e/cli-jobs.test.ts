import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { NodesJson, StatusJson } from "../../client/printed-json.ts";
import { ClusterUser, environmentFor, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { sweep } from "../support/sweep.ts";
import { TonyTs, tonyTs } from "../support/tony-ts.ts";

const cluster = await testCluster();
const alice = environmentFor(cluster, ClusterUser.alice);

const printedLines = 29_000;

/** A job of two shell workers. */
function jobFile(name: string, command: string): string {
  const settings = {
    "tony.application.name": name,
    "tony.application.framework": "generic",
    "tony.worker.instances": "2",
    "tony.worker.memory": "512m",
    "tony.am.memory": "512m",
    "tony.worker.command": command,
  };
  const properties = Object.entries(settings).map(
    ([key, value]) => `<property><name>${key}</name><value>${value}</value></property>`,
  );
  return `<configuration>\n${properties.join("\n")}\n</configuration>\n`;
}

describe("a job on a real cluster, from its submission to its logs", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "cli-jobs-"));
    // Programs in containers, which run as another user, look for files in it.
    await chmod(folder, 0o711);
    await writeFile(
      join(folder, "hello.xml"),
      jobFile("hello", 'echo "hello from $TONY_TASK_ID$JOB_NAME:$TASK_INDEX"'),
    );
    await writeFile(join(folder, "fail.xml"), jobFile("fail", "echo before; exit 7"));
    await writeFile(
      join(folder, "resume.xml"),
      jobFile(
        "resume",
        'echo "{\\"checkpoint\\": \\"/ckpt/$SESSION_ID\\", \\"step\\": $((SESSION_ID * 100 + 100))}" &gt;&gt; $TONY_PROGRESS_FILE; ' +
          'echo "from ${TONY_CHECKPOINT:-nothing}"; ' +
          `until test $TASK_INDEX = 1 -a -e ${folder}/fail-$SESSION_ID; do sleep 0.1; done; exit 7`,
      ).replace(
        "</configuration>",
        "<property><name>tony.application.checkpoint-dir</name><value>/ckpt</value></property>" +
          "<property><name>tony.am.retry-count</name><value>1</value></property></configuration>",
      ),
    );
    await writeFile(join(folder, "long.xml"), jobFile("long", "echo started; sleep 600"));
    await writeFile(
      join(folder, "prints.xml"),
      jobFile(
        "prints",
        // 1.4 MB each time.
        `for i in 1 2 3; do seq -f "$i %05g ${"-".repeat(40)}" 1 ${printedLines}; sleep 1.5; done; ls \${LOG_DIRS%%,*}; ` +
          `until test -e ${folder}/printed; do sleep 0.1; done; echo end`,
      ).replace(
        "</configuration>",
        "<property><name>tony.log.max-size</name><value>1m</value></property></configuration>",
      ),
    );
  });
  afterAll(() => rm(folder, { recursive: true }));
  afterEach(() => sweep(cluster));

  const conf = (name: string) => ["--conf", join(folder, `${name}.xml`)];

  test("submit follows it, shows the lead worker's output, and exits 0", async () => {
    const { exitCode, stdout } = await tonyTs(["submit", ...conf("hello")], alice);
    expect(stdout).toMatch(/^application_\d+_\d+ {2}hello · queue default · worker × 2 \(512 MiB, 1 core\)\n/);
    expect(stdout).toMatch(/AM running on .+\n/);
    expect(stdout).toMatch(/worker 2\/2 running +cluster spec sent\n/);
    expect(stdout).toMatch(/^worker:0 \| hello from .*:0$/m);
    expect(stdout).not.toMatch(/^worker:1 \|/m);
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
    expect(exitCode).toBe(0);

    const [id = ""] = stdout.split(" ");
    const listed = await tonyTs(["list", "--all", "--json"], alice);
    expect(JSON.parse(listed.stdout).jobs).toContainEqual(expect.objectContaining({ id, finalStatus: "SUCCEEDED" }));
    const status = await tonyTs(["status", id], alice);
    expect(status.stdout).toMatch(/ hello · SUCCEEDED · queue default · user alice/);
    const one = await tonyTs(["logs", id, "worker:1"], alice);
    expect(one.stdout).toMatch(/^hello from .*:1\n$/);
    const all = await tonyTs(["logs", id, "--logs", "all"], alice);
    expect(all.stdout.split("\n").filter((line) => /^worker:[01] \| hello/.test(line))).toHaveLength(2);
    const master = await tonyTs(["logs", id, "am"], alice);
    expect(master.stdout).toMatch(/^\d{4}-\d\d-\d\d [\d:.]+ {2}info {3}The ApplicationMaster \S+ starts: attempt 1 /);
    const events = (await tonyTs(["logs", id, "am", "--json"], alice)).stdout.trimEnd().split("\n");
    expect(JSON.parse(JSON.parse(events[0] ?? "").line)).toMatchObject({ event: "am-started" });
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ event: "end", exitCode: 0 });
    const executor = await tonyTs(["logs", id, "worker:1", "--executor"], alice);
    expect(executor.stdout).toMatch(/ {2}info {3}The executor of worker:1 runs/);
  });

  test("a program that fails gives the report and exit code 1", async () => {
    const { exitCode, stdout } = await tonyTs(["submit", ...conf("fail")], alice);
    expect(stdout).toMatch(/^FAILED {2}application_\d+_\d+ {2}fail · /m);
    expect(stdout).toMatch(/^Root cause {3}worker:[01] /m);
    expect(stdout).toMatch(/^ {2}\| before$/m);
    expect(stdout).toMatch(/^No restart {3}program restarts: none allowed \(tony\.am\.retry-count = 0/m);
    expect(stdout).toMatch(/^worker:[01] +failed +\S+ +7 /m);
    expect(exitCode).toBe(1);

    const [id = ""] = stdout.split(" ");
    const status = await tonyTs(["status", id], alice);
    const [head, , cause] = status.stdout.split("\n");
    expect(stdout).toContain(`\n${head}\n\n${cause}\n`);
    expect(status.stdout).toMatch(/^worker:[01] +failed +\S+ +7 /m);
    const { stdout: json } = await tonyTs(["status", id, "--json"], alice);
    expect(JSON.parse(json).status).toMatchObject({
      state: "failed",
      outcome: { result: "failed", cause: { class: "program", exit: "7", lines: ["before"] } },
      budgets: { program: { used: 0, limit: 0 } },
    });
  });

  test("a job that was restarted says what each generation went on from, live and afterwards", async () => {
    const submit = new TonyTs(["submit", ...conf("resume")], alice);
    const [id] = await submit.output(/application_\d+_\d+/);
    for (const generation of [1, 2]) {
      await eventually(`both checkpoints of generation ${generation}`, async () => {
        const { stdout } = await tonyTs(["status", id, "--json"], alice);
        // Its id is told before it is submitted: until then nobody knows it.
        const { status, statusFrom }: Partial<StatusJson> = JSON.parse(stdout);
        return (
          statusFrom === "am" &&
          status?.generation === generation &&
          status.tasks.every(({ checkpointStep }) => checkpointStep === generation * 100)
        );
      });
      await writeFile(join(folder, `fail-${generation - 1}`), "");
    }
    const { exitCode, stdout } = await submit.ended;
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^worker:0 \| from nothing$/m);
    expect(stdout).toMatch(/ restarting \(generation 2\): +worker:1 exited 7 .* · program restarts: 1 of 1 used$/m);
    expect(stdout).toMatch(/ worker 2\/2 running +cluster spec sent · resumes from step 100$/m);
    expect(stdout).toMatch(/^worker:0 \| from \/ckpt\/0$/m);
    expect(stdout).toMatch(/^Root cause {3}worker:1 exited 7 .*, generation 2 \(/m);
    expect(stdout).toMatch(/^worker:0 +stopped .* step 200( |$)/m);
    expect(stdout).toMatch(/^1 .* +program restarts: 1 of 1 used +–$/m);
    expect(stdout).toMatch(/^2 .* +program, no restart +step 100, .+ old$/m);
    expect(stdout).toMatch(
      /^All containers are returned; the last checkpoint is kept: step 200, saved .+ before the end: \/ckpt\/1$/m,
    );
  });

  test("output that is closed at its size is printed as one, in its order, live and afterwards", async () => {
    const { stdout: submitted } = await tonyTs(["submit", ...conf("prints"), "--detach"], alice);
    const id = submitted.trim();
    const printed = [1, 2, 3].flatMap((round) =>
      Array.from({ length: printedLines }, (_, at) => `${round} ${String(at + 1).padStart(5, "0")} ${"-".repeat(40)}`),
    );
    const logs = async () => (await tonyTs(["logs", id, "worker:0"], alice)).stdout.split("\n");
    await eventually("all is printed", async () => (await logs()).includes("stdout"));
    const live = await logs();
    expect(live.slice(0, printed.length)).toEqual(printed);
    expect(live.slice(printed.length)).toContain("stdout.000000000000");
    await writeFile(join(folder, "printed"), "");
    expect((await tonyTs(["wait", id], alice)).exitCode).toBe(0);
    expect(await logs()).toEqual([...live.slice(0, -1), "end", ""]);
  });

  test("--detach prints the id alone; status and logs see the job run; kill ends it", async () => {
    const submitted = await tonyTs(["submit", "--detach", ...conf("long")], alice);
    expect(submitted.stdout).toMatch(/^application_\d+_\d+\n$/);
    const id = submitted.stdout.trim();
    const logs = new TonyTs(["logs", id, "-f"], alice);
    await eventually("the job to run", async () => {
      const { stdout } = await tonyTs(["status", id, "--json"], alice);
      const { status, statusFrom }: StatusJson = JSON.parse(stdout);
      return statusFrom === "am" && status.state === "running";
    });
    logs.process.kill("SIGKILL");
    const following = new TonyTs(["logs", id, "worker:0", "-f"], alice);
    await following.output(/^started$/m);
    const killed = await tonyTs(["kill", id, "--reason", "enough"], alice);
    expect(killed.stdout).toMatch(new RegExp(`^${id} KILLED\\b`));
    expect(killed.exitCode).toBe(0);
    expect((await following.ended).exitCode).toBe(0);
    const again = await tonyTs(["kill", id], alice);
    expect(again.stdout).toMatch(/had ended already: KILLED$/m);
  });

  test("Ctrl-C ends the job, says what was cleaned, and exits 4", async () => {
    const submit = new TonyTs(["submit", ...conf("long")], alice);
    await submit.output(/^worker:0 \| started$/m);
    submit.process.kill("SIGINT");
    const { exitCode, stdout } = await submit.ended;
    expect(stdout).toMatch(/Ending the job; press Ctrl-C again to leave at once/);
    expect(stdout).toMatch(/^KILLED {2}application_/m);
    expect(stdout).toMatch(/Ended: all containers are returned/);
    expect(exitCode).toBe(4);
  });

  test("a gang that the cluster can never hold is told at once that waiting will not help", async () => {
    const submit = new TonyTs(["submit", ...conf("long"), "-conf", "tony.worker.gpus=2"], alice);
    await submit.output(
      /waiting will not help unless nodes join: the cluster has 2 GPUs in all, the job asks for 4 GPUs → lower tony\.worker\.instances \(.*long\.xml:\d+\) or tony\.worker\.gpus/,
    );
    submit.process.kill("SIGINT");
    expect((await submit.ended).exitCode).toBe(4);
  });

  test("a client that is killed leaves the job running, and it can be killed by its id", async () => {
    const submit = new TonyTs(["submit", ...conf("long")], alice);
    const [, id = ""] = await submit.output(/^(application_\d+_\d+) [\s\S]*^worker:0 \| started$/m);
    submit.process.kill("SIGKILL");
    await submit.ended;
    const { holders }: NodesJson = JSON.parse((await tonyTs(["nodes", "--json"], alice)).stdout);
    const own = holders.find(({ applicationId }) => applicationId === id);
    const places = own?.places?.map(({ containers }) => containers) ?? [];
    expect(places.reduce((sum, containers) => sum + containers, 0)).toBe(own?.containers);
    const { stdout } = await tonyTs(["list"], alice);
    expect(stdout).toMatch(new RegExp(`^${id} +RUNNING +long`, "m"));
    expect((await tonyTs(["kill", id], alice)).exitCode).toBe(0);
  });

  test("two submissions at once, the first ones of a user, do not disturb each other", async () => {
    const newcomer = { ...alice, XDG_CACHE_HOME: join(folder, "cache") };
    const both = await Promise.all([1, 2].map(() => tonyTs(["submit", ...conf("hello")], newcomer)));
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(new Set(both.map(({ stdout }) => stdout.split(" ")[0])).size).toBe(2);
  });
});
