import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { readProcFs } from "../../executor/processes/proc-fs.ts";
import { executorIdentity, makeIdentity } from "../../src/api/identity.ts";
import { LONGEST_UNNOTICED_MS } from "../../src/api/keepalive.ts";
import { callRejoin } from "../../src/api/rejoin.ts";
import { logPrefixOf, PROGRAM_TOKENS } from "../../src/job/launch/container-names.ts";
import { type ExecutorLaunch, executorVariables, PROGRAM_MARKER } from "../../src/job/launch/launch-command.ts";
import type { Transfer } from "../../src/job/status.ts";
import { MANIFEST } from "../../src/job/stored/carried-names.ts";
import { stagingLocation } from "../../src/job/stored/staging-location.ts";
import { encodeJournalEntry } from "../../src/journal/entry.ts";
import { isOwnListener } from "../../src/tcp-sockets.ts";
import { anExecutorJob, identity as application, type ExecutorCall, startMaster } from "../support/api.ts";
import { TestBundle } from "../support/bundle.ts";
import { eventually } from "../support/eventually.ts";
import { anExecutorLaunch } from "../support/executor-launch.ts";
import { ExecutorScene, jobRunning, type SceneOptions, startSilentMaster } from "../support/executor-scene.ts";
import { aJobSpec } from "../support/job-spec.ts";
import { isRunning } from "../support/processes.ts";

const programs = new URL("../fixtures/programs/", import.meta.url).pathname;
/** Why the ApplicationMaster has a program stopped. */
const because = (why: string) => ({ code: "generation-ended", why }) as const;
// Each test starts real processes, on machines that may be busy.

describe("an executor in its container", () => {
  let bundle: TestBundle;
  const open: { close(): Promise<void> }[] = [];

  beforeAll(() => {
    bundle = new TestBundle("executor/main.ts");
  });

  afterAll(() => bundle.remove());

  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()));
  });

  async function stage(command: string, options: SceneOptions = {}): Promise<ExecutorScene> {
    const scene = await ExecutorScene.open(bundle.file, command, options);
    open.push(scene);
    return scene;
  }

  /** The executor is registered and its program runs. */
  async function running(command: string, options: SceneOptions = {}): Promise<ExecutorScene> {
    const scene = await stage(command, options);
    scene.startProgram(await scene.connected());
    await scene.report("child-started");
    return scene;
  }

  async function anotherMaster(attempt: number, command: string) {
    const master = await startMaster({ attempt, job: jobRunning(command) });
    open.push({ close: () => master.server.close(0) });
    return master;
  }

  describe("while it is prepared", () => {
    it("registers with a port it holds and a rejoin port, and says that nothing has run", async () => {
      const ports = { task: { from: 30_001, to: 32_767 } };
      const scene = await stage("true", { launch: { sections: { ...anExecutorLaunch.sections, ports } } });
      const registration = await scene.connected();
      expect(registration).toMatchObject({
        task: "worker:0",
        containerId: scene.container.id,
        generation: 1,
        host: "127.0.0.1",
        tensorboardPort: 0,
        rejoinAddress: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
        child: { state: "none" },
      });
      for (const port of [registration.port, Number(registration.rejoinAddress.split(":")[1])]) {
        expect(port).toBeGreaterThan(30_000);
        expect(port).toBeLessThan(32_768);
      }
    });

    it("holds a port for each name that its role gives, which its program can open", async () => {
      const opens = `python3 -c 'import os, socket; socket.create_server(("127.0.0.1", int(os.environ["TONY_PORT_RPC"])))'`;
      const scene = await stage(opens, {
        role: { ports: ["rpc", "web-ui"] },
        launch: { portNames: ["rpc", "web-ui"] },
      });
      const registration = await scene.connected();
      const { port, ports = {} } = registration;
      expect(Object.keys(ports)).toEqual(["rpc", "web-ui"]);
      expect(new Set([port, ...Object.values(ports)]).size).toBe(3);
      expect(await isOwnListener(ports.rpc ?? 0)).toBe(true);

      scene.startProgram(registration);
      expect((await scene.report("child-exited")).exit).toMatchObject({ exitCode: 0, lastLines: [] });
    });

    it("says in the container's stderr why it cannot begin, for YARN's diagnostics", async () => {
      const scene = await stage("true", {
        launch: { sections: { ...anExecutorLaunch.sections, ports: { task: { from: 1, to: 0 } } } },
      });
      expect(await scene.container.ended()).toBe(1);
      expect(scene.container.log("stderr")).toMatch(/could not begin: .*tony\.task\.port-range/);
    });

    it("ends when the ApplicationMaster turns it away", async () => {
      const scene = await stage("true");
      scene.master.executors.refusal = () => "it was released";
      expect(await scene.container.ended()).toBe(0);
      expect(scene.container.log("executor.log")).toContain("it was released");
    });

    it("ends within what a NodeManager gives when its container is stopped", async () => {
      const scene = await stage("true");
      await scene.connected();
      scene.container.signal("SIGTERM");
      expect(await scene.container.ended()).toBe(143);
    });
  });

  it("makes room for another task's executor, which finds the working directory as it was", async () => {
    const scene = await running("touch left; echo done");
    await scene.report("child-exited");
    const next: ExecutorLaunch = {
      ...{ task: "trainer:0", applicationId: application.applicationId, masterAddress: scene.master.address },
      ...{ staging: stagingLocation(anExecutorJob()), attempt: 1, generation: 2, tensorBoard: false, reusePort: false },
      ...{
        isolationMs: 30_000,
        sections: { ...anExecutorLaunch.sections, ports: {} },
        logPrefix: logPrefixOf("trainer:0"),
      },
    };
    scene.send(1, { type: "make-room", variables: executorVariables(next) });

    const registration = await scene.connected();
    expect(registration).toMatchObject({ task: "trainer:0", generation: 2, child: { state: "none" } });
    expect(existsSync(path.join(scene.container.work, "left"))).toBe(false);
    expect(scene.container.log("stdout")).toBe("done\n");
    expect(scene.container.log("trainer-0.executor.log")).toContain("The executor of trainer:0 runs");
  });

  it("runs nothing when it is told to stop before it is told to start", async () => {
    const scene = await stage("echo ran");
    const registration = await scene.connected();
    scene.link?.send(1, { type: "stop-child", graceMs: 100, reason: because("a peer failed") });
    scene.startProgram(registration);
    expect(await scene.report("child-exited")).toMatchObject({ exit: { stopReason: because("a peer failed") } });
    expect(scene.programs).toEqual([]);
  });

  describe("running its program", () => {
    it("gives it the environment of its framework, and reports its end", async () => {
      const command =
        'echo "$INIT_METHOD $RANK $WORLD $JOB_NAME $TASK_INDEX $SESSION_ID $MINE"; echo to stderr >&2; exit 3';
      const options = { role: { environment: { MINE: "a b" } }, spec: { framework: "pytorch" } } as const;
      const scene = await stage(command, options);
      const registration = await scene.connected();
      scene.startProgram(registration);
      expect((await scene.report("child-started")).pid).toBeGreaterThan(0);
      const { exit } = await scene.report("child-exited");
      expect(exit).toMatchObject({ exitCode: 3, signal: "", failedToStart: false });
      expect(exit.stopReason).toBeUndefined();
      const line = `tcp://127.0.0.1:${registration.port} 0 2 worker 0 0 a b`;
      expect(exit.lastLines).toEqual([line, "to stderr"]);
      expect(scene.container.log("stdout")).toBe(`${line}\n`);
      expect(scene.container.log("stderr")).toBe("to stderr\n");
    });

    it("lets it open its own port at once", async () => {
      const listen = 'import os, socket; s = socket.create_server(("", int(os.environ["MASTER_PORT"]))); print("open")';
      const scene = await running(`python3 -c '${listen}'`, { spec: { framework: "pytorch" } });
      expect(await scene.report("child-exited")).toMatchObject({ exit: { exitCode: 0 } });
    });

    it("holds its port by SO_REUSEPORT while it runs, where that is asked for", async () => {
      const listen = [
        "import os, socket, time",
        "s = socket.socket()",
        "port = int(os.environ['MASTER_PORT'])",
        "try:",
        "    s.bind(('', port))",
        "except OSError:",
        "    print('held', flush=True)",
        "r = socket.socket()",
        "r.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)",
        "r.bind(('', port)); r.listen()",
        "print('shared', flush=True)",
      ].join("\n");
      const scene = await running(`python3 -c "${listen}"`, {
        spec: { framework: "pytorch" },
        launch: { reusePort: true },
      });
      expect(await scene.report("child-exited")).toMatchObject({ exit: { exitCode: 0 } });
      expect(scene.container.log("stdout")).toBe("held\nshared\n");
    });

    it("keeps what was meant for itself from it", async () => {
      const scene = await running("env");
      await scene.report("child-exited");
      const names = scene.container
        .log("stdout")
        .split("\n")
        .map((line) => line.split("=")[0] ?? "");
      expect(names).toEqual(expect.arrayContaining(["TONY_PROGRESS_FILE", "CONTAINER_ID", PROGRAM_MARKER]));
      const kept = ["TONY_MASTER_ADDRESS", "TONY_TASK", "TONY_SECTIONS", "MALLOC_ARENA_MAX"];
      expect(names.filter((name) => kept.includes(name))).toEqual([]);
      // Its tokens are in a file of its own.
      expect(scene.container.log("stdout")).toContain(
        `HADOOP_TOKEN_FILE_LOCATION=${path.join(scene.container.work, PROGRAM_TOKENS)}\n`,
      );
    });

    it("reports a Python traceback whole, its exception, and what was printed before", async () => {
      const scene = await running(`python3 ${programs}traceback.py`);
      const { exit } = await scene.report("child-exited");
      expect(exit).toMatchObject({
        exitCode: 1,
        errorSummary: "ValueError: bad batch at step 1840",
        peerConnectionLost: false,
      });
      expect(exit.traceback).toMatch(
        /^Traceback .*\n {2}File ".*traceback\.py", line 7[\s\S]*direct cause[\s\S]*\nTraceback .*\n {2}File ".*traceback\.py", line 12/,
      );
      expect(exit.lastLines).toContain("epoch 7 step 1840 loss 0.402");
    });

    it("tells a lost peer from a fault of its own", async () => {
      const scene = await running(`python3 ${programs}lost-peer.py`);
      expect((await scene.report("child-exited")).exit).toMatchObject({ exitCode: 1, peerConnectionLost: true });
    });

    it.each([
      ["kill -SEGV $$", "SIGSEGV"],
      ["bash -c 'kill -BUS $$'; exit $?", "SIGBUS"],
    ])("names the signal that ended it: %s", async (command, signal) => {
      const scene = await running(command);
      const { exit } = await scene.report("child-exited");
      expect(exit).toMatchObject({ signal, outOfMemory: false });
      expect(exit.stopReason).toBeUndefined();
    });

    describe("that finds a port in use, in words that name none", () => {
      const binds = (port: string) =>
        `python3 -c 'import os, socket; socket.socket().bind(("127.0.0.1", int(${port})))'`;
      const own = binds('os.environ["TONY_PORT"]');
      const error = "OSError: [Errno 98] Address already in use";

      async function taken(port: number): Promise<number> {
        const server = createServer();
        await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
        open.push({ close: () => new Promise<void>((resolve) => server.close(() => resolve())) });
        const address = server.address();
        return typeof address === "object" ? (address?.port ?? 0) : 0;
      }

      it("believes that it is the one held for it where another process has that", async () => {
        const scene = await stage(`until test -e taken; do sleep 0.1; done; ${own}`);
        const registration = await scene.connected();
        scene.startProgram(registration);
        await scene.report("child-started");
        await taken(registration.port);
        writeFileSync(path.join(scene.container.work, "taken"), "");
        expect((await scene.report("child-exited")).exit).toMatchObject({ errorSummary: error, portTaken: true });
      });

      it("does not believe it of a port of the program's own choice", async () => {
        const scene = await running(binds(String(await taken(0))));
        expect((await scene.report("child-exited")).exit).toMatchObject({ errorSummary: error, portTaken: false });
      });

      it("does not believe it of one that the program has itself, in a process that it leaves", async () => {
        const opens = `python3 -c 'import os, socket, time; s = socket.create_server(("127.0.0.1", int(os.environ["TONY_PORT"]))); print(flush=True); time.sleep(600)'`;
        const scene = await running(`coproc { ${opens}; }; read -u "\${COPROC[0]}" _; ${own}`);
        expect((await scene.report("child-exited")).exit).toMatchObject({ errorSummary: error, portTaken: false });
      });
    });

    it("says that a command does not exist", async () => {
      const scene = await running("no-such-program --now");
      const { exit } = await scene.report("child-exited");
      expect(exit).toMatchObject({ exitCode: 127, failedToStart: true });
      expect(exit.lastLines.join()).toContain("no-such-program");
    });

    it("does not start an interpreter that is the text of a link, which bash would run as a script", async () => {
      const files = [{ source: "hdfs://nn/envs/torch.zip", name: "venv", as: "archive" }] as const;
      const scene = await stage("venv/bin/python train.py", { spec: { files } });
      const registration = await scene.connected();
      scene.container.place("venv/bin/python", "python3");
      scene.startProgram(registration);
      const { exit } = await scene.report("child-exited");
      expect(exit).toMatchObject({ exitCode: 1, failedToStart: true });
      expect(exit.errorSummary).toContain(
        "venv/bin/python is not a program but the text of a symbolic link to python3",
      );
    });

    it("claims that memory ran out when the last sample was at the container's limit", async () => {
      const scene = await running(`python3 ${programs}fills-memory.py`, { launch: { memoryMiB: 100 } });
      const full = async (): Promise<void> => {
        const { metrics } = await scene.report("heartbeat");
        if ((metrics?.memoryBytes ?? 0) < 80 * 1024 * 1024) await full();
      };
      await full();
      await eventually("the program tells its process", () => scene.container.log("stdout") !== "");
      process.kill(Number(scene.container.log("stdout")), "SIGKILL");
      const { exit } = await scene.report("child-exited");
      expect(exit).toMatchObject({ signal: "SIGKILL", outOfMemory: true });
      expect(exit.peakMemoryBytes).toBeGreaterThan(80 * 1024 * 1024);
    });

    it("measures it: memory and processes travel with heartbeats", async () => {
      const scene = await running("sleep 1000 & sleep 1001");
      const measured = async (): Promise<unknown> => (await scene.report("heartbeat")).metrics ?? measured();
      expect(await measured()).toMatchObject({ processes: 3, memoryBytes: expect.any(Number) });
    });

    it("passes its progress and checkpoints on", async () => {
      const scene = await running(`python3 ${programs}reports-progress.py`);
      const checkpoint = { path: "hdfs://nn/ckpt/200", step: 200 };
      expect(await scene.report("child-progress")).toMatchObject({ step: 200, checkpoint });
    });

    it("says where its Python stands before it is stopped because it hangs", async () => {
      const timeouts = { ...aJobSpec().timeouts, progressMs: 60_000 };
      const scene = await running(`echo started; python3 ${programs}reports-progress.py; true`, { spec: { timeouts } });
      await scene.report("child-progress");
      const reason = { code: "hung", noProgressMs: 60_000, step: 200 } as const;
      scene.send(1, { type: "stop-child", graceMs: 10_000, reason, dumpStacks: true });
      const { exit } = await scene.report("child-exited");
      expect(exit.stopReason).toEqual(reason);
      expect(exit.traceback).toMatch(
        /^(Current thread|Thread) 0x\w+ .*\n {2}File ".*reports-progress\.py", line 11 in <module>$/,
      );
      expect(scene.container.log("stderr")).toContain("reports-progress.py");
    });

    it("announces TensorBoard when it answers", async () => {
      const scene = await stage(`python3 ${programs}serves-tensorboard.py`, { launch: { tensorBoard: true } });
      const registration = await scene.connected();
      expect(registration.tensorboardPort).toBeGreaterThan(0);
      scene.startProgram(registration);
      const url = `http://127.0.0.1:${registration.tensorboardPort}`;
      expect(await scene.report("service-announced")).toEqual({ type: "service-announced", name: "tensorboard", url });
    });

    it("tells it by a signal that its container is to be taken back", async () => {
      const scene = await running(`python3 ${programs}saves-on-term.py`);
      await eventually("the program is ready", () => scene.container.log("stdout") === "ready\n");
      const notice = { cause: "preemption", atMs: 1 } as const;
      scene.send(1, { type: "signal-child", signal: "SIGUSR1", reason: "it will be preempted", notice });
      const { exit } = await scene.report("child-exited");
      expect(exit.exitCode).toBe(0);
      expect(exit.stopReason).toBeUndefined();
      expect(scene.container.log("stdout")).toBe("ready\nsaved on SIGUSR1\n");
    });

    it("names in its file why, and until when, and tells it once", async () => {
      const told = "trap 'cat $TONY_NOTICE_FILE' USR1; echo ready; while :; do sleep 0.05; done";
      const scene = await running(told);
      await eventually("the program is ready", () => scene.container.log("stdout") === "ready\n");
      const notice = { cause: "decommissioning", atMs: 1, endsAtMs: 1_795_305_600_000 } as const;
      const signal = { type: "signal-child", signal: "SIGUSR1", reason: "its node leaves" } as const;
      for (const atMs of [1, 1, 2]) scene.send(1, { ...signal, notice: { ...notice, atMs } });
      const line = '{"cause":"decommissioning","deadlineMs":1795305600000}\n';
      await eventually("the notice", () => scene.container.log("stdout").length >= `ready\n${line}`.length);
      scene.send(1, { type: "stop-child", graceMs: 0, reason: because("the test is over") });
      await scene.report("child-exited");
      expect(scene.container.log("stdout").replaceAll(line, "N")).toMatch(/^ready\nNN?$/);
    });

    it("answers it what to do next: to save at a notice, until it has told of a checkpoint, and to stop", async () => {
      const scene = await running(`trap '' TERM; python3 ${programs}asks-what-to-do.py`);
      const heard = (text: string) => eventually(text, () => scene.container.log("stdout").endsWith(`${text}\n`));
      await heard("continue");
      const notice = { cause: "preemption", atMs: 1 } as const;
      scene.send(1, { type: "signal-child", signal: "SIGCONT", reason: "it will be preempted", notice });
      await heard("checkpoint-now\ncontinue");
      expect((await scene.report("child-progress")).checkpoint).toMatchObject({ path: "ckpt/7", step: 7 });
      scene.send(1, { type: "stop-child", graceMs: 60_000, reason: because("worker:1 failed") });
      await heard("continue\nstop");
      expect((await scene.report("child-exited")).exit).toMatchObject({ exitCode: 0 });
    });

    it("lets it run when it may take longer than any timer of Node's", async () => {
      const timeouts = { ...jobRunning("").spec.timeouts, executionMs: 30 * 86_400_000 };
      const scene = await running("sleep 1", { spec: { timeouts } });
      expect((await scene.report("child-exited")).exit).toMatchObject({ exitCode: 0 });
    });

    it("stops it when it takes longer than it may", async () => {
      const timeouts = { ...jobRunning("").spec.timeouts, executionMs: 300, stopGraceMs: 100 };
      const scene = await running("sleep 1000", { spec: { timeouts } });
      expect((await scene.report("child-exited")).exit.stopReason).toEqual({ code: "ran-too-long", limitMs: 300 });
    });
  });

  describe("ending its program", () => {
    it("lets it save within the grace", async () => {
      const scene = await running(`python3 ${programs}saves-on-term.py`);
      await eventually("the program is ready", () => scene.container.log("stdout") === "ready\n");
      scene.send(1, { type: "stop-child", graceMs: 10_000, reason: because("worker:1 failed") });
      expect((await scene.report("child-exited")).exit).toMatchObject({
        exitCode: 0,
        stopReason: because("worker:1 failed"),
      });
    });

    it.each([
      ["when it is stopped", { generation: 1, type: "stop-child", graceMs: 60_000, reason: because("again") }],
      ["when it is restarted in place", { generation: 2, type: "prepare", reason: "again" }],
      ["when its executor ends", { generation: 1, type: "exit", graceMs: 60_000, reason: because("again") }],
    ] as const)(
      "lets what its handler starts do its work within the grace, %s",
      async (_when, { generation, ...order }) => {
        const timeouts = { ...aJobSpec().timeouts, stopGraceMs: 60_000 };
        const scene = await running(`python3 ${programs}uploads-on-term.py`, { spec: { timeouts } });
        await eventually("the program is ready", () => scene.container.log("stdout") === "ready\n");
        scene.send(generation, order);
        expect((await scene.report("child-exited")).exit).toMatchObject({ exitCode: 0, stopReason: because("again") });
        const all = "ready\ntold\nuploaded\nuploaded in the background\n";
        await eventually("all is uploaded", () => scene.container.log("stdout") === all);
        await eventually("nothing of the program is left", () => scene.programs.length === 0);
      },
    );

    it("kills what does not listen when the grace is over", async () => {
      const scene = await running(`bash ${programs}ignores-term.sh`);
      await eventually("the program runs", () => scene.container.log("stdout") === "deaf\n");
      scene.send(1, { type: "stop-child", graceMs: 300, reason: because("worker:1 failed") });
      expect((await scene.report("child-exited")).exit).toMatchObject({ signal: "SIGKILL", outOfMemory: false });
    });

    it("shortens the grace when a more urgent command comes", async () => {
      const scene = await running(`bash ${programs}ignores-term.sh`);
      await eventually("the program runs", () => scene.container.log("stdout") === "deaf\n");
      scene.send(1, { type: "stop-child", graceMs: 600_000, reason: because("worker:1 failed") });
      scene.send(1, { type: "exit", graceMs: 100, reason: { code: "job-ended" } });
      expect(await scene.container.ended()).toBe(0);
    });

    it.each([
      ["grandchildren", `bash ${programs}grandchildren.sh`],
      ["a daemon", `python3 ${programs}daemon.py`],
    ])("clears %s it left behind", async (_what, command) => {
      const scene = await running(command);
      expect((await scene.report("child-exited")).exit).toMatchObject({ exitCode: 0 });
      await eventually("nothing of the program is left", () => scene.programs.length === 0);
    });

    it("leaves nothing of it when the executor alone is killed", async () => {
      const scene = await running(`python3 ${programs}daemon.py; sleep 1000`);
      await eventually("the program and its daemon run", () => scene.programs.length >= 2);
      process.kill(scene.executorPid, "SIGKILL");
      expect(await scene.container.ended()).toBe(137);
      expect(scene.programs).toEqual([]);
    });

    it("leaves nothing of it when the container is stopped, though it ignores TERM and has left the group", async () => {
      const scene = await running(`python3 ${programs}daemon.py; bash ${programs}ignores-term.sh`);
      await eventually("the program runs", () => scene.container.log("stdout").includes("deaf"));
      scene.container.signal("SIGTERM");
      expect(await scene.container.ended()).toBe(143);
      await eventually("nothing of the program is left", () => scene.programs.length === 0);
    });

    it("ends itself when it is told to, with goodbye and exit code 0", async () => {
      const scene = await running("sleep 1000");
      scene.send(1, { type: "exit", graceMs: 5000, reason: { code: "job-ended" } });
      expect((await scene.report("child-exited")).exit).toMatchObject({
        signal: "SIGTERM",
        stopReason: { code: "job-ended" },
      });
      expect(await scene.report("goodbye")).toEqual({ type: "goodbye", reason: "the job ends" });
      expect(await scene.container.ended()).toBe(0);
      expect(scene.programs).toEqual([]);
    });
  });

  describe("from generation to generation", () => {
    it("stops the program, registers with a new port and runs the next one with the reason", async () => {
      const scene = await running('echo "$SESSION_ID $TONY_GENERATION ${TONY_RESTART_REASON:-none}"; sleep 1000');
      scene.send(2, { type: "prepare", reason: "worker:1 exited 1" });
      expect((await scene.report("child-exited")).exit).toMatchObject({ stopReason: because("worker:1 exited 1") });
      const registration = await scene.registered();
      expect(registration).toMatchObject({ generation: 2, child: { state: "none" } });
      scene.startProgram(registration, 2, "worker:1 exited 1");
      await scene.report("child-started");
      await eventually("both programs have begun", () => scene.container.log("stdout").split("\n").length === 3);
      expect(scene.container.log("stdout")).toBe("0 1 none\n1 2 worker:1 exited 1\n");
    });

    it("ignores what is meant for a generation that is over, or that is not yet", async () => {
      const scene = await running("sleep 1000");
      scene.send(2, { type: "prepare", reason: "again" });
      const registration = await scene.registered();
      scene.startProgram(registration, 1);
      scene.send(3, { type: "stop-child", graceMs: 0, reason: because("too early") });
      scene.send(1, { type: "stop-child", graceMs: 0, reason: because("too late") });
      scene.startProgram(registration, 2);
      const started = await scene.report("child-started");
      expect(isRunning(started.pid)).toBe(true);
    });

    it("registers again, and stops nothing, when it is prepared for the generation it is in", async () => {
      const scene = await running("sleep 1000");
      scene.send(1, { type: "prepare", reason: "the ApplicationMaster was restarted" });
      expect(await scene.registered()).toMatchObject({ generation: 1, port: 0, child: { state: "running" } });
      expect(scene.programs).toHaveLength(1);
    });

    it("starts the program of a generation once, however often it is told", async () => {
      const scene = await running("echo once; sleep 1000");
      scene.startProgram({ ...(await scene.rejoinedRegistration()), port: 1 });
      scene.send(1, { type: "stop-child", graceMs: 100, reason: because("enough") });
      await scene.report("child-exited");
      expect(scene.container.log("stdout")).toBe("once\n");
    });
  });

  describe("without its ApplicationMaster", () => {
    it("keeps the program running, and tells a later attempt of it that calls its rejoin port", async () => {
      const scene = await stage("sleep 1000");
      const registration = await scene.connected();
      scene.startProgram(registration);
      const { pid } = await scene.report("child-started");
      await scene.master.server.close(0);

      const next = await anotherMaster(2, "sleep 1000");
      const identity = executorIdentity(application, scene.container.id);
      const reply = await callRejoin({
        identity,
        build: "test",
        rejoinAddress: registration.rejoinAddress,
        attempt: 2,
        masterAddress: next.address,
        timeoutMs: 60_000,
      });
      expect(reply).toEqual({ accepted: true, reason: "" });
      expect(await scene.connected(next)).toMatchObject({ port: 0, child: { state: "running", pid } });

      const lower = await callRejoin({
        identity,
        build: "test",
        rejoinAddress: registration.rejoinAddress,
        attempt: 1,
        masterAddress: scene.master.address,
        timeoutMs: 60_000,
      });
      expect(lower).toEqual({ accepted: false, reason: "attempt 2 is obeyed already" });
    });

    it("tells an exit that happened meanwhile, again and again until it is acknowledged", async () => {
      const scene = await running("until test -e alone; do sleep 0.05; done; exit 4");
      const { port } = scene.master.server;
      await scene.master.server.close(0);
      scene.container.place("alone", "");
      await eventually("the program has ended", () => scene.container.log("executor.log").includes('"child-exited"'));

      for (const _time of [1, 2]) {
        const again = await startMaster({ ports: { from: port, to: port } });
        await again.executors.calls.next((call) => call.call === "connected");
        const report = await again.executors.calls.next(
          (call) => call.call === "report" && call.report.type === "child-exited",
        );
        expect(report).toMatchObject({ generation: 1, report: { exit: { exitCode: 4 } } });
        await again.server.close(0);
      }
      const last = await startMaster({ ports: { from: port, to: port } });
      open.push({ close: () => last.server.close(0) });
      expect(await scene.connected(last)).toMatchObject({ child: { state: "exited", exit: { exitCode: 4 } } });
    });

    it("starts no program on a checkpoint that is damaged, and stays: it would be so in every container", async () => {
      const folder = mkdtempSync(path.join(tmpdir(), "tony-checkpoints-"));
      const checkpoint = path.join(folder, application.applicationId, "worker-0/step-1-at-1");
      mkdirSync(checkpoint, { recursive: true });
      writeFileSync(path.join(checkpoint, MANIFEST), "{");
      const carrier = { checkpoints: { localDir: "ckpt", keep: 2 }, outputRequired: true, timeoutMs: 60_000 };
      const spec = { carrier, checkpointDir: `file://${folder}` };
      const scene = await stage("", { master: { job: jobRunning("echo began", { spec }) } });
      scene.startProgram(await scene.connected(), 1, "", `file://${checkpoint}`);
      const { exit } = await scene.report("child-exited");
      expect(exit).toMatchObject({ failedToStart: true, refusedBySystem: false });
      expect(exit.errorSummary).toContain("step-1-at-1 could not be downloaded: ");
      await scene.report("heartbeat");
      rmSync(folder, { recursive: true });
    });

    it("tells how an upload ended meanwhile, though it is to end itself", async () => {
      const folder = mkdtempSync(path.join(tmpdir(), "tony-out-"));
      const inTheWay = path.join(folder, "results");
      writeFileSync(inTheWay, "");
      const output = { localDir: "out", dir: `file://${inTheWay}` };
      const carrier = { output, outputRequired: true, timeoutMs: 60_000 };
      const job = jobRunning("echo 1 > out/x", { spec: { carrier } });
      const scene = await stage("", { master: { job } });
      const registration = await scene.connected();
      const { port } = scene.master.server;
      scene.startProgram(registration);
      const ofOutput = (state: Transfer["state"]) => (call: ExecutorCall) =>
        call.call === "report" && call.report.type === "transfer" && call.report.transfer.state === state;
      await scene.master.executors.calls.next(ofOutput("under-way"));
      scene.send(1, { type: "exit", graceMs: 100, reason: { code: "job-ended" } });
      await eventually("the executor ends", () => scene.container.log("executor.log").includes('"ending"'));
      await scene.master.server.close(0);
      rmSync(inTheWay);
      await eventually("it is stored", () => scene.container.log("executor.log").includes('"output-carried"'));

      const next = await startMaster({ job, ports: { from: port, to: port } });
      open.push({ close: () => next.server.close(0) });
      await next.executors.calls.next(ofOutput("done"));
      expect(await scene.container.ended()).toBe(0);
      rmSync(folder, { recursive: true });
    });

    it("is not led astray by somebody of another application at the address that a call names", async () => {
      const scene = await running("sleep 1000");
      const impostor = await startMaster({ attempt: 9, identity: makeIdentity(application.applicationId) });
      open.push({ close: () => impostor.server.close(0) });
      const { rejoinAddress } = await scene.rejoinedRegistration();
      const identity = executorIdentity(application, scene.container.id);
      const call = { identity, build: "test", attempt: 9, masterAddress: impostor.address, timeoutMs: 60_000 };
      expect(await callRejoin({ ...call, rejoinAddress })).toMatchObject({ accepted: true });
      await scene.report("heartbeat");
      scene.send(1, { type: "stop-child", graceMs: 100, reason: because("still obeyed") });
      expect((await scene.report("child-exited")).exit).toMatchObject({ stopReason: because("still obeyed") });
      expect(impostor.executors.calls.rest).toEqual([]);
    });

    describe("cut off from the staging folder too", () => {
      /** Half a second more than a connection may be dead before that is noticed. */
      const timeouts = { ...jobRunning("").spec.timeouts, isolationMs: LONGEST_UNNOTICED_MS + 500 };
      const command = "bash -c 'sleep 1000; true' & until test -e end; do sleep 0.02; done";
      const stateOf = (pid: number) => readProcFs().stat(pid)?.state;
      const suspended = (scene: ExecutorScene) =>
        scene.programs.length >= 3 && scene.programs.every((pid) => stateOf(pid) === "T");

      /** With a staging folder that is not there before a test makes it. */
      async function withoutStaging({ spec }: SceneOptions): Promise<ExecutorScene & { readonly staging: string }> {
        const staging = path.join(mkdtempSync(path.join(tmpdir(), "tony-staging-")), "staging");
        open.push({ close: async () => rmSync(path.dirname(staging), { recursive: true }) });
        const location = stagingLocation({ ...anExecutorJob(), stagingUrl: `file://${staging}` });
        const scene = await running(command, { ...(spec && { spec }), launch: { staging: location } });
        return Object.assign(scene, { staging });
      }

      async function cutOff(): Promise<ExecutorScene & { readonly staging: string }> {
        const scene = await withoutStaging({ spec: { timeouts } });
        await scene.master.server.close(0);
        await eventually("every process stands still", () => suspended(scene));
        expect(scene.container.log("executor.log")).toContain("tony.task.isolation-timeout");
        return scene;
      }

      it("suspends its program until an ApplicationMaster says that it is still wanted", async () => {
        const scene = await cutOff();
        const { port } = scene.master.server;
        const again = await startMaster({ ports: { from: port, to: port } });
        open.push({ close: () => again.server.close(0) });
        const { child } = await scene.connected(again);
        expect(child).toMatchObject({ state: "running", suspendedMs: expect.any(Number) });
        await again.executors.calls.next((call) => call.call === "report" && call.report.type === "heartbeat");
        expect(scene.programs.map(stateOf)).toEqual(scene.programs.map(() => "T"));
        scene.send(1, { type: "resume-child" });
        scene.container.place("end", "");
        const exited = await again.executors.calls.next(
          (call) => call.call === "report" && call.report.type === "child-exited",
        );
        expect(exited).toMatchObject({ report: { exit: { exitCode: 0 } } });
      });

      it("says so on a stream that it opened before that and that is not welcomed yet", async () => {
        const timeToConnectMs = 3_000;
        const isolationMs = LONGEST_UNNOTICED_MS + timeToConnectMs;
        const scene = await withoutStaging({ spec: { timeouts: { ...timeouts, isolationMs } } });
        await scene.master.server.close(0);
        const master = await startSilentMaster(scene.master.server.port);
        open.push(master);
        const first = await master.said.next();
        expect(first).toMatchObject({ report: { child: { state: "running" } } });
        expect(first).not.toHaveProperty("report.child.suspendedMs");
        const { stream } = first;
        expect(await master.said.next()).toMatchObject({
          stream,
          report: { child: { state: "running", suspendedMs: expect.any(Number) } },
        });
      });

      it("lets it go on when the staging folder is there again and knows no later life of its task", async () => {
        const scene = await cutOff();
        mkdirSync(scene.staging);
        await eventually("every process goes on", () => scene.programs.every((pid) => stateOf(pid) !== "T"));
        await eventually("the log says so", () => scene.container.log("executor.log").includes('"resumed"'));
        scene.container.place("end", "");
        await eventually("its program ends", () => scene.container.log("executor.log").includes('"child-exited"'));
        await eventually("nothing of it is left", () => scene.programs.every((pid) => stateOf(pid) === undefined));
        const { port } = scene.master.server;
        const again = await startMaster({ ports: { from: port, to: port } });
        open.push({ close: () => again.server.close(0) });
        const { child } = await scene.connected(again);
        expect(child).toMatchObject({ state: "exited", suspendedMs: expect.any(Number) });
      });

      it("kills it without a word to its processes when the journal has its task elsewhere", async () => {
        const scene = await cutOff();
        const folder = path.join(scene.staging, "journal", "1");
        mkdirSync(`${folder}.new`, { recursive: true });
        const tasks = [{ id: "worker:0", containerId: "another", generation: 2 }];
        const snapshot = { applicationId: application.applicationId, tasks };
        writeFileSync(
          path.join(`${folder}.new`, "5"),
          encodeJournalEntry({ attempt: 1, sequence: 5 }, JSON.stringify(snapshot)),
        );
        renameSync(`${folder}.new`, folder);
        expect(await scene.container.ended()).toBe(77);
        expect(scene.programs).toEqual([]);
        expect(scene.container.log("executor.log")).not.toContain('"resumed"');
      });

      it("kills it when the ApplicationMaster says that its task lives on elsewhere", async () => {
        const scene = await cutOff();
        const { port } = scene.master.server;
        const again = await startMaster({ ports: { from: port, to: port } });
        open.push({ close: () => again.server.close(0) });
        await scene.connected(again);
        scene.send(0, { type: "exit", graceMs: 10_000, reason: { code: "replaced", why: "not part" } });
        const exited = await again.executors.calls.next(
          (call) => call.call === "report" && call.report.type === "child-exited",
        );
        expect(exited).toMatchObject({ report: { exit: { signal: "SIGKILL" } } });
        expect(await scene.container.ended()).toBe(0);
      });
    });

    it("ends its program when nobody comes for longer than the orphan timeout", async () => {
      const timeouts = { ...jobRunning("").spec.timeouts, orphanMs: 500, stopGraceMs: 200 };
      const scene = await running("sleep 1000", { spec: { timeouts } });
      await scene.master.server.close(0);
      expect(await scene.container.ended()).toBe(75);
      expect(scene.programs).toEqual([]);
      expect(scene.container.log("executor.log")).toContain("tony.task.orphan-timeout");
    });
  });

  it("sends its program's output while it runs, to the end, at the reader's pace", async () => {
    const scene = await running(`sleep 0.3; bash ${programs}flood.sh; sleep 1000`);
    const tail = {
      type: "tail-log",
      tailId: 7,
      task: "worker:0",
      stream: "stdout",
      offset: 0,
      follow: true,
      cancel: false,
    } as const;
    scene.send(1, tail);
    let received = 0;
    let skipped = 0;
    let last = "";
    while (!last.endsWith("the last line\n")) {
      const { chunk } = await scene.report("log-chunk");
      expect(chunk).toMatchObject({
        tailId: 7,
        stream: "stdout",
        generation: 1,
        offset: received + skipped + chunk.skippedBytes,
      });
      skipped += chunk.skippedBytes;
      received += chunk.data.length;
      last = Buffer.from(chunk.data).toString();
      scene.send(1, { type: "tail-credit", tailId: 7, bytes: chunk.data.length });
    }
    expect(received + skipped).toBe(Buffer.byteLength(scene.container.log("stdout")));
    scene.send(1, { type: "exit", graceMs: 0, reason: { code: "job-ended" } });
    expect((await scene.report("log-chunk")).chunk).toMatchObject({ end: true });
  });
});
