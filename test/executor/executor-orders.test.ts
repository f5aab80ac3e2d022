import { appendFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { SessionRecords } from "../../am/clients/session-records.ts";
import { Sessions } from "../../am/clients/sessions.ts";
import { Executor } from "../../executor/executor.ts";
import { ExecutorExit } from "../../executor/exit-codes.ts";
import { WorkFolder } from "../../executor/preparation/work-folder.ts";
import { ProcessTree } from "../../executor/processes/process-tree.ts";
import { TaskTokens } from "../../executor/task-tokens.ts";
import { encodeClusterSpec } from "../../src/api/cluster-spec-codec.ts";
import type { ExecutorLink } from "../../src/api/executor-endpoint.ts";
import { clientAccess } from "../../src/api/identity.ts";
import { MasterClient } from "../../src/api/master-client.ts";
import type { MasterServerOptions } from "../../src/api/master-server.ts";
import type { ExecutorReport, MasterCommand } from "../../src/api/messages.ts";
import { noCredentials } from "../../src/hadoop/security/credentials.ts";
import { readTokenFile, writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { identity as application, type ExecutorCall, executor as identity, startMaster } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { executorSettingsIn } from "../support/executor-launch.ts";
import { jobRunning } from "../support/executor-scene.ts";
import { isRunning } from "../support/processes.ts";
import { CollectedSession } from "../support/session-scene.ts";
import { silentLog } from "../support/silent-log.ts";
import { SteppedClock } from "../support/stepped-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { aDelegationToken } from "../support/tokens.ts";

const reason = { code: "generation-ended", why: "a peer failed" } as const;
const ofLog = { type: "tail-log", task: "worker:0", stream: "stdout", offset: 0, cancel: false } as const;

describe("an executor within this process", () => {
  const folder = temporaryFolder();
  const ending: (() => unknown)[] = [];
  let codes: ExecutorExit[];
  let monotonicMs: () => number;

  beforeEach(() => {
    codes = [];
    monotonicMs = () => performance.now();
    jest.spyOn(process, "cwd").mockReturnValue(folder.path);
    jest.spyOn(process.stderr, "write").mockReturnValue(true);
  });
  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
    jest.restoreAllMocks();
  });

  const file = (name: string) => path.join(folder.path, name);
  const hasEnded = (code: ExecutorExit) => eventually(`exit ${code}`, () => codes.includes(code));

  /** It has begun, and talks to the ApplicationMaster at that address. */
  async function begun(masterAddress: string) {
    const task = { role: "worker", index: 0 };
    const containerId = identity.caller.name;
    const settings = executorSettingsIn(folder.path, { masterAddress, attempt: 1, containerId, task });
    const tokens = TaskTokens.open(folder.path, noCredentials);
    const executor = new Executor({
      settings: { ...settings, staging: { ...settings.staging, stagingUrl: "file:///nowhere" } },
      ...{ identity, build: "test", environment: { PATH: process.env.PATH }, tokens, log: silentLog },
      containerTokens: { putBack: async () => undefined },
      workFolder: await WorkFolder.of(folder.path),
      nowMs: Date.now,
      random: () => 0,
      monotonicMs: () => monotonicMs(),
      end: (code) => void codes.push(code),
    });
    ending.push(() => executor.terminate());
    await executor.start(async () => "127.0.0.1:1");
    return { executor, tokens };
  }

  async function aMaster(changes: Partial<MasterServerOptions> = {}) {
    const master = await startMaster(changes);
    ending.push(() => master.server.close(0));
    const isConnected = (call: ExecutorCall) => call.call === "connected";
    const connected = () => master.executors.calls.next<Extract<ExecutorCall, { registration: unknown }>>(isConnected);
    const report = async <Type extends ExecutorReport["type"]>(type: Type) => {
      type Report = Extract<ExecutorCall, { call: "report" }> & { report: Extract<ExecutorReport, { type: Type }> };
      const isIt = (call: ExecutorCall): call is Report => call.call === "report" && call.report.type === type;
      return (await master.executors.calls.next(isIt)).report;
    };
    return { ...master, connected, report };
  }

  const start: MasterCommand = {
    ...{ type: "start-child", restartReason: "", restarts: 0, checkpoint: "" },
    clusterSpec: encodeClusterSpec({ generation: 1, tasks: [{ task: "worker:0", host: "127.0.0.1", port: 5000 }] }),
  };

  /** Its program runs; sessions with it can be opened. */
  async function running(command: string) {
    let link: ExecutorLink | undefined;
    const sessions = new Sessions({
      clock: new SteppedClock(),
      records: new SessionRecords({ log: silentLog, add: () => undefined }),
      unknownTask: () => undefined,
      spokenName: (task) => task,
      linkTo: () => link,
      taskIn: () => link?.task,
      tenantOf: () => link?.task,
    });
    const master = await aMaster({ job: jobRunning(command), sessions });
    const made = await begun(master.address);
    const { registration, link: ofExecutor } = await master.connected();
    link = ofExecutor;
    link.send(1, start);
    await master.report("child-started");
    const client = new MasterClient({ address: master.address, access: clientAccess(application), build: "test" });
    ending.push(() => client.close());
    const session = (...words: readonly string[]) =>
      new CollectedSession(client.openSession("worker:0", { type: "command", words }));
    return { ...made, master, link, registration, session };
  }

  test("registers with what its ApplicationMaster must know of it", async () => {
    monotonicMs = () => 1_234.6;
    const master = await aMaster({ job: jobRunning("true") });
    await begun(master.address);
    const { registration } = await master.connected();
    expect(registration).toEqual({
      ...{ task: "worker:0", containerId: identity.caller.name, generation: 1, host: "127.0.0.1" },
      ...{ port: expect.any(Number), ports: { rpc: expect.any(Number) }, tensorboardPort: 0 },
      ...{ rejoinAddress: "127.0.0.1:1", upMs: 1_235, child: { state: "none" } },
    });
  });

  test("opens file systems with the newest tokens that it was sent, as its program does", async () => {
    const { tokens, link } = await running("sleep 100");
    const token = aDelegationToken(1, 2);
    link.send(1, { type: "replace-tokens", file: writeTokenFile({ tokens: [token], secrets: new Map() }) });
    await eventually("it holds them", () => tokens.held().tokens.length === 1);
    expect(readTokenFile(readFileSync(tokens.file)).tokens).toEqual([token]);
  });

  test("tells after a lost stream how far its program is, and sends nobody there a log that another asked for", async () => {
    const { master, link } = await running(`echo '{"step": 7}' >> "$TONY_PROGRESS_FILE"; exec sleep 100`);
    expect(await master.report("child-progress")).toMatchObject({ step: 7 });
    link.send(1, { ...ofLog, tailId: 1, follow: true });
    const { port } = master.server;
    await master.server.close(0);
    const again = await aMaster({ ports: { from: port, to: port } });
    const { registration, link: next } = await again.connected();
    expect(registration).toMatchObject({ port: 0, child: { state: "running" }, progress: { step: 7 } });
    expect(registration).not.toHaveProperty("ports");
    appendFileSync(file("stdout"), "more\n");
    next.send(1, { ...ofLog, tailId: 2, follow: false });
    const { chunk } = await again.report("log-chunk");
    expect([chunk.tailId, Buffer.from(chunk.data).toString()]).toEqual([2, "more\n"]);
  });

  test("sends a reader what its program wrote last, with the generation that it is of", async () => {
    const { master, link } = await running(`until test -e ${file("done")}; do sleep 0.05; done; echo last`);
    link.send(1, { ...ofLog, tailId: 1, follow: true });
    appendFileSync(file("done"), "");
    const { chunk } = await master.report("log-chunk");
    expect([Buffer.from(chunk.data).toString(), chunk.generation]).toEqual(["last\n", 1]);
  });

  describe("ends the sessions in its container", () => {
    const open = async (command: string) => {
      const scene = await running(command);
      const session = scene.session("sh", "-c", "echo $$; exec sleep 100");
      await eventually("it runs", () => session.texts.stdout.endsWith("\n"));
      return { ...scene, session, pid: Number(session.texts.stdout) };
    };

    test("when its program has ended", async () => {
      const { session } = await open(`until test -e ${file("done")}; do sleep 0.05; done`);
      appendFileSync(file("done"), "");
      expect(await session.end()).toEqual({ type: "failed", reason: "the program has ended" });
    });

    test("before its program is stopped", async () => {
      const { session, link } = await open("trap '' TERM; sleep 100");
      link.send(1, { type: "stop-child", graceMs: 60_000, reason });
      expect(await session.end()).toEqual({
        type: "failed",
        reason: expect.stringMatching(/^the program is stopped: /),
      });
    });

    test("when their caller has gone", async () => {
      const { session, pid } = await open("sleep 100");
      expect(isRunning(pid)).toBe(true);
      session.session.cancel();
      await eventually("its command is gone", () => !isRunning(pid));
    });
  });

  test("gives up by an error of its own, which its ApplicationMaster and YARN are told", async () => {
    const log = jest.spyOn(silentLog, "error");
    const master = await aMaster({ job: jobRunning("true", { role: { name: "ps" } }) });
    await begun(master.address);
    (await master.connected()).link.send(1, start);
    expect(await master.report("goodbye")).toMatchObject({ reason: expect.stringContaining("no role worker") });
    await hasEnded(ExecutorExit.failed);
    expect(log.mock.calls).toEqual([["failed", "The job has no role worker."]]);
    expect(process.stderr.write).toHaveBeenCalledWith("tony-ts: The job has no role worker\n");
  });

  test("exits where a process of its program survives SIGKILL, so that the NodeManager ends the container", async () => {
    const { link } = await running("sleep 100");
    const end = jest.spyOn(ProcessTree.prototype, "end").mockResolvedValue(false);
    link.send(1, { type: "stop-child", graceMs: 0, reason });
    await hasEnded(ExecutorExit.stuck);
    end.mockRestore();
    expect(codes).toEqual([ExecutorExit.stuck]);
  });

  test("waits a quarter of an hour for its first ApplicationMaster", async () => {
    monotonicMs = () => 0;
    const { executor } = await begun("127.0.0.1:1");
    for (const [ms, isOver] of [
      [899_000, false],
      [901_000, true],
    ] as const) {
      monotonicMs = () => ms;
      executor.link.register();
      await eventually("it is woken", () => codes.length > 0 || !isOver);
      expect(codes).toEqual(isOver ? [ExecutorExit.orphaned] : []);
    }
  });
});
