import { readFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/** Frameworks whose own packages are not there: programs that read the same variables, and really meet all their peers. */
describe("a program meets its peers by what it is told", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  /** The lines in which the programs say whom they met. */
  async function met(program: string, settings: Readonly<Record<string, string | number>>): Promise<string[]> {
    const file = `${program}.py`;
    const job = alice.job(
      program,
      { "tony.containers.resources": file, "tony.containers.command": `python3 ${file}`, ...settings },
      { [file]: readFileSync(`test/fixtures/programs/${file}`, "utf8") },
    );
    const { exitCode, stdout } = await alice.run("submit", "--conf", job, "--logs", "all");
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
    return stdout
      .split("\n")
      .flatMap((line) => /^(\S+) +\| met: (.*)$/.exec(line)?.slice(1).join(" ") ?? [])
      .sort();
  }

  test("as Horovod does, over the rendezvous that rank 0's executor serves: all, those beside it, those of its local rank", async () => {
    const lines = await met("horovod-contract", {
      "tony.application.framework": "horovod",
      "tony.worker.instances": 3,
      "tony.worker.processes": 2,
      "tony.worker.memory": "512m",
    });
    const ranks = lines.map((line) => /rank (\d) of 6, /.exec(line)?.[1]);
    expect(ranks.sort()).toEqual(["0", "1", "2", "3", "4", "5"]);
  });

  test("as MXNet does: through the scheduler, each worker every server", async () => {
    const memory = { "tony.scheduler.memory": "512m", "tony.server.memory": "512m", "tony.worker.memory": "512m" };
    const lines = await met("mxnet-contract", {
      "tony.application.framework": "mxnet",
      "tony.scheduler.instances": 1,
      "tony.server.instances": 2,
      "tony.worker.instances": 2,
      ...memory,
    });
    expect(lines).toEqual([
      "scheduler:0 2 servers, 2 workers",
      "worker:0 2 servers, each with the sum 3",
      "worker:1 2 servers, each with the sum 3",
    ]);
  });
});
