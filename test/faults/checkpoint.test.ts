import { afterAll, describe, expect, test } from "@jest/globals";
import type { Inspection } from "../../client/master/inspection.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { Person } from "../support/person.ts";
import { pythonWith } from "../support/provide.ts";

const cluster = await testCluster();

describe("the job that `tony-ts init pytorch` writes, nothing added", () => {
  const suite = new FaultSuite(cluster);
  const alice = new Person(cluster);
  afterAll(() => alice.leave());

  test("goes on from its last checkpoint when a node is lost in mid-training", async () => {
    const python = await pythonWith("torch");
    // Where a node has a network of its own, gloo's workers do not find each other across it: it is to get none.
    const apart = cluster.nodes[cluster.settings.isolate - 1];
    if (apart !== undefined) {
      suite.fill(apart);
      await suite.nodeIn("UNHEALTHY", apart);
    }
    await alice.run("init", "pytorch", "--directory", "digits");
    const environment = ["--shell_env", `PYTHON=${python}`, "--shell_env", "SECONDS_PER_STEP=0.2"];
    const submit = alice.start("submit", "digits/job.xml", ...environment, "--logs", "all");
    const [id] = await submit.output(/application_\d+_\d+/);
    const { amHost, tasks } = await eventually("a checkpoint where it stays", async () => {
      const { stdout } = await alice.run("status", id, "--json");
      const { status }: Inspection = JSON.parse(stdout);
      return status?.checkpoint?.path.startsWith("hdfs://") ? status : undefined;
    });
    await suite.loseNode(nodeOf(tasks, amHost));

    const { exitCode, stdout } = await submit.ended;
    const resumed = Array.from(
      stdout.matchAll(/^worker:(\d) \| resumed from \S+\/(container_\w+)\/checkpoints\/step-(\d+)\.pt, step (\d+)$/gm),
      ([, task, container, name, step]) => ({ task, container, name, step }),
    );
    expect(resumed.map(({ task }) => task).sort()).toEqual(["0", "1"]);
    const [first, second] = resumed;
    expect(Number(first?.step)).toBeGreaterThan(0);
    expect(second).toMatchObject({ step: first?.step, name: first?.step });
    expect(second?.container).not.toBe(first?.container);
    expect(stdout).toMatch(new RegExp(` cluster spec sent · resumes from step ${first?.step}$`, "m"));
    expect(stdout.match(/^worker:0 \| epoch 1\/5 /gm)).toHaveLength(1);
    expect(stdout).toMatch(/^worker:0 \| epoch 5\/5 /m);
    expect(stdout).toContain("SUCCEEDED");
    expect(stdout).toMatch(
      /^ +output hdfs:\/\/\S+\/tony-results\/pytorch-digits\/application_\w+\/worker-0 \(1 file, /m,
    );
    expect(exitCode).toBe(0);

    const { status }: Inspection = JSON.parse((await alice.run("status", id, "--json")).stdout);
    expect(status?.checkpoint?.path).toMatch(/^hdfs:\/\/.+\/worker-0\/step-250-at-\d+$/);
    expect(status?.generations[0]?.endedBy).toMatchObject({ class: "infrastructure" });
  });
});

/** One that runs a worker; not the ApplicationMaster's, where there is another. */
function nodeOf(tasks: JobStatus["tasks"], amHost: string) {
  const hosts = tasks.flatMap(({ host }) => host ?? []);
  const host = hosts.find((one) => one !== amHost) ?? amHost;
  const node = cluster.nodes.find(({ nodeId }) => nodeId.startsWith(`${host}:`));
  if (node === undefined) throw new Error(`no node is ${host}`);
  return node;
}
