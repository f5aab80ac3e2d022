import { writeFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

describe("a job of three stages", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("runs one after the other in the same containers, what is untracked runs on, and each task's log is its own", async () => {
    const files = alice.shared("files");
    const says = 'echo "$JOB_NAME:$TASK_INDEX in $CONTAINER_ID"';
    const job = alice.job("stages", {
      "tony.application.framework": "tensorflow",
      "tony.application.untracked.jobtypes": "store",
      "tony.prepare.instances": 2,
      "tony.store.instances": 1,
      "tony.worker.instances": 2,
      "tony.report.instances": 1,
      "tony.prepare.memory": "512m",
      "tony.store.memory": "512m",
      "tony.worker.memory": "512m",
      "tony.report.memory": "512m",
      "tony.worker.depends-on": "prepare",
      "tony.report.depends-on": "worker",
      "tony.prepare.command": `touch prepared; sleep 1; ${says}`,
      "tony.store.command": "sleep 600",
      "tony.worker.command": `ls; echo "$CLUSTER_SPEC"; ${says}`,
      "tony.report.command": `${says}; until test -e ${files}/read; do sleep 0.1; done`,
    });
    const submitted = alice.start("submit", "--conf", job, "--logs", "none");
    const [id] = await submitted.output(/^application_\d+_\d+/);
    const logOf = async (task: string) => (await alice.run("logs", id, task)).stdout;
    const containerIn = (log: string) => /in (container_\S+)/.exec(log)?.[1];
    const reports = await eventually("report:0 runs", async () => containerIn(await logOf("report:0")));
    // While the job runs, the logs of the tasks that had the container before are there.
    const before = await Promise.all(["prepare:0", "prepare:1", "worker:0", "worker:1"].map(logOf));
    expect(before.filter((log) => containerIn(log) === reports)).toEqual([
      expect.stringMatching(/^prepare:/m),
      expect.stringMatching(/^worker:/m),
    ]);
    writeFileSync(`${files}/read`, "");
    const { exitCode, stdout } = await submitted.ended;
    expect(exitCode).toBe(0);
    const milestones = [
      "prepare 2/2 running",
      "stage of worker begins",
      "worker 2/2 running",
      "stage of report begins",
    ];
    const positions = milestones.map((words) => stdout.indexOf(words));
    expect(positions).not.toContain(-1);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(stdout).toMatch(/ SUCCEEDED +5 of 5 tracked tasks exited 0 · 0 restarts · /);

    const prepared = [await logOf("prepare:0"), await logOf("prepare:1")];
    const worked = [await logOf("worker:0"), await logOf("worker:1")];
    const reported = await logOf("report:0");
    expect(prepared[1]).toMatch(/^prepare:1 in container_\S+\n$/);
    expect(worked[0]).toMatch(/^\{"store":\["[^"]+"\],"worker":\["[^"]+","[^"]+"\]\}$/m);
    // A task finds nothing of the one that had its container before.
    expect(worked[0]).not.toMatch(/^prepared$/m);
    expect(worked.map(containerIn).sort()).toEqual(prepared.map(containerIn).sort());
    expect(worked.map(containerIn)).toContain(containerIn(reported));
  });

  test("that wait for each other is refused, naming the keys", async () => {
    const job = alice.job("circle", {
      "tony.prepare.instances": 1,
      "tony.worker.instances": 1,
      "tony.containers.command": "true",
      "tony.prepare.depends-on": "worker",
      "tony.worker.depends-on": "prepare",
    });
    const { exitCode, stderr } = await alice.run("submit", "--conf", job);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /tony\.prepare\.depends-on makes roles wait for each other: prepare → worker → prepare, by tony\.worker\.depends-on \(.*:\d+\) as well/,
    );
  });
});
