import { symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { handleBidiStreamingCall } from "@grpc/grpc-js";
import { encodeClusterSpec } from "../../src/api/cluster-spec-codec.ts";
import { executorService } from "../../src/api/definition.ts";
import type { ExecutorLink } from "../../src/api/executor-endpoint.ts";
import { executorIdentity, executorSecrets } from "../../src/api/identity.ts";
import type { MasterServerOptions } from "../../src/api/master-server.ts";
import type { ExecutorMessage, ExecutorReport, MasterCommand, MasterMessage } from "../../src/api/messages.ts";
import { ApiServer } from "../../src/api/server.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import {
  type ExecutorLaunch,
  executorVariables,
  launchCommand,
  PROGRAM_MARKER,
} from "../../src/job/launch/launch-command.ts";
import { escapeEnvironment } from "../../src/job/launch/launch-script-text.ts";
import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import { stagingLocation } from "../../src/job/stored/staging-location.ts";
import { anExecutorJob, type ExecutorCall, identity, startMaster } from "./api.ts";
import { TestContainer } from "./container.ts";
import { eventually } from "./eventually.ts";
import { Inbox } from "./inbox.ts";
import { aJobSpec } from "./job-spec.ts";
import { processesWith } from "./processes.ts";

/** A container with a real executor in it, launched as the ApplicationMaster launches it. */
class ExecutorContainer extends TestContainer {
  readonly #tokens: string;

  constructor(bundle: string) {
    super();
    symlinkSync(bundle, path.join(this.work, "executor.cjs"));
    this.#tokens = path.join(this.folder, "container_tokens");
    const secrets = executorSecrets(executorIdentity(identity, this.id));
    writeFileSync(this.#tokens, writeTokenFile({ tokens: [], secrets }), { mode: 0o600 });
  }

  launch(changes: Partial<ExecutorLaunch> & Pick<ExecutorLaunch, "masterAddress">, environment = {}) {
    const launch: ExecutorLaunch = {
      task: "worker:0",
      applicationId: identity.applicationId,
      staging: stagingLocation(anExecutorJob()),
      attempt: 1,
      generation: 1,
      isolationMs: 30_000,
      tensorBoard: false,
      reusePort: false,
      memoryMiB: 1024,
      sections: { ports: {}, logs: { level: "debug", maxSizeMiB: 128, maxFiles: 10 } },
      ...changes,
    };
    return this.start(launchCommand({ node: process.execPath, bundle: "executor.cjs", files: [] }), {
      HADOOP_TOKEN_FILE_LOCATION: this.#tokens,
      ...escapeEnvironment(executorVariables(launch)),
      ...environment,
    });
  }

  /** The executor's log so far, line by line. */
  get events(): readonly Record<string, unknown>[] {
    const lines = this.log("executor.log").split("\n").slice(0, -1);
    return lines.map((line): Record<string, unknown> => JSON.parse(line));
  }
}

type Master = Awaited<ReturnType<typeof startMaster>>;
type Report<Type extends ExecutorReport["type"]> = Extract<ExecutorReport, { type: Type }>;

export interface SceneOptions {
  readonly role?: Partial<RoleSpec>;
  readonly spec?: Partial<JobSpec>;
  readonly launch?: Partial<ExecutorLaunch>;
  readonly master?: Partial<MasterServerOptions>;
}

/** A job of one role with that command. */
export function jobRunning(command: string, { role: changes, spec }: SceneOptions = {}) {
  const [role] = aJobSpec().roles;
  const roles = role === undefined ? [] : [{ ...role, ...changes, command }];
  return anExecutorJob(aJobSpec({ ...spec, roles }));
}

/** An executor in a container, and the ApplicationMaster that it talks to. */
export class ExecutorScene {
  readonly master: Master;
  readonly container: ExecutorContainer;
  link: ExecutorLink | undefined;
  #registration: ExecutorRegistration | undefined;

  constructor(master: Master, container: ExecutorContainer) {
    this.master = master;
    this.container = container;
  }

  static async open(bundle: string, command: string, options: SceneOptions = {}): Promise<ExecutorScene> {
    const master = await startMaster({ job: jobRunning(command, options), ...options.master });
    const scene = new ExecutorScene(master, new ExecutorContainer(bundle));
    scene.container.launch({ masterAddress: master.address, ...options.launch });
    return scene;
  }

  async close(): Promise<void> {
    this.container.remove();
    await this.master.server.close(0);
    for (const pid of this.programs) process.kill(pid, "SIGKILL");
    await eventually("no program is left", () => this.programs.length === 0);
  }

  async connected(master = this.master): Promise<ExecutorRegistration> {
    const call = await master.executors.calls.next(isConnected);
    this.link = call.link;
    this.#registration = call.registration;
    return call.registration;
  }

  async registered(): Promise<ExecutorRegistration> {
    return (await this.master.executors.calls.next(isRegistered)).registration;
  }

  send(generation: number, command: MasterCommand): void {
    this.link?.send(generation, command);
  }

  async report<Type extends ExecutorReport["type"]>(type: Type): Promise<Report<Type>> {
    const isIt = (call: ExecutorCall): call is ExecutorCall & { call: "report"; report: Report<Type> } =>
      call.call === "report" && call.report.type === type;
    return (await this.master.executors.calls.next(isIt)).report;
  }

  startProgram({ port }: ExecutorRegistration, generation = 1, restartReason = "", checkpoint = ""): void {
    const tasks = [
      { task: "worker:0", host: "127.0.0.1", port },
      { task: "worker:1", host: "127.0.0.2", port: 4242 },
    ] as const;
    const clusterSpec = encodeClusterSpec({ generation, tasks });
    this.send(generation, {
      type: "start-child",
      clusterSpec,
      restartReason,
      restarts: generation - 1,
      checkpoint,
    });
  }

  /** The last registration, which came over a new stream. */
  async rejoinedRegistration(): Promise<ExecutorRegistration> {
    return this.#registration ?? this.connected();
  }

  get executorPid(): number {
    const started = this.container.events.find(({ event }) => event === "started");
    return Number(started?.pid);
  }

  get programs(): number[] {
    return processesWith(PROGRAM_MARKER, this.container.id);
  }
}

const isConnected = (call: ExecutorCall): call is Extract<ExecutorCall, { registration: unknown }> =>
  call.call === "connected";
const isRegistered = (call: ExecutorCall): call is Extract<ExecutorCall, { registration: unknown }> =>
  call.call === "registered";

interface Said {
  /** 1 for the stream that was opened first. */
  readonly stream: number;
  readonly report: ExecutorReport;
}

/** An ApplicationMaster that takes streams on that port and never answers; a test awaits what executors say to it. */
export async function startSilentMaster(port: number) {
  const said = new Inbox<Said>();
  let streams = 0;
  const link: handleBidiStreamingCall<ExecutorMessage, MasterMessage> = (call) => {
    streams += 1;
    const stream = streams;
    call.on("data", ({ body }: ExecutorMessage) => said.put({ stream, report: body }));
  };
  const server = new ApiServer({
    name: "silent.tony",
    callers: {
      "tony.v1.ExecutorService": (containerId) => executorIdentity(identity, containerId).caller.secret,
    },
    services: (grpc) => grpc.addService(executorService, { link }),
  });
  const ports = { from: port, to: port };
  await server.listen({ host: "127.0.0.1", ports, portKey: "", random: Math.random });
  return { said, close: () => server.close(0) };
}
