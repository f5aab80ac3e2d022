import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import { type ClusterStatus, clusterStatus, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { aJobSpec } from "../support/job-spec.ts";
import { processesWhere } from "../support/processes.ts";
import { type SubmittedJob, submitJob } from "../support/submitted-job.ts";
import { sweep } from "../support/sweep.ts";
import { applicationIn } from "../support/yarn.ts";

/** The shipped ApplicationMaster and executors in containers of a real YARN, put there without the client. */
describe("an ApplicationMaster on YARN", () => {
  let cluster: ClusterStatus;
  let job: SubmittedJob | undefined;
  let folder = "";

  beforeAll(async () => {
    cluster = await testCluster();
  });
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tony-am-"));
    chmodSync(folder, 0o777);
  });
  afterEach(async () => {
    await job?.dispose();
    job = undefined;
    rmSync(folder, { recursive: true });
    await sweep(cluster);
  });

  async function submit(worker: Partial<RoleSpec>, changes: Partial<JobSpec> = {}): Promise<SubmittedJob> {
    const spec = aJobSpec({ containerEnvironment: { OUTPUT: folder }, ...changes });
    job = await submitJob(cluster, { ...spec, roles: spec.roles.map((role) => ({ ...role, ...worker })) });
    return job;
  }

  /** What programs have written; a name that begins with a dot is still being written to. */
  const files = () => readdirSync(folder).filter((name) => !name.startsWith("."));
  const written = (count: number) => eventually(`${count} files`, () => files().length >= count);
  const ended = (submitted: SubmittedJob) =>
    applicationIn(submitted.resourceManager, submitted.id, "FINISHED", "FAILED");

  /** The process of the ApplicationMaster's Node, found by the file that it runs. */
  async function masterPid(submitted: SubmittedJob): Promise<number> {
    return await eventually("the ApplicationMaster's process", async () => {
      const { containerProcesses } = await clusterStatus(cluster.name);
      const pids = containerProcesses
        .filter(({ command }) => /^\S*node (--\S+ )*am\.cjs/.test(command))
        .map(({ pid }) => pid);
      const ours = submitted.id.slice("application_".length);
      const of = new Set(processesWhere((variable) => variable.startsWith("CONTAINER_ID=") && variable.includes(ours)));
      return pids.find((pid) => of.has(pid));
    });
  }

  /**
   * The log of the first attempt's ApplicationMaster, on the node's disk while the job runs. A ResourceManager that has restarted puts its
   * epoch into the container's id.
   */
  function logOf({ id }: SubmittedJob): string {
    const folders = cluster.nodes
      .map((node) => path.join(node.folder, "logs", id))
      .filter((found) => existsSync(found));
    return folders
      .flatMap((found) =>
        readdirSync(found)
          .filter((name) => name.endsWith("_01_000001"))
          .map((name) => path.join(found, name, "am.log")),
      )
      .filter((file) => existsSync(file))
      .map((file) => readFileSync(file, "utf8"))
      .join("");
  }

  test("leads YARN's link to the page that a program serves, as long as it runs", async () => {
    writeFileSync(path.join(folder, "page"), "the losses");
    const serve = 'cd $OUTPUT; test -z "$TB_PORT" || exec timeout 60 python3 -m http.server "$TB_PORT"';
    const submitted = await submit({ command: serve }, { framework: "pytorch" });
    const link = `${cluster.endpoints.resourceManager}/proxy/${submitted.id}/page`;
    await eventually("the page", async () => {
      const answer = await fetch(link, { redirect: "manual" });
      return (await answer.text()) === "the losses";
    });
    await submitted.resourceManager.kill(submitted.id);
    expect(await (await fetch(link)).text()).not.toBe("the losses");
  });

  test("stands still for a while, has itself confirmed, and goes on", async () => {
    const command = "touch $OUTPUT/$TASK_INDEX; until test -e $OUTPUT/go; do sleep 0.2; done";
    const submitted = await submit({ command });
    await written(2);
    const pid = await masterPid(submitted);
    process.kill(pid, "SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    process.kill(pid, "SIGCONT");
    await eventually("the confirmation", async () => logOf(submitted).includes('"event":"confirmed"'));
    writeFileSync(path.join(folder, "go"), "");

    expect(await ended(submitted)).toMatchObject({ finalStatus: "SUCCEEDED" });
  });
});
