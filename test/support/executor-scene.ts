import { encodeClusterSpec } from "../../src/api/cluster-spec-codec.ts";
import type { ExecutorLink } from "../../src/api/executor-endpoint.ts";
import type { MasterServerOptions } from "../../src/api/master-server.ts";
import type { ExecutorReport, MasterCommand } from "../../src/api/messages.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import { type ExecutorLaunch, PROGRAM_MARKER } from "../../src/job/launch/launch-command.ts";
import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import { anExecutorJob, type ExecutorCall, startMaster } from "./api.ts";
import { eventually } from "./eventually.ts";
import { ExecutorContainer } from "./executor-container.ts";
import { aJobSpec } from "./job-spec.ts";
import { processesWith } from "./processes.ts";

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

/** An executor in a container and the ApplicationMaster it talks to. */
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

  /** The last registration of a new stream. */
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
