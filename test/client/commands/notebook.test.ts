import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { notebook } from "../../../client/commands/notebook.ts";
import type { Follower } from "../../../src/api/client-endpoint.ts";
import { clientAccessFile, parseClientAccess } from "../../../src/api/identity.ts";
import { jobOutcome, jobStatus } from "../../../src/api/status-codec.ts";
import { ownerName } from "../../../src/hadoop/process-owner.ts";
import { endedBecause } from "../../../src/job/outcome.ts";
import { jobFileName } from "../../../src/job/stored/stored-job.ts";
import { noClients, ownersDoor } from "../../support/api.ts";
import { SessionScene } from "../../support/session-scene.ts";
import { aJobStatus } from "../job-status.ts";
import type { StandInManager } from "../stand-in-manager.ts";
import { recordedContext } from "../support.ts";
import type { LocalMachine } from "./local-machine.ts";
import { machineOnCluster } from "./machine-on-cluster.ts";

// Loaded before the command does so, several at once, which Jest's loader cannot.
import "../../../client/command-line/read-job.ts";
import "../../../client/sessions/notebook-job.ts";
import "../../../client/submission/notebook.ts";
import "../../support/loaded-client.ts";

/** Runs `tony-ts notebook …` where no cluster is. */
async function run(environment: Readonly<Record<string, string>>, ...words: string[]): Promise<unknown> {
  const parsed = await parseArguments(["notebook", ...words], [notebook]);
  if ("text" in parsed) throw new Error(parsed.text);
  return await parsed.run(recordedContext({ environment }));
}

describe("tony-ts notebook", () => {
  test.each([
    [["--idle", "soon"], "--idle must be a duration such as 90s, 5m or 2h"],
    [["--local-port", "70000"], "--local-port is a number from 1 to 65535, not 70000"],
  ])("refuses %j", async (words, message) => {
    await expect(run({ JUPYTER_TOKEN: "own" }, ...words)).rejects.toMatchObject({
      code: "USAGE",
      exitCode: 2,
      message: expect.stringContaining(message),
    });
  });

  test("makes no token that nobody could learn of", async () => {
    await expect(run({})).rejects.toMatchObject({
      code: "NO_TOKEN",
      exitCode: 2,
      message: expect.stringContaining("set one in the environment, as JUPYTER_TOKEN"),
    });
    await expect(run({ JUPYTER_TOKEN: "own" })).rejects.toMatchObject({ code: "NO_CLUSTER" });
  });
});

describe("tony-ts notebook on a cluster", () => {
  const id = "application_1795305600000_0001";
  let machine: LocalMachine;
  let manager: StandInManager;
  beforeEach(async () => {
    ({ machine, manager } = await machineOnCluster());
    machine.environment = { ...machine.environment, JUPYTER_TOKEN: "own" };
  });
  afterEach(async () => {
    await manager.stop();
    await machine.dispose();
  });

  const staged = (name: string) => path.join(machine.folder, "staging", id, name);
  const words = (...more: readonly string[]) => [
    ...["notebook", "--conf", `tony.staging-dir=file://${machine.folder}/staging`],
    ...["--conf", "tony.node.binary=local:/opt/node", ...more],
  ];

  /** What the cluster was given of it. */
  async function submitted(...more: readonly string[]) {
    let stored: { readonly spec?: object } = {};
    manager.onSubmit = () => (stored = JSON.parse(readFileSync(staged(jobFileName), "utf8")));
    const ran = await machine.run(...words(...more));
    const [{ am_container_spec: container } = {}] = manager.submitted;
    return { ...ran, spec: stored.spec, tokens: Buffer.from(container?.tokens ?? []).toString("latin1") };
  }

  const command = (text: string) => ({ roles: [{ name: "notebook", command: expect.stringContaining(text) }] });

  test("runs JupyterLab by python3 for an hour without work, with the token that the environment has", async () => {
    const { exitCode, spec, tokens, out } = await submitted();
    expect(exitCode).toBe(0);
    expect(spec).toMatchObject({ name: "notebook", ...command("exec python3 -m jupyterlab") });
    expect(spec).toMatchObject(command(" --ServerApp.shutdown_no_activity_timeout=3600 "));
    expect(tokens).toMatch(/JUPYTER_TOKEN.{1,8}own/s);
    expect(out).not.toContain("own");
  });

  test.each([
    [["--idle", "90s"], command(" --ServerApp.shutdown_no_activity_timeout=90 ")],
    [["--idle", "2"], command(" --ServerApp.shutdown_no_activity_timeout=2 ")],
    [["--idle", "0"], command(" --ServerApp.port_retries=0")],
    [["--name", "lab"], { name: "lab" }],
    [["--python_binary_path", "/opt/bin/python"], command("exec /opt/bin/python -m jupyterlab")],
    [["--conf", "tony.python-exec-path=/opt/py"], command("exec /opt/py -m jupyterlab")],
    [["--conf", "tony.notebook.memory=3g"], { roles: [{ resource: { memoryMiB: 3_072 } }] }],
    [["--shell_env", "A=1"], { roles: [{ environment: { A: "1" } }] }],
    [["--container_env", "B=2"], { containerEnvironment: { B: "2" } }],
    [["--src_dir", "conf"], { files: [{ source: expect.stringMatching(/\/conf$/) }] }],
  ] as const)("%j", async (more, expected) => {
    const { spec } = await submitted(...more);
    expect(spec).toMatchObject(expected);
  });

  test("that is never idle ends by nothing", async () => {
    expect(JSON.stringify((await submitted("--idle", "0")).spec)).not.toContain("no_activity");
  });

  describe("that runs", () => {
    let scene: SessionScene;
    let lab: Server;
    /** Of the clients of the job that was submitted last. */
    let secret: Uint8Array | undefined;
    beforeEach(async () => {
      lab = createServer((socket) => void socket.end());
      lab.listen(0, "127.0.0.1");
      await once(lab, "listening");
      const followers: Follower[] = [];
      const tasks = [{ task: "notebook:0", state: "running", restarts: 0, port: portOf(lab) }] as const;
      scene = await SessionScene.open({
        task: "notebook:0",
        door: { ...ownersDoor, secretOf: () => secret },
        clients: {
          ...noClients,
          follow: (follower) => {
            followers.push(follower);
            follower.status(jobStatus.encode(aJobStatus({ applicationId: id, tasks })));
            return () => undefined;
          },
          stop: (words) => {
            manager.has({ id, user: ownerName(), state: "KILLED", finalStatus: "KILLED" });
            const outcome = { ...endedBecause("killed", { code: "stop-requested", words }), endedAtMs: 0 };
            for (const follower of followers) follower.outcome(jobOutcome.encode(outcome));
            return true;
          },
        },
      });
      manager.taken = { state: "RUNNING", amHost: "127.0.0.1", amRpcPort: scene.port };
      manager.onSubmit = () =>
        (secret = parseClientAccess(readFileSync(staged(clientAccessFile), "utf8")).caller.secret);
    });
    afterEach(async () => {
      lab.close();
      await scene.close();
    });

    test.each([
      { isTerminal: false, link: /\/lab \(its token is in JUPYTER_TOKEN\)\n/ },
      { isTerminal: true, link: /\/lab\?token=own\n/ },
    ])("is at the port that is named; a terminal: $isTerminal; Ctrl-C ends it", async ({ isTerminal, link }) => {
      machine.terminal = isTerminal;
      const probe = createServer().listen(0, "127.0.0.1");
      await once(probe, "listening");
      const wanted = portOf(probe);
      probe.close();
      const started = machine.start(...words("--local-port", String(wanted)));
      await started.out.waitFor("Ctrl-C ends the job");
      expect(started.out.text).toMatch(
        new RegExp(`JupyterLab of notebook:0:\n  http://127\\.0\\.0\\.1:${wanted}${link.source}`),
      );
      process.emit("SIGINT", "SIGINT");
      expect((await started.ended).exitCode).toBe(4);
    });

    test("has a new token, which is hard to guess, where a terminal can show it", async () => {
      machine.terminal = true;
      const { JUPYTER_TOKEN: _own, ...environment } = { JUPYTER_TOKEN: "", ...machine.environment };
      machine.environment = environment;
      const started = machine.start(...words());
      await started.out.waitFor("Ctrl-C ends the job");
      const [, token = ""] = /\/lab\?token=([0-9a-f]{48})\n/.exec(started.out.text) ?? [];
      const [{ am_container_spec: container } = {}] = manager.submitted;
      expect(token).not.toBe("");
      expect(Buffer.from(container?.tokens ?? []).toString("latin1")).toContain(token);
      process.emit("SIGINT", "SIGINT");
      await started.ended;
    });
  });
});

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
