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

run_on_yarn(trains, {"worker": TaskSpec(memory="1 GiB", vcores=1, instances=2)})
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
    import torch
    import torch.distributed
    from torch.nn.parallel import DistributedDataParallel

    torch.distributed.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(torch.distributed.get_rank())
    for _ in range(100):
        rows = torch.randn(32, 2)
        loss = torch.nn.functional.mse_loss(model(rows), rows.sum(dim=1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    weights = [parameter.detach().flatten() for parameter in model.parameters()]
    print("rank", torch.distributed.get_rank(), "of", torch.distributed.get_world_size(), torch.cat(weights).round(decimals=1).tolist())


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
