import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { startAzkabanJob } from "../support/azkaban-job.ts";
import { ClusterUser, environmentFor, testCluster } from "../support/cluster.ts";
import { sweep } from "../support/sweep.ts";
import { tonyTs } from "../support/tony-ts.ts";

const cluster = await testCluster();
const alice = environmentFor(cluster, ClusterUser.alice);

/** As the executor server hands a flow's and a project's properties on; "Grüße" is written as people write it in these files. */
const flow = String.raw`
azkaban.flow.execid=4711
azkaban.flow.flowid=tr\u00e4ning
azkaban.flow.projectname=digits
azkaban.webserverhost=azkaban.example.org
azkaban.flow.submituser=ada
user.to.proxy=alice
who=Gr\u00fc\u00dfe, Welt \u6f22
tony.application.framework=standalone
tony.am.memory=512m
tony.worker.instances=1
tony.worker.memory=512m
worker_env.GREETING=a\=b: ${"${who}"}
`;

const job = (name: string, lines: readonly string[]) =>
  ["type=tony-ts", `azkaban.job.id=${name}`, `tony.application.name=${name}`, ...lines].join("\n");

describe("the job type tony-ts, loaded and run by Azkaban's own classes", () => {
  let root: string;
  const folderOf = (name: string) => path.join(root, name);

  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), "azkaban-"));
    // Programs in containers run as another user.
    await chmod(root, 0o711);
  });
  afterAll(() => rm(root, { recursive: true }));
  afterEach(() => sweep(cluster));

  test("runs a flow's program with its properties, and hands the next job its results", async () => {
    const source = path.join(folderOf("succeeds"), "src");
    await mkdir(source, { recursive: true });
    const train = [
      'echo "$GREETING | $AZKABAN_INPUT_DATASET | $*"',
      `echo '{"step": 5, "metrics": {"accuracy": 0.961}}' >> "$TONY_PROGRESS_FILE"`,
    ];
    await writeFile(path.join(source, "train.sh"), `${train.join("\n")}\n`);
    const { ended } = await startAzkabanJob(cluster, {
      flow,
      job: job("succeeds", [
        "executes=sh train.sh",
        "task_params=--rate 0.1",
        "azkaban.input.dataset=/data/a,/data/b",
        "tony.default.jvm.opts=-Xmx1g",
      ]),
      folder: folderOf("succeeds"),
    });
    const { result, output, log } = await ended();
    expect(log).toContain("worker:0 | a=b: Grüße, Welt 漢 | /data/a;/data/b | --rate 0.1");
    expect(log).toMatch(/tony\.default\.jvm\.opts has no effect/);
    expect(log).toMatch(/ Tracking URL: http/);
    const [, id = ""] = /Submitted application (application_\d+_\d+)/.exec(log) ?? [];
    expect(result).toBe("succeeded");
    expect(output).toMatchObject({
      "tonyts.application.id": id,
      "tonyts.final.status": "SUCCEEDED",
      "tonyts.metric.worker.0.accuracy": "0.961",
      "tonyts.tracking.url": expect.stringContaining(id),
    });
    const { report } = JSON.parse((await tonyTs(["status", id, "--json"], alice)).stdout);
    expect(report.tags).toEqual(
      expect.arrayContaining([
        "azkaban.flow.execid:4711",
        "azkaban.flow.flowid:tr%c3%a4ning",
        "azkaban.flow.projectname:digits",
        "azkaban.webserverhost:azkaban.example.org",
      ]),
    );
  });

  test("fails the job of the flow when the program fails, with the reason in its log", async () => {
    const { ended } = await startAzkabanJob(cluster, {
      flow,
      job: job("fails", ["executes=sh -c 'echo no data; exit 7'"]),
      folder: folderOf("fails"),
    });
    const { result, log } = await ended();
    expect(log).toMatch(/Root cause +worker:0 exited 7/);
    expect(result).toBe("failed");
  });

  test("when it is cancelled, ends the application before Azkaban kills the process", async () => {
    const running = await startAzkabanJob(cluster, {
      flow,
      // It has an hour to stop, and takes it.
      job: job("cancelled", ["executes=trap '' TERM; echo ready; sleep 600 & wait; wait", "tony.task.stop-grace=1h"]),
      folder: folderOf("cancelled"),
    });
    await running.logged(/worker:0 \| ready/);
    running.cancel();
    const { result, log } = await running.ended();
    expect(log).toContain("Ended: all containers are returned");
    expect(log).not.toContain("Killing with KILL signal");
    expect(result).toBe("failed");
    const [, id = ""] = /Submitted application (application_\d+_\d+)/.exec(log) ?? [];
    const { report } = JSON.parse((await tonyTs(["status", id, "--json"], alice)).stdout);
    expect(report.state).toBe("KILLED");
  });

  test("a retry of a job whose executor server is gone takes up the application that still runs", async () => {
    const options = {
      flow,
      job: job("retried", [
        `executes=until test -e ${path.join(root, "go")}; do sleep 0.1; done; echo done`,
        "retries=1",
      ]),
      folder: folderOf("retried"),
    };
    const first = await startAzkabanJob(cluster, options);
    const [, id = ""] = await first.logged(/Submitted application (application_\d+_\d+)[\s\S]*worker 1\/1 running/);
    first.crash();
    const second = await startAzkabanJob(cluster, options);
    expect((await second.logged(/Submitted application (application_\d+_\d+)/))[1]).toBe(id);
    await writeFile(path.join(root, "go"), "");
    const { result, output } = await second.ended();
    expect(result).toBe("succeeded");
    expect(output).toMatchObject({ "tonyts.application.id": id });
  });
});
