import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "@jest/globals";
import { packageRoot } from "../../src/programs.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { Failover } from "../support/failover.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { fileSystemsOf } from "../support/file-systems.ts";
import { Person } from "../support/person.ts";
import { pythonWith } from "../support/provide.ts";

const run = promisify(execFile);
const cluster = await testCluster();
/** They take long enough for both others to have taken over. */
const epochs = 24;

describe("the active ResourceManager and the active NameNode are killed in the same moment", () => {
  const suite = new FaultSuite(cluster);
  const failover = new Failover(cluster, suite);
  const alice = new Person(cluster);
  const fileSystems = fileSystemsOf(cluster, ClusterUser.alice);
  afterAll(async () => {
    fileSystems.close();
    await alice.leave();
  });

  test("while a PyTorch job of alice's trains from a folder that is encrypted: it goes on, nothing runs twice, its checkpoints are whole", async () => {
    const python = await pythonWith("torch");
    const example = path.join(packageRoot(), "examples", "pytorch-digits", "job.xml");
    const folders = {
      "tony.staging-dir": "/encrypted/staging",
      "tony.application.checkpoint-dir": "hdfs:///encrypted/checkpoints",
      "tony.output.dir": "hdfs:///encrypted/results",
    };
    const settings = Object.entries(folders).flatMap(([key, value]) => ["-conf", `${key}=${value}`]);
    const environment = [`PYTHON=${python}`, `EPOCHS=${epochs}`, "SECONDS_PER_STEP=0.05"];
    const variables = environment.flatMap((variable) => ["--shell_env", variable]);
    const job = alice.start("submit", "--conf", example, ...settings, ...variables, "--logs", "all");
    const checkpointAfter = (epoch: number) => job.output(new RegExp(`epoch ${epoch}/${epochs} .* checkpoint step`));

    await checkpointAfter(1);
    const [manager, nameNode] = [await failover.active("ResourceManager"), await failover.active("NameNode")];
    const end = await failover.ofBoth("killed");
    end();
    await Promise.all([
      failover.active("ResourceManager", { otherThan: manager }),
      failover.active("NameNode", { otherThan: nameNode }),
    ]);
    const epochThen = epochsIn(job.printed.stdout).length;
    expect(epochThen).toBeLessThan(epochs - 1);
    await checkpointAfter(epochThen + 2);

    const { exitCode, stdout } = await job.ended;
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
    expect(exitCode).toBe(0);
    expect(epochsIn(stdout)).toEqual(Array.from({ length: epochs }, (_, index) => index + 1));
    expect(stdout.match(/rank \d of 2$/gm)?.sort()).toEqual(["rank 0 of 2", "rank 1 of 2"]);

    const [id = ""] = stdout.split(" ");
    const kept = await checkpointsOf(id);
    const steps = await Promise.all(kept.map((checkpoint) => stepIn(checkpoint, python)));
    expect(Math.max(...steps)).toBe(Number([...stdout.matchAll(/checkpoint step (\d+)/g)].at(-1)?.[1]));
  }, 600_000);

  /** The paths of a job's checkpoints. */
  async function checkpointsOf(id: string): Promise<readonly string[]> {
    const { fileSystem, path: folder } = fileSystems.locate(`/encrypted/checkpoints/${id}/worker-0`);
    return (await fileSystem.list(folder)).map((entry) => entry.path);
  }

  /** The step that a checkpoint is of, by PyTorch itself, which reads none that is not whole. */
  async function stepIn(checkpoint: string, python: string): Promise<number> {
    const { fileSystem, path: folder } = fileSystems.locate(checkpoint);
    const [complete, model = { path: "" }] = await fileSystem.list(folder);
    expect(complete?.path).toMatch(/_complete\.json$/);
    const copy = path.join(alice.folder, path.basename(model.path));
    await pipeline(await fileSystem.open(model.path), createWriteStream(copy));
    const { stdout } = await run(python, ["-c", "import sys, torch; print(torch.load(sys.argv[1])['step'])", copy]);
    return Number(stdout);
  }
});

/** The epochs that the program said it has done, in the order in which it said so. */
const epochsIn = (stdout: string): readonly number[] =>
  [...stdout.matchAll(/^worker:0 \| epoch (\d+)\/\d+ /gm)].map(([, epoch]) => Number(epoch));
