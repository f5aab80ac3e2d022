import { readFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
/** The lines of a guide that call the API, as people read them. */
const shownIn = (guide: string) => [...readFileSync(guide, "utf8").matchAll(/^curl .*$/gm)].map(([line]) => line);
const said = (task: string, stdout: string) =>
  [...stdout.matchAll(new RegExp(`^${task} \\| (\\{.*\\})$`, "gm"))].map(([, line = ""]) => JSON.parse(line));

describe("a program that asks its executor", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("gets what the guide says, by the lines of the guide, from wherever it is in its container", async () => {
    const settings = {
      ...oneTask,
      "tony.worker.instances": 2,
      "tony.worker.command": "bash asks.sh",
      "tony.evaluator.instances": 1,
      "tony.evaluator.memory": "512m",
      "tony.evaluator.command": "bash waits.sh",
      "tony.containers.resources": "asks.sh,waits.sh",
    };
    const shown = shownIn("docs/guide/task-api.md");
    const waits = shown.filter((line) => line.includes("/v1/ends"));
    const asks = shown.filter((line) => !waits.includes(line));
    const job = alice.job("asks", settings, {
      "asks.sh": ["set -e", "cd /", ...asks, ""].join("\n"),
      "waits.sh": waits.join("\n"),
    });
    const { exitCode, stdout } = await alice.run("submit", job, "--logs", "all");
    expect(exitCode).toBe(0);
    for (const index of [0, 1]) {
      const [task, spec, answer, met] = said(`worker:${index}`, stdout);
      expect(task).toMatchObject({ task: `worker:${index}`, role: "worker", index, generation: 1, restarts: 0 });
      expect(spec.tasks.map((one: { task: string }) => one.task)).toEqual(["worker:0", "worker:1", "evaluator:0"]);
      expect(spec.tasks[index]).toMatchObject({ host: task.host, port: task.port });
      expect(answer).toEqual({ answer: "continue" });
      expect(met).toEqual({ generation: 1, tasks: ["worker:0", "worker:1"] });
    }
    const succeeded = (task: string) => ({ task, state: "succeeded", exit: "0" });
    expect(said("evaluator:0", stdout)).toEqual([{ tasks: [succeeded("worker:0"), succeeded("worker:1")] }]);
    const id = /application_\d+_\d+/.exec(stdout)?.[0] ?? "";
    const { stdout: status } = await alice.run("status", id);
    expect(status).toMatch(/worker:1 +succeeded .* 1800 /);
    expect(status).toContain("loss");
  });

  test("has the job's keys, of which those that go with its life are gone when it starts again", async () => {
    const shown = shownIn("docs/guide/key-value-store.md");
    const [, , , leads] = shown;
    const foreign = 'curl --silent --unix-socket "$TONY_API" http://tony/v1/kv/task/worker:1/x';
    const first = `if [ "$TONY_GENERATION" = 1 ]; then ${leads}; exit 1; fi`;
    const settings = {
      ...oneTask,
      "tony.am.retry-count": 1,
      "tony.worker.command": "bash keeps.sh",
      "tony.containers.resources": "keeps.sh",
    };
    const job = alice.job("keeps", settings, { "keeps.sh": ["set -e", first, ...shown, foreign, ""].join("\n") });
    const { exitCode, stdout } = await alice.run("submit", job, "--logs", "all");
    expect(exitCode).toBe(0);
    expect(said("worker:0", stdout)).toMatchObject([
      { revision: 1, replaced: false },
      { revision: 3, replaced: false },
      { revision: 3, entry: { key: "shared/rate", value: "0.01\n" } },
      { revision: 3, entries: [{ key: "shared/rate" }], more: false },
      { revision: 4, replaced: false },
      { revision: 5, deleted: 1 },
      { revision: 1, changes: [{ type: "put", entry: { key: "shared/leader" } }] },
      { revision: 2, changes: [{ type: "delete", key: "shared/leader" }] },
      { revision: 3, changes: [{ entry: { value: "0.01\n" } }] },
      { revision: 4, changes: [{ entry: { key: "shared/leader" } }] },
      { revision: 5, changes: [{ type: "delete", key: "shared/rate" }] },
      { error: { code: "FORBIDDEN" } },
    ]);
  });
});
