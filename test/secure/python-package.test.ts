import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { packageRoot } from "../../src/programs.ts";
import { ClusterUser, environmentFor, testCluster } from "../support/cluster.ts";
import { pythonEnvironment, pythonWith } from "../support/provide.ts";
import { sweep } from "../support/sweep.ts";

const run = promisify(execFile);
const cluster = await testCluster();

const program = `
import tony_ts
from tony_ts.distributed.client import run_on_yarn
from tony_ts.topologies import TaskSpec
from trains import fails, trains

run_on_yarn(trains, {"worker": TaskSpec(memory="512 MiB", vcores=1, instances=2)})
print("trained")
job = tony_ts.submit(fails, memory="512m")
try:
    job.wait()
except tony_ts.JobFailed as error:
    print(job.state, [line.line for line in job.logs() if line.stream == "stdout"], error.traceback)
`;

const trains = `
import os


def trains(local_rank):
    from tony_ts.distributed.task import get_task

    assert get_task(local_rank).world_size == 2


def fails():
    print("I am", os.environ["USER"])
    raise ValueError("no such column: price")
`;

describe("the Python package's wheel", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "python-secure-"));
    await chmod(folder, 0o711);
  });
  afterAll(() => rm(folder, { recursive: true }));
  afterEach(() => sweep(cluster));

  test("submits, follows and reads jobs, and runs functions, with a Kerberos ticket", async () => {
    const site = path.join(folder, "site");
    const words = ["install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", site];
    const source = path.join(packageRoot(), "python");
    await run(await pythonEnvironment("python-package"), ["-m", "pip", ...words, source]);
    await writeFile(path.join(folder, "program.py"), program);
    await writeFile(path.join(folder, "trains.py"), trains);
    const { TONY_TS: _, ...alice } = environmentFor(cluster, ClusterUser.alice);
    const env = { ...process.env, ...alice, PYTHONPATH: site, XDG_CACHE_HOME: path.join(folder, "cache") };
    const { stdout } = await run(await pythonWith("json"), ["program.py"], { cwd: folder, env });
    expect(stdout).toContain("trained\nfailed ['I am alice'] ");
    expect(stdout).toContain("ValueError: no such column: price");
  });
});
