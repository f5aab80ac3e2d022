import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { CoreState } from "../../am/core/state/state.ts";
import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import { readJournal } from "../../src/journal/reader.ts";
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
  const outputs = () => Object.fromEntries(files().map((name) => [name, readFileSync(`${folder}/${name}`, "utf8")]));
  const written = (count: number) =>
    eventually(`${count} files`, async () => (files().length >= count ? outputs() : undefined));
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

  /** Waits until the journal says so. */
  async function journaled(submitted: SubmittedJob, says: (snapshot: Partial<CoreState>) => boolean | undefined) {
    const folder = path.posix.join(submitted.staging, "journal");
    await eventually("the journal", async () => {
      const { entry } = await readJournal(submitted.fileSystem, folder);
      return says((entry?.snapshot ?? {}) as Partial<CoreState>);
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

  test("runs the gang, tells YARN the outcome and leaves no staging folder", async () => {
    const submitted = await submit({ command: "env > $OUTPUT/$JOB_NAME-$TASK_INDEX" }, { framework: "pytorch" });
    expect(await ended(submitted)).toMatchObject({ finalStatus: "SUCCEEDED", diagnostics: "2 of 2 tasks exited 0" });

    const environments = outputs();
    expect(Object.keys(environments).sort()).toEqual(["worker-0", "worker-1"]);
    expect(environments["worker-1"]).toMatch(/^RANK=1$/m);
    expect(environments["worker-1"]).toMatch(/^WORLD_SIZE=2$/m);
    await eventually("the staging folder's end", async () =>
      submitted.fileSystem.stat(submitted.staging).then(
        () => undefined,
        () => true,
      ),
    );
  });

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

  test("starts the next generation in the containers it has", async () => {
    const failure = { ...aJobSpec().failure, budgets: { program: 1, infrastructure: 0 } };
    const command =
      "echo $CONTAINER_ID > $OUTPUT/$TASK_INDEX-$SESSION_ID; " +
      "until test -e $OUTPUT/0-$SESSION_ID && test -e $OUTPUT/1-$SESSION_ID; do sleep 0.1; done; " +
      'test "$SESSION_ID" = 1 || exit 3';
    const submitted = await submit({ command }, { failure });
    expect(await ended(submitted)).toMatchObject({ finalStatus: "SUCCEEDED" });

    const containers = outputs();
    expect(containers["0-1"]).toBe(containers["0-0"]);
    expect(containers["1-1"]).toBe(containers["1-0"]);
  });

  test("is killed and comes back, and the programs never notice", async () => {
    const command =
      "echo $$ > $OUTPUT/.$$; mv $OUTPUT/.$$ $OUTPUT/$TASK_INDEX-$$; until test -e $OUTPUT/go; do sleep 0.2; done";
    const submitted = await submit({ command });
    const before = await written(2);
    await journaled(submitted, (snapshot) => snapshot.gangs?.[0]?.started === true);
    process.kill(await masterPid(submitted), "SIGKILL");
    await eventually("the second attempt", async () => {
      const { currentAttemptId, state } = await submitted.resourceManager.report(submitted.id);
      return currentAttemptId?.endsWith("_000002") && state === "RUNNING";
    });

    expect(outputs()).toEqual(before);
    await submitted.fileSystem.stat(path.posix.join(submitted.staging, "journal"));
    writeFileSync(path.join(folder, "go"), "");
    expect(await ended(submitted)).toMatchObject({ finalStatus: "SUCCEEDED" });
    const after = outputs();
    expect(
      Object.keys(after)
        .filter((name) => name !== "go")
        .sort(),
    ).toEqual(Object.keys(before).sort());
    for (const pid of Object.values(before)) expect(existsSync(`/proc/${pid.trim()}`)).toBe(false);
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
