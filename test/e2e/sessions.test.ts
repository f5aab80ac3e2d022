import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { programPath } from "../../src/programs.ts";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

describe("in the container of a task that runs", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("its user runs commands and a terminal, which are no part of the program", async () => {
    const job = alice.job("sessions", {
      ...oneTask,
      "tony.worker.command": "echo begun; while [ ! -e stop ]; do sleep 0.2; done; echo seen; sleep 3; echo stopped",
    });
    const { stdout: submitted } = await alice.run("submit", "--detach", job);
    const [id = ""] = /application_\d+_\d+/.exec(submitted) ?? [];
    await eventually("the program runs", async () => (await alice.run("logs", id)).stdout.includes("begun"));

    const command = 'echo "$JOB_NAME:$TASK_INDEX"; echo aside >&2; exit 7';
    const ran = await alice.run("exec", id, "worker:0", "--", "sh", "-c", command);
    expect(ran).toEqual({ exitCode: 7, stdout: "worker:0\n", stderr: "aside\n" });
    expect(await alice.run("exec", id, "worker:1", "--", "true")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("The job has no task worker:1; there are worker:0"),
    });

    const words = [process.execPath, programPath("tony-ts"), "shell", id, "worker:0", "--", "tty"];
    const environment = { ...process.env, ...alice.environment };
    const run = promisify(execFile)("script", ["-qefc", words.join(" "), "/dev/null"], { env: environment });
    run.child.stdin?.end();
    expect((await run).stdout).toMatch(/^\/dev\/pts\/\d+/m);

    expect(await alice.run("exec", id, "worker:0", "--", "touch", "stop")).toMatchObject({ exitCode: 0 });
    expect(await alice.run("wait", id)).toMatchObject({ exitCode: 0 });
    const { stdout: log } = await alice.run("logs", id, "worker:0");
    expect(log).toBe("begun\nseen\nstopped\n");
    expect(await alice.run("exec", id, "worker:0", "--", "true")).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("has ended (SUCCEEDED): this needs a running job"),
    });
  });
});
