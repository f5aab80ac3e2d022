import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { finishedFolder } from "../../src/history/layout.ts";
import { readTonyEvents } from "../../src/history/tony/read-events.ts";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { at, listAt } from "../support/http-json.ts";
import { Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/**
 * The cluster's GPUs are counted by YARN and have no device, so that a stand-in for nvidia-smi, shipped with the job, prints what a real
 * one prints of one GPU.
 */
describe("the GPUs of tasks", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  /** Ships a folder with the stand-in, which runs that script. */
  const standIn = (name: string, script: string): string => {
    const folder = alice.shared(name);
    writeFileSync(path.join(folder, "nvidia-smi"), `#!/bin/sh\n${script}\n`);
    chmodSync(path.join(folder, "nvidia-smi"), 0o755);
    return folder;
  };
  const settings = (folder: string) => ({
    "tony.application.framework": "generic",
    "tony.worker.instances": 1,
    "tony.worker.memory": "512m",
    "tony.worker.gpus": 1,
    "tony.task.metrics-interval-ms": 500,
    "tony.gpu-exec-path": folder,
  });

  test("are measured by the program that the job names, and their use is in status, --json and TonY's history", async () => {
    const history = alice.shared("history");
    const xml = path.resolve("test/fixtures/nvidia/one-gpu.xml");
    const job = alice.job("measured", {
      ...settings(standIn("smi", `[ "$*" = "-x -q" ] || exit 2\nexec cat ${xml}`)),
      "tony.history.location": `file://${history}`,
      "tony.history.finished-dir-timezone": "UTC",
      "tony.containers.command": "sleep 600",
    });
    const id = (await alice.run("submit", "--conf", job, "--detach")).stdout.trim();
    const gauge = (percent: number) => ({ current: percent, max: percent, average: percent });
    const all = { count: 1, unused: 0, utilization: gauge(34), memory: gauge(25), bar1Memory: gauge(12.5) };
    const gpus = { ...all, devices: [{ utilization: 34, memory: 25 }] };
    const gpusNow = async () => at(listAt(await alice.json("status", id), "status", "tasks")[0], "gpus");
    expect(await eventually("a sample of the GPU", gpusNow)).toEqual(gpus);
    expect((await alice.run("status", id)).stdout).toContain(
      "  worker:0: 1 GPU, 34% busy (at most 34%), 25% of their memory used (at most 25%)",
    );
    expect(await alice.run("kill", id)).toMatchObject({ exitCode: 0 });
    await alice.run("wait", id);

    const finished = finishedFolder(`${history}/finished`, await whereFinished(id));
    const file = readdirSync(finished).find((name) => name.endsWith(".jhist")) ?? "";
    const events = readTonyEvents(readFileSync(path.join(finished, file)));
    const metrics = events.flatMap((event) => (event.type === "TASK_FINISHED" ? event.metrics : []));
    expect(metrics.slice(2)).toEqual([
      { name: "MAX_GPU_UTILIZATION", value: 34 },
      { name: "AVG_GPU_UTILIZATION", value: 34 },
      { name: "MAX_GPU_FB_MEMORY_USAGE", value: 25 },
      { name: "AVG_GPU_FB_MEMORY_USAGE", value: 25 },
      { name: "MAX_GPU_MAIN_MEMORY_USAGE", value: 12.5 },
      { name: "AVG_GPU_MAIN_MEMORY_USAGE", value: 12.5 },
    ]);
  });

  test("that cannot be measured cost the job nothing but a line: one program fails, one hangs", async () => {
    const job = alice.job("unmeasured", {
      ...settings(standIn("broken", `[ "$JOB_NAME" = worker ] && exec sleep 600\nexit 9`)),
      "tony.ps.instances": 1,
      "tony.ps.memory": "512m",
      "tony.ps.gpus": 1,
      "tony.containers.command": "sleep 600",
    });
    const id = (await alice.run("submit", "--conf", job, "--detach")).stdout.trim();
    const lineOf = async (task: string) => {
      const words = ["sh", "-c", "grep -h 'GPUs are not measured' $LOG_DIRS/executor.log"];
      return (await alice.run("exec", id, task, "--", ...words)).stdout.trimEnd() || undefined;
    };
    expect(await eventually("the line of the program that fails", () => lineOf("ps:0"))).toMatch(
      /^[^\n]*nvidia-smi fails with 9, 3 times in a row[^\n]*$/,
    );
    expect(await eventually("the line of the program that hangs", () => lineOf("worker:0"))).toMatch(
      /^[^\n]*nvidia-smi takes longer than 10 s, 3 times in a row[^\n]*$/,
    );
    const tasks = listAt(await alice.json("status", id), "status", "tasks");
    expect(tasks.map((task) => [at(task, "state"), at(task, "gpus")])).toEqual([
      ["running", undefined],
      ["running", undefined],
    ]);
    expect(await alice.run("kill", id)).toMatchObject({ exitCode: 0 });
  });

  /** As the ResourceManager tells it. */
  async function whereFinished(id: string): Promise<{ applicationId: string; endedAtMs: number; timeZone: string }> {
    const endedAtMs = Number(at(at(await alice.json("status", id), "report"), "finishTimeMs"));
    return { applicationId: id, endedAtMs, timeZone: "UTC" };
  }
});
