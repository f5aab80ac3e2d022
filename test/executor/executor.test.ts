import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { ExecutorLink } from "../../src/api/executor-endpoint.ts";
import type { MasterServerOptions } from "../../src/api/master-server.ts";
import type { ExecutorReport, MasterCommand } from "../../src/api/messages.ts";
import { encodeClusterSpec } from "../../src/job/cluster-spec-codec.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import type { ExecutorLaunch } from "../../src/job/launch-command.ts";
import { PROGRAM_MARKER } from "../../src/job/launch-command.ts";
import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import { aJobSpec, anExecutorJob, type ExecutorCall, startMaster } from "../support/api.ts";
import { TestBundle } from "../support/bundle.ts";
import { ExecutorContainer } from "../support/executor-container.ts";
import { eventually, processesWith } from "../support/processes.ts";

type Master = Awaited<ReturnType<typeof startMaster>>;
type Report<Type extends ExecutorReport["type"]> = Extract<ExecutorReport, { type: Type }>;

/** An executor in a container and the ApplicationMaster it talks to. */
class Scene {
  readonly master: Master;
  readonly container: ExecutorContainer;
  link: ExecutorLink | undefined;

  constructor(master: Master, container: ExecutorContainer) {
    this.master = master;
    this.container = container;
  }

  async connected(master = this.master): Promise<ExecutorRegistration> {
    const call = await master.executors.calls.next(isConnected, 10_000);
    this.link = call.link;
    return call.registration;
  }

  async registered(): Promise<ExecutorRegistration> {
    return (await this.master.executors.calls.next(isRegistered, 10_000)).registration;
  }

  send(generation: number, command: MasterCommand): void {
    this.link?.send(generation, command);
  }

  async report<Type extends ExecutorReport["type"]>(type: Type, withinMs = 10_000): Promise<Report<Type>> {
    const isIt = (call: ExecutorCall): call is ExecutorCall & { call: "report"; report: Report<Type> } =>
      call.call === "report" && call.report.type === type;
    return (await this.master.executors.calls.next(isIt, withinMs)).report;
  }

  startProgram({ port }: ExecutorRegistration, generation = 1, restartReason = ""): void {
    const tasks = [
      { task: "worker:0", host: "127.0.0.1", port },
      { task: "worker:1", host: "127.0.0.2", port: 4242 },
    ] as const;
    const clusterSpec = encodeClusterSpec({ generation, tasks });
    this.send(generation, { type: "start-child", clusterSpec, restartReason, checkpoint: "" });
  }

  get programs(): number[] {
    return processesWith(PROGRAM_MARKER, this.container.id);
  }
}

const isConnected = (call: ExecutorCall): call is Extract<ExecutorCall, { registration: unknown }> =>
  call.call === "connected";
const isRegistered = (call: ExecutorCall): call is Extract<ExecutorCall, { registration: unknown }> =>
  call.call === "registered";

describe("an executor in its container", () => {
  let bundle: TestBundle;
  const scenes: Scene[] = [];

  beforeAll(() => {
    bundle = new TestBundle("executor/main.ts");
  });

  afterAll(() => bundle.remove());

  afterEach(async () => {
    for (const { master, container } of scenes.splice(0)) {
      container.remove();
      await master.server.close(0);
      await eventually(() => processesWith(PROGRAM_MARKER, container.id).length === 0, "no program is left");
    }
  });

  async function stage(
    command: string,
    options: {
      readonly role?: Partial<RoleSpec>;
      readonly spec?: Partial<JobSpec>;
      readonly launch?: Partial<ExecutorLaunch>;
      readonly master?: Partial<MasterServerOptions>;
    } = {},
  ): Promise<Scene> {
    const [role] = aJobSpec().roles;
    const roles = role === undefined ? [] : [{ ...role, ...options.role, command }];
    const job = anExecutorJob(aJobSpec({ ...options.spec, roles }));
    const master = await startMaster({ job, ...options.master });
    const scene = new Scene(master, new ExecutorContainer(bundle.file));
    scenes.push(scene);
    scene.container.launch({ masterAddress: master.address, ...options.launch });
    return scene;
  }

  it("registers with a port it holds and a rejoin port, and says that nothing has run", async () => {
    const scene = await stage("true");
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
    expect(registration.port).toBeGreaterThan(0);
  });

  it("runs the program with the environment of its framework when the gang is complete, and reports its end", async () => {
    const command =
      'echo "$INIT_METHOD $RANK $WORLD $JOB_NAME $TASK_INDEX $SESSION_ID $MINE"; echo to stderr >&2; exit 3';
    const scene = await stage(command, { role: { environment: { MINE: "a b" } }, spec: { framework: "pytorch" } });
    const registration = await scene.connected();
    scene.startProgram(registration);
    expect((await scene.report("child-started")).pid).toBeGreaterThan(0);
    const { exit } = await scene.report("child-exited");
    expect(exit).toMatchObject({ exitCode: 3, signal: "", stopReason: "", failedToStart: false });
    expect(exit.lastLines).toEqual([`tcp://127.0.0.1:${registration.port} 0 2 worker 0 0 a b`, "to stderr"]);
    expect(scene.container.log("stdout")).toContain("tcp://127.0.0.1");
    expect(scene.container.log("stderr")).toBe("to stderr\n");
  });

  it("lets the program open its own port at once", async () => {
    const listen = 'import os, socket; s = socket.create_server(("", int(os.environ["MASTER_PORT"]))); print("open")';
    const scene = await stage(`python3 -c '${listen}'`, { spec: { framework: "pytorch" } });
    scene.startProgram(await scene.connected());
    expect(await scene.report("child-exited")).toMatchObject({ exit: { exitCode: 0 } });
    expect(scene.container.log("stdout")).toBe("open\n");
  });

  it("keeps what was meant for itself from the program", async () => {
    const scene = await stage("env");
    scene.startProgram(await scene.connected());
    await scene.report("child-exited");
    const names = scene.container
      .log("stdout")
      .split("\n")
      .map((line) => line.split("=")[0]);
    expect(names).toEqual(expect.arrayContaining(["TONY_PROGRESS_FILE", "CONTAINER_ID", PROGRAM_MARKER]));
    expect(names).not.toEqual(expect.arrayContaining(["TONY_MASTER_ADDRESS"]));
    expect(names).not.toEqual(expect.arrayContaining(["TONY_TASK"]));
  });

  it("ends when it is told to, with goodbye and exit code 0", async () => {
    const scene = await stage("sleep 1000");
    scene.startProgram(await scene.connected());
    await scene.report("child-started");
    scene.send(1, { type: "exit", graceMs: 5000, reason: "the job is done" });
    expect((await scene.report("child-exited")).exit).toMatchObject({
      signal: "SIGTERM",
      stopReason: "the job is done",
    });
    expect(await scene.report("goodbye")).toEqual({ type: "goodbye", reason: "the job is done" });
    expect(await scene.container.ended()).toBe(0);
    expect(scene.programs).toEqual([]);
  });
});
