import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import {
  type ClusterStatus,
  ClusterUser,
  clusterStatus,
  clusterTool,
  controlDaemon,
  testCluster,
} from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { at, listAt, requestJson } from "../support/http-json.ts";
import { killApplication, type SubmittedCommand, submitCommand, viewApplication } from "../support/rest-application.ts";
import { leftovers, sweep } from "../support/sweep.ts";

const run = promisify(execFile);
const runsAsRoot = process.getuid?.() === 0;

describe("the test cluster", () => {
  let cluster: ClusterStatus;
  beforeAll(async () => {
    cluster = await testCluster();
  });
  const submitted: string[] = [];
  const submit = async (command: SubmittedCommand) => {
    const id = await submitCommand(cluster, command);
    submitted.push(id);
    return id;
  };
  afterEach(async () => {
    for (const id of submitted.splice(0)) await killApplication(cluster, id, ClusterUser.alice);
    await sweep(cluster);
  });

  test("is five daemons, HDFS' as hdfs and YARN's as yarn where root started it", async () => {
    const users = await Promise.all(cluster.daemons.map(async ({ name, pid }) => [name, await userOf(pid)]));
    const [hdfs, yarn] = runsAsRoot ? ["hdfs", "yarn"] : [await ownUser(), await ownUser()];
    expect(users).toEqual([
      ["namenode", hdfs],
      ["datanode", hdfs],
      ["resourcemanager", yarn],
      ["nm1", yarn],
      ["nm2", yarn],
    ]);
  });

  test("starts nothing when it is up", async () => {
    const { stderr } = await clusterTool(["up", "--name", cluster.name]);
    const after = await clusterStatus(cluster.name);
    expect(stderr).toContain("(was up)");
    expect(after.daemons.map(({ pid }) => pid)).toEqual(cluster.daemons.map(({ pid }) => pid));
  });

  test("is up only when jobs can be submitted: an `up` that was cut off is completed by the next", async () => {
    await rm(join(cluster.state, "prepared"));
    expect((await clusterStatus(cluster.name)).up).toBe(false);

    const { stderr } = await clusterTool(["up", "--name", cluster.name]);
    const after = await clusterStatus(cluster.name);
    expect(stderr).not.toContain("(was up)");
    expect(after.up).toBe(true);
    expect(after.daemons.map(({ pid }) => pid)).toEqual(cluster.daemons.map(({ pid }) => pid));
  });

  test("says which settings differ instead of restarting under somebody's jobs", async () => {
    await expect(clusterTool(["up", "--name", cluster.name, "--nm-heartbeat-ms", "77"])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("runs with other settings (nmHeartbeatMs)"),
    });
  });

  test("has two GPUs and the label gpu, which others may share, on the second node, and nothing of it on the first", async () => {
    const answer = await requestJson(`${cluster.endpoints.resourceManager}/ws/v1/cluster/nodes`);
    const nodes = listAt(answer.body, "nodes", "node").map((node) => ({
      id: at(node, "id"),
      labels: at(node, "nodeLabels"),
      gpus: listAt(node, "totalResource", "resourceInformations", "resourceInformation")
        .filter((resource) => at(resource, "name") === "yarn.io/gpu")
        .map((resource) => at(resource, "value")),
    }));
    expect(new Set(nodes)).toEqual(
      new Set([
        { id: cluster.nodes[0]?.nodeId, labels: undefined, gpus: [0] },
        { id: cluster.nodes[1]?.nodeId, labels: ["gpu"], gpus: [2] },
      ]),
    );
    const labels = await requestJson(`${cluster.endpoints.resourceManager}/ws/v1/cluster/get-node-labels`);
    expect(at(labels.body, "nodeLabelInfo", "exclusivity")).toBe("false");
  });

  test("has the queues default and ml", async () => {
    const answer = await requestJson(`${cluster.endpoints.resourceManager}/ws/v1/cluster/scheduler`);
    const queues = listAt(answer.body, "scheduler", "schedulerInfo", "queues", "queue");
    expect(queues.map((queue) => at(queue, "queueName")).sort()).toEqual(["default", "ml"]);
  });

  test("enforces HDFS' permissions: a home is its owner's, and who has none cannot make one", async () => {
    const mkdirs = async (path: string, user: string) =>
      (await requestJson(`${cluster.endpoints.webHdfs}${path}?op=MKDIRS&user.name=${user}`, { method: "PUT" })).status;
    expect(await mkdirs("/user/alice/own", ClusterUser.alice)).toBe(200);
    expect(await mkdirs("/user/alice/foreign", ClusterUser.bob)).toBe(403);
    expect(await mkdirs("/user/nohome", ClusterUser.homeless)).toBe(403);
  });

  test("runs containers as the NodeManager's user, with nothing of Hadoop's configuration in their environment", async () => {
    const id = await submit({
      user: ClusterUser.alice,
      command: "(id -un; env) 1><LOG_DIR>/part; mv <LOG_DIR>/part <LOG_DIR>/stdout; exec sleep 600",
    });
    const [user, ...environment] = (await runningOutput(cluster, id)).trim().split("\n");
    expect(user).toBe(cluster.users.yarn.name);
    expect(environment).toContain("USER=alice");
    expect(environment.filter((variable) => /^(HADOOP_CONF_DIR|CLASSPATH)=/.test(variable))).toEqual([]);
  });

  test.each([
    { kind: "PHYSICAL", exitCode: -104, hold: "bytearray(320 << 20)" },
    { kind: "VIRTUAL", exitCode: -103, hold: "mmap.mmap(-1, 2 << 30)" },
  ])("kills a container that outgrows its $kind memory", async ({ kind, exitCode, hold }) => {
    const command = `python3 -c 'import mmap, time; held = ${hold}; time.sleep(600)'`;
    const id = await submit({ user: ClusterUser.alice, command, memoryMiB: 256 });
    const { diagnostics } = await eventually("the application to fail", async () => {
      const view = await viewApplication(cluster, id);
      return view.state === "FAILED" ? view : undefined;
    });
    expect(diagnostics).toMatch(new RegExp(`running .* beyond the '${kind}' memory limit`));
    expect(diagnostics).toContain(`exitCode: ${exitCode}`);
  });

  test("keeps containers over a NodeManager's end, and applications over the ResourceManager's", async () => {
    const id = await submit({
      user: ClusterUser.alice,
      command: "echo here 1><LOG_DIR>/stdout; exec sleep 600",
    });
    await runningOutput(cluster, id);
    const before = await sleeping(() => clusterStatus(cluster.name), 1);

    await Promise.all(["nm1", "nm2", "resourcemanager"].map((daemon) => controlDaemon(cluster, "kill", daemon)));
    await Promise.all(["resourcemanager", "nm1", "nm2"].map((daemon) => controlDaemon(cluster, "start", daemon)));
    await eventually("the nodes to be back", async () => {
      const answer = await requestJson(`${cluster.endpoints.resourceManager}/ws/v1/cluster/metrics`).catch(
        () => undefined,
      );
      return at(answer?.body, "clusterMetrics", "activeNodes") === 2;
    });
    expect((await viewApplication(cluster, id)).state).toBe("ACCEPTED");
    expect((await clusterStatus(cluster.name)).containerProcesses).toEqual(before);
  });

  test("is swept clean only when nothing of a job is left", async () => {
    const id = await submit({
      user: ClusterUser.alice,
      command: "echo here 1><LOG_DIR>/stdout; exec sleep 600",
    });
    await runningOutput(cluster, id);
    const staging = `${cluster.endpoints.webHdfs}/user/alice/.tony-ts/${id}`;
    await requestJson(`${staging}?op=MKDIRS&user.name=alice`, { method: "PUT" });
    const listener = createServer().listen(0, cluster.addresses.nodes[0]);
    await new Promise((resolve) => listener.once("listening", resolve));

    const left = await leftovers(cluster);
    expect(left).toEqual(
      expect.arrayContaining([
        expect.stringContaining(`application ${id} is`),
        expect.stringMatching(/^container container_.* is RUNNING$/),
        expect.stringMatching(/^process \d+: .*sleep 600/),
        `staging folder /user/alice/.tony-ts/${id}`,
        expect.stringContaining(`somebody listens on ${cluster.addresses.nodes[0]}:`),
      ]),
    );
    await new Promise((resolve) => listener.close(resolve));
    await requestJson(`${staging}?op=DELETE&recursive=true&user.name=alice`, { method: "DELETE" });
  });

  test("gives a shell its configuration and tony-ts", async () => {
    const { stdout } = await clusterTool(["env", "--name", cluster.name]);
    const shell = await run("sh", ["-c", `${stdout}\necho "$HADOOP_CONF_DIR"; command -v tony-ts`]);
    expect(shell.stdout.trim().split("\n")).toEqual([cluster.confDir, join(cluster.bin, "tony-ts")]);
  });
});

describe("a second cluster", () => {
  let folder: string;
  let environment: Record<string, string>;
  const name = "second";
  const status = () => clusterStatus(name, environment);

  beforeAll(async () => {
    // The daemons' users must be able to enter, as they are where the first one is; mkdtemp lets nobody else in.
    folder = await mkdtemp(join(dirname((await testCluster()).state), "side-by-side-"));
    await chmod(folder, 0o755);
    environment = { TONY_CLUSTER_DIR: folder };
  });
  afterAll(async () => {
    await clusterTool(["down", "--delete", "--name", name], environment);
    await rm(folder, { recursive: true, force: true });
  });

  test("runs beside the first, on addresses of its own, started once by two commands at the same time", async () => {
    const commands = [0, 1].map(() => clusterTool(["up", "--name", name, "--nm-heartbeat-ms", "250"], environment));
    const outputs = (await Promise.all(commands)).map(({ stderr }) => stderr);
    expect(outputs.filter((text) => text.includes("(was up)"))).toHaveLength(1);

    const [first, second] = [await testCluster(), await status()];
    expect(second.up).toBe(true);
    expect(second.settings.nmHeartbeatMs).toBe(250);
    expect(second.addresses.master).not.toBe(first.addresses.master);
    const idOf = async ({ endpoints }: ClusterStatus) =>
      at((await requestJson(`${endpoints.resourceManager}/ws/v1/cluster/info`)).body, "clusterInfo", "id");
    expect(await idOf(second)).not.toBe(await idOf(first));
  });

  test("leaves no process when it is taken down, not even one that cut itself loose from its container", async () => {
    const cluster = await status();
    const id = await submitCommand(cluster, {
      user: ClusterUser.alice,
      command: "setsid sleep 601 & echo here 1><LOG_DIR>/stdout; exec sleep 600",
    });
    await runningOutput(cluster, id);
    const containerProcesses = await sleeping(status, 2);
    const { daemons } = await status();

    await clusterTool(["down", "--name", name], environment);

    const pids = [...containerProcesses.map(({ pid }) => pid), ...daemons.flatMap(({ pid }) => pid ?? [])];
    expect(pids.length).toBeGreaterThan(daemons.length);
    expect((await Promise.all(pids.map(commandLine))).filter((command) => command !== "")).toEqual([]);
    expect((await status()).daemons.flatMap(({ pid }) => pid ?? [])).toEqual([]);
  });

  test("names the port that another process holds, and starts nothing then", async () => {
    const { addresses, daemons } = await status();
    const squatter = createServer().listen(8088, addresses.master);
    await new Promise((resolve) => squatter.once("listening", resolve));
    try {
      await expect(clusterTool(["up", "--name", name], environment)).rejects.toMatchObject({
        stderr: expect.stringContaining(`port 8088 of ${addresses.master} is taken by another process`),
      });
      expect((await status()).daemons.flatMap(({ pid }) => pid ?? [])).toEqual([]);
      expect(daemons).toHaveLength(5);
    } finally {
      await new Promise((resolve) => squatter.close(resolve));
    }
  });
});

/** What a running command wrote to its container's stdout so far, once it is anything. */
async function runningOutput({ nodes }: ClusterStatus, applicationId: string): Promise<string> {
  return await eventually(`output of ${applicationId}`, async () => {
    for (const node of nodes) {
      const folder = join(node.folder, "logs", applicationId);
      for (const container of await readdir(folder).catch(() => [])) {
        const text = await readFile(join(folder, container, "stdout"), "utf8").catch(() => "");
        if (text !== "") return text;
      }
    }
    return undefined;
  });
}

/** The processes of containers, once so many of them have become the `sleep` that their shells end with. */
async function sleeping(status: () => Promise<ClusterStatus>, count: number) {
  return await eventually(`${count} sleeping`, async () => {
    const { containerProcesses } = await status();
    const asleep = containerProcesses.filter(({ command }) => command.startsWith("sleep "));
    return asleep.length === count && containerProcesses;
  });
}

/** Empty when no such process lives: a zombie that nobody has waited for yet has none either. */
async function commandLine(pid: number): Promise<string> {
  return await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
}

async function userOf(pid: number | undefined): Promise<string> {
  const { stdout } = await run("ps", ["-o", "user=", "-p", String(pid)]);
  return stdout.trim();
}

async function ownUser(): Promise<string> {
  return (await run("id", ["-un"])).stdout.trim();
}
