import { readFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const guide = readFileSync("docs/guide/task-api.md", "utf8");
/** The lines that call the API, as people read them. */
const shown = [...guide.matchAll(/^curl .*$/gm)].map(([line]) => line);

describe("a program that asks its executor", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("gets what the guide says, by the lines of the guide, from wherever it is in its container", async () => {
    const settings = {
      ...oneTask,
      "tony.worker.instances": 2,
      "tony.worker.command": "bash asks.sh",
      "tony.containers.resources": "asks.sh",
    };
    const asks = ["set -e", "cd /", ...shown, ""].join("\n");
    const job = alice.job("asks", settings, { "asks.sh": asks });
    const { exitCode, stdout } = await alice.run("submit", job, "--logs", "all");
    const said = (task: string) =>
      [...stdout.matchAll(new RegExp(`^${task} \\| (\\{.*\\})$`, "gm"))].map(([, line = ""]) => JSON.parse(line));
    expect(exitCode).toBe(0);
    for (const index of [0, 1]) {
      const [task, spec, answer] = said(`worker:${index}`);
      expect(task).toMatchObject({ task: `worker:${index}`, role: "worker", index, generation: 1, restarts: 0 });
      expect(spec.tasks.map((one: { task: string }) => one.task)).toEqual(["worker:0", "worker:1"]);
      expect(spec.tasks[index]).toMatchObject({ host: task.host, port: task.port });
      expect(answer).toEqual({ answer: "continue" });
    }
    const id = /application_\d+_\d+/.exec(stdout)?.[0] ?? "";
    const { stdout: status } = await alice.run("status", id);
    expect(status).toMatch(/worker:1 +succeeded .* 1800 /);
    expect(status).toContain("loss");
  });
});
