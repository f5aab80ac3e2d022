import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StatusJson } from "../../client/printed-json.ts";
import { isObject } from "../../src/hadoop/json.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { readJournal } from "../../src/journal/reader.ts";
import { type ClusterStatus, ClusterUser, clusterStatus, environmentFor } from "./cluster.ts";
import { eventually } from "./eventually.ts";
import { fileSystemsOf } from "./file-systems.ts";
import { TonyTs, type TonyTsResult, tonyTs } from "./tony-ts.ts";

/** One start of a program, as the program itself wrote it down. */
export interface ProgramStart {
  /** `worker:0` */
  readonly task: string;
  /** From 1, as the status counts. */
  readonly generation: number;
  readonly pid: number;
  readonly containerId: string;
}

export interface FaultJobOptions {
  readonly workers?: number;
  /** What each program does after it has noted its start; `$OUTPUT` is the job's shared folder. */
  readonly program?: string;
  /** Further properties of job.xml. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly verb?: "submit" | "search";
}

/** A program that writes down the time over and over, until the test lets it end; `beats` reads what it wrote. */
export const BEATS =
  "until test -e $OUTPUT/go; do date +%s%3N >> $OUTPUT/beats-$JOB_NAME-$TASK_INDEX-$TONY_GENERATION; sleep 0.1; done";

/** A program that runs until the test lets it end. */
export const WAITS = "until test -e $OUTPUT/go; do sleep 0.1; done";

/**
 * A job for tests of faults: the bundled client submits and follows it, and its programs note their starts in a folder of this machine and
 * run until `letEnd`.
 */
export class FaultJob {
  readonly client: TonyTs;
  readonly #cluster: ClusterStatus;
  readonly #folder: string;
  readonly #user: string;
  readonly #environment: Record<string, string>;
  #id = "";

  private constructor(cluster: ClusterStatus, folder: string, user: string, verb: string) {
    this.#cluster = cluster;
    this.#folder = folder;
    this.#user = user;
    this.#environment = environmentFor(cluster, user);
    this.client = new TonyTs([verb, join(folder, "job.xml")], this.#environment);
  }

  /** Resolves when the cluster has accepted the job. */
  static async submit(cluster: ClusterStatus, options: FaultJobOptions = {}): Promise<FaultJob> {
    const { workers = 2, program = WAITS, settings = {}, user = ClusterUser.alice, verb = "submit" } = options;
    const folder = mkdtempSync(join(tmpdir(), "tony-fault-"));
    chmodSync(folder, 0o777);
    // The file gets its name when it is complete.
    const note =
      'f=$OUTPUT/start-$JOB_NAME-$TASK_INDEX-$TONY_GENERATION-$$; echo "$CONTAINER_ID" > $OUTPUT/.$$; mv $OUTPUT/.$$ $f';
    const properties = {
      "tony.application.name": "fault",
      "tony.application.framework": "generic",
      "tony.am.memory": "512m",
      "tony.worker.instances": String(workers),
      "tony.worker.memory": "512m",
      "tony.worker.command": `${note}; ${program}`,
      "tony.containers.envs": `OUTPUT=${folder}`,
      ...(isReadable(cluster) && { "tony.security.allow-cleartext": "true" }),
      ...settings,
    };
    writeFileSync(join(folder, "job.xml"), toXml(properties));
    const job = new FaultJob(cluster, folder, user, verb);
    const [id] = await job.client.output(/application_\d+_\d+/);
    job.#id = id;
    return job;
  }

  get id(): string {
    return this.#id;
  }

  /** The job's staging folder in HDFS. */
  get staging(): string {
    return `/user/${this.#user}/.tony-ts/${this.#id}`;
  }

  /** Every start of a program until now, in the order of tasks and generations. */
  starts(): readonly ProgramStart[] {
    const found = readdirSync(this.#folder).flatMap((name) => {
      const [, role, index, generation, pid] = /^start-(\w+)-(\d+)-(\d+)-(\d+)$/.exec(name) ?? [];
      if (generation === undefined) return [];
      const containerId = readFileSync(join(this.#folder, name), "utf8").trim();
      return [{ task: `${role}:${index}`, generation: Number(generation), pid: Number(pid), containerId }];
    });
    return found.sort((a, b) => a.generation - b.generation || a.task.localeCompare(b.task));
  }

  /** The starts of a generation, as soon as all of its programs run. */
  async running(generation: number, programs = 2): Promise<readonly ProgramStart[]> {
    const look = async () => {
      const starts = this.starts().filter((start) => start.generation === generation);
      return starts.length >= programs ? starts : undefined;
    };
    return await eventually(`generation ${generation} of ${this.#id}`, look).catch(async (error: unknown) => {
      const { stdout } = await tonyTs(["status", this.#id, "--json"], this.#environment);
      throw new Error(`${error}; starts: ${JSON.stringify(this.starts())}; status: ${stdout}`);
    });
  }

  /** All starts, of whichever generation, as soon as there are `programs` of them. */
  async starting(programs: number): Promise<readonly ProgramStart[]> {
    const look = async () => (this.starts().length >= programs ? this.starts() : undefined);
    return await eventually(`${programs} programs of ${this.#id}`, look);
  }

  /**
   * Resolves when the journal says that the programs of the present generation were started, which an attempt must know to go on with it.
   */
  async journaled(): Promise<void> {
    const fileSystems = fileSystemsOf(this.#cluster, this.#user);
    try {
      const { fileSystem } = await fileSystems.home();
      await eventually("the journal", async () => {
        const { entry } = await readJournal(fileSystem, `${this.staging}/journal`);
        const snapshot: unknown = entry?.snapshot;
        const gangs: readonly unknown[] = isObject(snapshot) && Array.isArray(snapshot.gangs) ? snapshot.gangs : [];
        return gangs.some((gang) => isObject(gang) && gang.phase === "running");
      });
    } finally {
      fileSystems.close();
    }
  }

  /** The NodeManager on which that attempt of the ApplicationMaster was started. */
  nodeOfMaster(attempt = 1): string {
    const node = this.#cluster.nodes.find(
      ({ folder }) => masterFolders(join(folder, "logs", this.#id), attempt).length > 0,
    );
    if (node === undefined) throw new Error(`no node has the log of attempt ${attempt} of ${this.#id}`);
    return node.name;
  }

  /** What `tony-ts status --json` prints once it satisfies the condition, for a job whose ApplicationMaster answers. */
  async status(what: string, holds: (status: JobStatus) => boolean): Promise<JobStatus> {
    return await eventually(`${what} in the status of ${this.#id}`, async () => {
      const { stdout, exitCode } = await tonyTs(["status", this.#id, "--json"], this.#environment);
      if (exitCode !== 0) return undefined;
      const { status, statusFrom }: StatusJson = JSON.parse(stdout);
      return statusFrom === "am" && holds(status) ? status : undefined;
    });
  }

  /** The process of the running ApplicationMaster, other than the given one. */
  async master({ otherThan }: { otherThan?: number } = {}): Promise<number> {
    const ours = `container_\\w*${this.#id.slice("application_".length)}_`;
    return await this.#process("am.cjs", new RegExp(ours), otherThan);
  }

  /** The process of the executor in that container. */
  async executor(containerId = "no container"): Promise<number> {
    return await this.#process("executor.cjs", new RegExp(`${containerId}$`));
  }

  /** The first process of an executor that is found. */
  async anyExecutor(): Promise<number> {
    return await this.#process("executor.cjs", new RegExp(`${this.#id.slice("application_".length)}_`));
  }

  async #process(program: string, container: RegExp, otherThan?: number): Promise<number> {
    const look = async () => {
      const { containerProcesses } = await clusterStatus(this.#cluster.name);
      return containerProcesses
        .filter(({ command, pid }) => new RegExp(`node\\S*( --\\S+)* ${program}`).test(command) && pid !== otherThan)
        .map(({ pid }) => pid)
        .find((pid) => environmentOf(pid).some((line) => line.startsWith("CONTAINER_ID=") && container.test(line)));
    };
    return await eventually(`a process ${program} of ${this.#id}`, look);
  }

  /** The log of an attempt's ApplicationMaster, read from the nodes' disks while the job runs. */
  masterLog(attempt = 1): string {
    return this.#cluster.nodes
      .flatMap(({ folder }) => masterFolders(join(folder, "logs", this.#id), attempt))
      .map((folder) => join(folder, "am.log"))
      .filter((file) => existsSync(file))
      .map((file) => readFileSync(file, "utf8"))
      .join("");
  }

  /** The times at which a program of `BEATS` has written until now, by its own clock. */
  beats({ task, generation }: ProgramStart): readonly number[] {
    const file = join(this.#folder, `beats-${task.replace(":", "-")}-${generation}`);
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
  }

  /** Makes an empty file in the folder that the programs know as `$OUTPUT`. */
  write(name: string): void {
    writeFileSync(join(this.#folder, name), "");
  }

  /** Whether a program, or the test, has made that file in `$OUTPUT`. */
  wrote(name: string): boolean {
    return existsSync(join(this.#folder, name));
  }

  /** What a program wrote into that file in `$OUTPUT`. */
  read(name: string): string {
    return readFileSync(join(this.#folder, name), "utf8");
  }

  /** Lets the waiting programs end with 0. */
  letEnd(): void {
    this.write("go");
  }

  /** Does the same, and returns the result of the client that follows the job. */
  async end(): Promise<TonyTsResult> {
    this.letEnd();
    return await this.client.ended;
  }

  /** Runs `tony-ts` with this verb, the job's id and these words. */
  async command(verb: "kill" | "logs" | "status" | "trials", ...words: readonly string[]): Promise<TonyTsResult> {
    return await tonyTs([verb, this.#id, ...words], this.#environment);
  }

  /** Ends whatever of the job is still there. */
  async dispose(): Promise<void> {
    this.letEnd();
    // A client that ended by itself saw the job's end.
    if (this.client.process.exitCode === null) {
      await tonyTs(["kill", this.#id, "--reason", "end of the test"], this.#environment);
      this.client.process.kill("SIGKILL");
      await this.client.ended;
    }
    // A program that is just ending may still write into the folder.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 50 });
  }
}

/** Whether what a job sends by RPC can be read on the network of a secured cluster: then somebody has to accept that. */
const isReadable = ({ settings: { secure, protection } }: ClusterStatus): boolean => secure && protection !== "privacy";

function toXml(properties: Readonly<Record<string, string>>): string {
  const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const lines = Object.entries(properties).map(
    ([name, value]) => `<property><name>${name}</name><value>${escaped(value)}</value></property>`,
  );
  return `<configuration>\n${lines.join("\n")}\n</configuration>\n`;
}

/** The log folders of that attempt's container among those of an application; container ids have an epoch after a restart of YARN. */
function masterFolders(applicationFolder: string, attempt: number): string[] {
  if (!existsSync(applicationFolder)) return [];
  const names = readdirSync(applicationFolder).filter((name) => name.endsWith(`_0${attempt}_000001`));
  return names.map((name) => join(applicationFolder, name));
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}
