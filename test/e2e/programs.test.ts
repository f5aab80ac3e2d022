import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { containerVariables, programVariables } from "../../src/frameworks/variables.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { at, listAt, requestJson } from "../support/http-json.ts";
import { Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";
import { writeZip } from "../support/zip-writer.ts";

/** A command that prints its environment in one line, to be read by {@link printedEnvironments}. */
const printEnvironment = `python3 -c 'import json, os; print("ENV " + json.dumps(dict(os.environ)), flush=True)'`;

/** What each task's {@link printEnvironment} printed, by task, as `--logs all` shows it. A task that printed several has its last. */
function printedEnvironments(out: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const found = out.matchAll(/^(\w+:\d+) +\| ENV (.*)$/gm);
  return Object.fromEntries(Array.from(found, ([, task = "", json = ""]) => [task, JSON.parse(json)]));
}

const cluster = await testCluster();

/** What programs are told and given, and what they keep when they start again. */
describe("a job's programs", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("of PyTorch get one rendezvous, and ranks that are unique over all roles", async () => {
    const settings = {
      "tony.application.framework": "pytorch",
      "tony.chief.instances": 1,
      "tony.chief.memory": "512m",
      "tony.worker.instances": 2,
      "tony.worker.memory": "512m",
      "tony.containers.command": printEnvironment,
    };
    const job = alice.job("ranks", settings, { token: "open sesame\n" });
    const { exitCode, stdout } = await alice.run(
      "submit",
      "--conf",
      job,
      "--logs",
      "all",
      "--shell_env",
      "COLOUR=blue",
      "--secret",
      `TOKEN=file:${path.join(path.dirname(job), "token")}`,
    );
    const told = printedEnvironments(stdout);

    expect(Object.keys(told).sort()).toEqual(["chief:0", "worker:0", "worker:1"]);
    const programs = Object.values(told);
    expect(programs.map(({ RANK }) => RANK).sort()).toEqual(["0", "1", "2"]);
    expect(told["chief:0"]).toMatchObject({ RANK: "0", IS_CHIEF: "true" });
    for (const [task, environment] of Object.entries(told)) {
      expect(environment).toMatchObject({
        JOB_NAME: task.split(":")[0],
        TASK_INDEX: task.split(":")[1],
        WORLD_SIZE: "3",
        MASTER_ADDR: told["chief:0"]?.MASTER_ADDR,
        MASTER_PORT: told["chief:0"]?.MASTER_PORT,
        SESSION_ID: "0",
        COLOUR: "blue",
        TOKEN: "open sesame",
        USER: ClusterUser.alice,
      });
    }
    const ours = programs.flatMap((environment) => Object.keys(environment)).filter((name) => name.startsWith("TONY_"));
    expect(ours.filter((name) => !(name in { ...programVariables, ...containerVariables }))).toEqual([]);
    expect(programs.every(({ LOCAL_RANK, LOCAL_WORLD_SIZE }) => Number(LOCAL_RANK) < Number(LOCAL_WORLD_SIZE))).toBe(
      true,
    );
    expect(exitCode).toBe(0);
  });

  test("come with their sources and their Python, as TonY's options say", async () => {
    const job = alice.job(
      "sources",
      { "tony.application.framework": "generic", "tony.worker.instances": 2, "tony.worker.memory": "512m" },
      {
        "src/models/train.py": `import sys
from layers.dense import UNITS
open("written-beside", "w").close()
print("units", UNITS, sys.argv[1:], flush=True)
`,
        "src/models/layers/dense.py": "UNITS = 42\n",
        "src/.git/HEAD": "ref: refs/heads/main\n",
        "environment.zip": writeZip([
          {
            path: "bin/started",
            mode: 0o100755,
            content: '#!/bin/sh\necho "the Python of the job"\nexec python3 "$@"\n',
          },
          { path: "bin/python", mode: 0o120777, content: "started" },
        ]),
      },
    );
    const folder = path.dirname(job);
    const options = ["-executes", "models/train.py", "-src_dir", path.join(folder, "src")];
    const python = ["-python_venv", path.join(folder, "environment.zip"), "-python_binary_path", "bin/python"];
    const words = ["submit", "-conf_file", job, ...options, ...python, "-task_params", '--name "two words"'];
    const { exitCode, stdout, stderr } = await alice.run(...words, "--logs", "all");
    for (const worker of ["worker:0", "worker:1"]) {
      expect(stdout).toContain(`${worker} | the Python of the job`);
      expect(stdout).toContain(`${worker} | units 42 ['--name', 'two words']`);
    }
    expect(stdout).toMatch(/^ +src-dir: 2 files, .*; left out: \.git$/m);
    expect(stdout).toMatch(/^ +venv: sent as \.tar\.gz: .*1 symbolic link /m);
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
  });

  test("of TensorFlow get the same cluster spec, each with its own place in it", async () => {
    const flag = path.join(alice.shared("told"), "ps");
    const job = alice.job("specs", {
      "tony.application.framework": "tensorflow",
      "tony.worker.instances": 2,
      "tony.worker.memory": "512m",
      "tony.ps.instances": 1,
      "tony.ps.memory": "512m",
      // A ps is stopped when the workers are done: they wait until it has said what it was told.
      "tony.containers.command": `${printEnvironment}; test $JOB_NAME = worker || { touch ${flag}; sleep 600; }; until test -e ${flag}; do sleep 0.1; done`,
    });
    const { exitCode, stdout } = await alice.run("submit", "--conf", job, "--logs", "all");
    const told = printedEnvironments(stdout);

    expect(Object.keys(told).sort()).toEqual(["ps:0", "worker:0", "worker:1"]);
    const specs = Object.values(told).map(({ CLUSTER_SPEC = "" }) => JSON.parse(CLUSTER_SPEC));
    expect(specs[0]).toEqual({
      worker: [expect.stringMatching(/:\d+$/), expect.stringMatching(/:\d+$/)],
      ps: [expect.stringMatching(/:\d+$/)],
    });
    expect(new Set(specs.flatMap((spec) => Object.values(spec).flat())).size).toBe(3);
    for (const [task, { TF_CONFIG = "", CLUSTER_SPEC = "" }] of Object.entries(told)) {
      const [type = "", index = ""] = task.split(":");
      expect(JSON.parse(TF_CONFIG)).toMatchObject({ cluster: specs[0], task: { type, index: Number(index) } });
      expect(JSON.parse(CLUSTER_SPEC)).toEqual(specs[0]);
    }
    expect(stdout).toContain("SUCCEEDED");
    expect(exitCode).toBe(0);
  });

  test("of any kind are told of each other by templates in their commands and variables", async () => {
    const job = alice.job("templates", {
      "tony.application.framework": "generic",
      "tony.worker.instances": 2,
      "tony.worker.memory": "512m",
      "tony.worker.command":
        "echo {{role}} {{index}} {{count}} {{host}}:{{port}} {{ spec.worker }} {{spec.store}} '{{spec.json}}' $PLACE {{.Names}}",
      "tony.worker.envs": "PLACE={{role}}/{{index}}/{{count}}",
      "tony.store.instances": 1,
      "tony.store.memory": "512m",
      "tony.store.command": "echo {{role}} {{index}} {{count}} {{host}}:{{port}}",
    });
    const { exitCode, stdout } = await alice.run("submit", "--conf", job, "--logs", "all");
    const [, store = ""] = /^store:0 +\| store 0 1 (\S+:\d+)$/m.exec(stdout) ?? [];
    const told = Array.from(stdout.matchAll(/^worker:(\d) +\| (.*)$/gm), ([, index = "", line = ""]) => ({
      index,
      line,
    }));
    const addresses = told.map(({ index, line }) => [index, line.split(" ")[3] ?? ""]).sort();
    const worker = addresses.map(([, address]) => address);
    expect(addresses.map(([index]) => index)).toEqual(["0", "1"]);
    for (const { index, line } of told) {
      const spec = JSON.stringify({ worker, store: [store] });
      const words = ["worker", index, 2, worker[Number(index)], worker.join(","), store, spec, `worker/${index}/2`];
      expect(line).toBe([...words, "{{.Names}}"].join(" "));
    }
    expect(exitCode).toBe(0);
  });

  test("find a port taken that was held for them, and start again with others", async () => {
    const program = readFileSync("test/fixtures/programs/finds-port-taken.py", "utf8");
    const settings = {
      "tony.application.framework": "generic",
      "tony.worker.instances": 2,
      "tony.worker.memory": "512m",
      "tony.worker.ports": "rpc,web-ui",
      "tony.worker.command": "python3 opens.py {{port.rpc}} {{spec.worker.web-ui}}",
      "tony.containers.resources": "opens.py",
    };
    const job = alice.job("ports", settings, { "opens.py": program });
    const { exitCode, stdout } = await alice.run("submit", "--conf", job, "--logs", "all");

    expect(stdout).toMatch(
      /worker:1 found a port taken that was reserved for it on .*: OSError: \[Errno 98\] Address already/,
    );
    const [id = ""] = /application_\d+_\d+/.exec(stdout) ?? [];
    const { status } = JSON.parse((await alice.run("status", id, "--json")).stdout);
    const of = (name: string) =>
      listAt(status, "tasks").map((task) => `${at(task, "host")}:${at(task, "ports", name)}`);
    const all = { "worker.rpc": of("rpc"), "worker.web-ui": of("web-ui") };
    for (const index of [0, 1]) {
      const [host, port] = of("rpc")[index]?.split(":") ?? [];
      expect(stdout).toContain(`worker:${index} | opened ${host} ${port} ${port} ${of("web-ui").join(",")} `);
    }
    const told = Array.from(stdout.matchAll(/^worker:. \| opened .* (\{.*\})$/gm), ([, json = ""]) => JSON.parse(json));
    expect(told).toEqual([all, all]);
    expect(exitCode).toBe(0);
  });

  test("that open a port which another process has are at fault, and are told which to open", async () => {
    // A NodeManager's own.
    const [host = "", port = ""] = cluster.nodes[0]?.nodeId.split(":") ?? [];
    const program = `import socket; socket.socket().bind(("${host}", ${port}))`;
    const settings = {
      "tony.application.framework": "generic",
      "tony.am.retry-count": 0,
      "tony.worker.instances": 1,
      "tony.worker.memory": "512m",
      "tony.worker.command": "python3 opens.py",
      "tony.containers.resources": "opens.py",
    };
    const job = alice.job("fixed-port", settings, { "opens.py": program });
    const { exitCode, stdout } = await alice.run("submit", "--conf", job);

    expect(stdout).toMatch(/worker:0 exited 1 on .*: OSError: \[Errno 98\] Address already in use, /);
    expect(stdout).toContain("let it open TONY_PORT, which is kept free for it, or name ports in tony.worker.ports");
    expect(exitCode).toBe(1);
  });

  test("run on what each role asked for: memory, cores, GPUs, label", async () => {
    const done = path.join(alice.shared("flags"), "measured");
    const job = alice.job("heterogeneous", {
      "tony.yarn.queue": "ml",
      "tony.application.framework": "tensorflow",
      "tony.worker.instances": 1,
      "tony.worker.memory": "700m",
      "tony.worker.vcores": 2,
      "tony.worker.gpus": 1,
      "tony.worker.node-label": "gpu",
      "tony.ps.instances": 1,
      "tony.ps.memory": "512m",
      "tony.containers.command": `${printEnvironment}; until test -e ${done}; do sleep 0.2; done`,
    });
    const submitted = alice.start("submit", "--conf", job, "--logs", "all");
    await Promise.all([submitted.output(/^worker:0 \| ENV/m), submitted.output(/^ps:0 +\| ENV/m)]);
    const [id] = await submitted.output(/application_\d+_\d+/);
    const containers = await containersByTask(await alice.json("status", id));
    writeFileSync(done, "");
    const { exitCode, stdout } = await submitted.ended;

    // The scheduler rounds memory up to multiples of 64 MiB.
    expect(containers).toEqual({
      "worker:0": { "memory-mb": "704", vcores: "2", "yarn.io/gpu": "1", node: cluster.nodes[1]?.nodeId },
      "ps:0": { "memory-mb": "512", vcores: "1", "yarn.io/gpu": "0", node: expect.any(String) },
    });
    const told = printedEnvironments(stdout);
    // No GPU was granted to the ps, so it shall see none; which devices the worker has is for the NodeManager to say.
    expect(told["ps:0"]).toMatchObject({ CUDA_VISIBLE_DEVICES: "" });
    expect(told["worker:0"]?.CUDA_VISIBLE_DEVICES).not.toBe("");
    expect(exitCode).toBe(0);
  });
});

/** What YARN says that it granted, by task. */
async function containersByTask(inspection: unknown): Promise<Record<string, Record<string, unknown>>> {
  const attempt = String(at(inspection, "report", "currentAttemptId"));
  const application = String(at(inspection, "report", "id"));
  const url = `${cluster.endpoints.resourceManager}/ws/v1/cluster/apps/${application}/appattempts/${attempt}/containers`;
  const granted = listAt((await requestJson(url, { cluster })).body, "container");
  const tasks = listAt(inspection, "status", "tasks").map((task) => {
    const container = granted.find((one) => at(one, "containerId") === at(task, "containerId"));
    const resources = listAt(container, "allocatedResources", "entry").map((entry) => [
      at(entry, "key"),
      at(entry, "value"),
    ]);
    return [at(task, "task"), { ...Object.fromEntries(resources), node: at(container, "nodeId") }];
  });
  return Object.fromEntries(tasks);
}
