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

const flow = `
azkaban.flow.execid=4711
azkaban.flow.flowid=training
azkaban.flow.projectname=digits
azkaban.webserverhost=azkaban.example.org
azkaban.flow.submituser=alice
user.to.proxy=alice
tony.application.framework=standalone
tony.am.memory=512m
tony.worker.instances=1
tony.worker.memory=512m
tony.node.binary=local:${process.execPath}
`;

/** By `azkaban.jobtype.HadoopShell`, whose executor is logged in as azkaban, and which fetches tokens for alice. */
describe("a job of alice's that Azkaban runs with the tokens that it fetched for her", () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), "azkaban-secure-"));
    await chmod(root, 0o711);
  });
  afterAll(() => rm(root, { recursive: true }));
  afterEach(() => sweep(cluster));

  const folderOf = (name: string) => path.join(root, name);
  const run = (name: string, executes: string) =>
    startAzkabanJob(cluster, {
      flow,
      job: ["type=tony-ts", `azkaban.job.id=${name}`, `tony.application.name=${name}`, `executes=${executes}`].join(
        "\n",
      ),
      folder: folderOf(name),
    });

  test("is hers, succeeds without any ticket, and what it could not have is said", async () => {
    await mkdir(path.join(folderOf("hers"), "src"), { recursive: true });
    await writeFile(path.join(folderOf("hers"), "src", "who.sh"), 'echo "I am $USER"\n');
    const { ended } = await run("hers", "sh who.sh");
    const { result, output, log } = await ended();
    expect(log).toMatch(/ tokens {2}those of \S+, .*; files of encryption zones cannot be read/);
    expect(log).toContain("worker:0 | I am alice");
    expect(output).toMatchObject({ "tonyts.final.status": "SUCCEEDED" });
    expect(result).toBe("succeeded");
  });

  test("is killed with what the tokens allow when it is cancelled", async () => {
    const running = await run("cancelled", "echo ready; sleep 600");
    const [, id = ""] = await running.logged(/Submitted application (application_\d+_\d+)[\s\S]*worker:0 \| ready/);
    running.cancel();
    const { result, log } = await running.ended();
    expect(log).toContain("Ended: all containers are returned");
    expect(log).not.toContain("Killing with KILL signal");
    expect(result).toBe("failed");
    const { report } = JSON.parse((await tonyTs(["status", id, "--json"], alice)).stdout);
    expect(report).toMatchObject({ finalStatus: "KILLED", user: ClusterUser.alice });
  });
});
