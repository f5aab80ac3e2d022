import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { finishedFolder } from "../../src/history/layout.ts";
import { readTonyEvents } from "../../src/history/tony/read-events.ts";
import { ClusterUser, environmentFor, javaSecurity, testCluster } from "../support/cluster.ts";
import { fileSystemsOf } from "../support/file-systems.ts";
import { javaSource, tonyJars } from "../support/peers.ts";
import { killApplication } from "../support/rest-application.ts";
import { sweep } from "../support/sweep.ts";
import { TonyTs, tonyTs } from "../support/tony-ts.ts";

const cluster = await testCluster();
const alice = environmentFor(cluster, ClusterUser.alice);
const history = `/user/${ClusterUser.alice}/tony-history`;
const files = fileSystemsOf(cluster, ClusterUser.alice);

/** Runs a source file of test/java/tony with TonY's own classes. @returns the lines that it prints */
async function tony(source: string, ...words: readonly string[]): Promise<string[]> {
  const jars = await tonyJars(cluster);
  const java = path.join(cluster.javaHome, "bin", "java");
  const classPath = [cluster.confDir, path.join(jars, "*")].join(":");
  const flags = ["--add-opens=java.base/java.lang=ALL-UNNAMED", "-XX:TieredStopAtLevel=1", ...javaSecurity(cluster)];
  const options = [...flags, "-cp", classPath];
  const { stdout } = await promisify(execFile)(java, [...options, javaSource(`tony/${source}`), ...words], {
    env: { ...process.env, ...alice },
    maxBuffer: 16 << 20,
  });
  return stdout.split("\n");
}

interface Finished {
  readonly folder: string;
  readonly names: readonly string[];
  /** As the ResourceManager tells it. */
  readonly endedAtMs: number;
}

function configurationText(settings: Readonly<Record<string, string>>): string {
  const properties = Object.entries(settings).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  return `<configuration>${properties.join("\n")}</configuration>`;
}

describe("the history that TonY's own classes read", () => {
  let folder = "";
  const { fileSystem } = files.locate("hdfs:///");
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tony-history-"));
    const settings = {
      "tony.application.name": "history",
      "tony.application.framework": "generic",
      "tony.am.memory": "512m",
      "tony.worker.instances": "2",
      "tony.worker.memory": "512m",
      "tony.task.metrics-interval-ms": "200",
      "tony.history.location": `hdfs://${history}`,
      "tony.history.finished-dir-timezone": "Asia/Tokyo",
    };
    await writeFile(path.join(folder, "job.xml"), configurationText(settings));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await fileSystem.delete(history, { recursive: true });
    files.close();
  });
  afterEach(() => sweep(cluster));

  const submit = (...words: readonly string[]) =>
    tonyTs(["submit", path.join(folder, "job.xml"), "--shell_env", "PGPASSWORD=hunter2", ...words], alice);

  /** Where the job's folder is at the end, and what is in it. */
  async function finished(id: string): Promise<Finished> {
    const { report } = JSON.parse((await tonyTs(["status", id, "--json"], alice)).stdout);
    const where = { applicationId: id, endedAtMs: report.finishTimeMs, timeZone: "Asia/Tokyo" };
    const found = finishedFolder(`${history}/finished`, where);
    const names = (await fileSystem.list(found)).map((entry) => path.basename(entry.path));
    return { folder: found, names, endedAtMs: report.finishTimeMs };
  }

  test("has a job that succeeded and one that YARN killed, by the day of their end, without anything in progress", async () => {
    const succeeded = await submit("-executes", "sleep 4");
    const [id = ""] = /application_\d+_\d+/.exec(succeeded.stdout) ?? [];
    expect(succeeded).toMatchObject({ exitCode: 0 });
    const { stdout } = await submit("--detach", "-executes", "sleep 600");
    const killed = stdout.trim();
    const following = new TonyTs(["attach", killed], alice);
    await following.output(/worker 2\/2 running/);
    following.process.kill("SIGKILL");
    await killApplication(cluster, killed, ClusterUser.alice);
    expect(await tonyTs(["wait", killed], alice)).toMatchObject({ exitCode: 4 });

    const [first, second] = [await finished(id), await finished(killed)];
    expect(first.names).toHaveLength(4);
    const where = [`tony.history.location=hdfs://${history}`, "tony.history.finished-dir-timezone=Asia/Tokyo"];
    const series = await tonyTs(["series", id, ...where.flatMap((setting) => ["--conf", setting])], alice);
    expect(series.stdout).toMatch(/worker:0 +cpu [\s\S]*memory .* of 512 MiB at most/);
    expect([...first.names, ...second.names].filter((name) => name.includes("inprogress"))).toEqual([]);
    expect(await fileSystem.list(`${history}/intermediate`)).toEqual([]);

    const read = await tony("ReadHistory.java", first.folder, second.folder);
    const at = read.indexOf(`folder ${killed}`);
    const [ofFirst, ofSecond] = [read.slice(0, at), read.slice(at)];
    expect(ofFirst).toContainEqual(expect.stringMatching(new RegExp(`^job ${id} alice SUCCEEDED \\d+ \\d+$`)));
    expect(ofFirst.filter((line) => line.startsWith("event ")).map((line) => line.split(" ")[2])).toEqual([
      "APPLICATION_INITED",
      "TASK_STARTED",
      "TASK_STARTED",
      "TASK_FINISHED",
      "TASK_FINISHED",
      "APPLICATION_FINISHED",
    ]);
    expect(ofFirst.join("\n")).toMatch(/"name": "MAX_MEMORY_BYTES", "value": [1-9]/);
    // What Dr. Elephant sizes a job by.
    expect(ofFirst).toEqual(
      expect.arrayContaining(["setting tony.worker.instances = 2", "setting tony.worker.memory = 512m"]),
    );
    await writeFile(
      path.join(folder, "tony-site.xml"),
      configurationText({
        "tony.history.intermediate": `hdfs://${history}/intermediate`,
        "tony.history.finished": `hdfs://${history}/finished`,
        "tony.history.finished-dir-timezone": "Asia/Tokyo",
      }),
    );
    const fetched = await tony("FetchForDrElephant.java", folder, id, String(first.endedAtMs));
    expect(fetched).toEqual(
      expect.arrayContaining([
        `folder ${first.folder}`,
        "name history",
        "role worker × 2 memory 512m gpus 0",
        expect.stringMatching(
          /^task worker:0 ran \d{4,} ms MAX_MEMORY_BYTES=[1-9][\d.E]+ AVG_MEMORY_BYTES=[1-9][\d.E]+$/,
        ),
      ]),
    );
    expect(ofSecond).toContainEqual(expect.stringMatching(new RegExp(`^job ${killed} alice KILLED \\d+ \\d+$`)));
    expect(read.join("\n")).not.toContain("hunter2");
    for (const name of first.names) {
      const bytes = await buffer(await fileSystem.open(path.posix.join(first.folder, name)));
      expect(bytes.toString("latin1")).not.toContain("hunter2");
    }
  });

  test("is read here as TonY's ApplicationMaster writes it", async () => {
    await tony("WriteHistory.java", folder);
    const [name = ""] = (await readdir(folder)).filter((file) => file.endsWith(".jhist"));
    expect(name).toBe("application_1600000000000_0001-1000-4000-ada-SUCCEEDED.jhist");
    expect(readTonyEvents(await readFile(path.join(folder, name)))).toMatchObject([
      { type: "APPLICATION_INITED", timestamp: 1_000, numTasks: 1, host: "n1", containerID: "container_1" },
      { type: "TASK_STARTED", timestamp: 2_000, taskType: "worker", taskIndex: 0, host: "n2", containerID: null },
      { type: "TASK_FINISHED", status: "SUCCEEDED", metrics: [{ name: "MAX_MEMORY_BYTES", value: 1.5e9 }] },
      { type: "APPLICATION_FINISHED", finishedTasks: 1, failedTasks: 0 },
    ]);
  });
});
