import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import path from "node:path";
import { parseHostPort } from "../../../src/hadoop/conf/values.ts";
import { ContainerExitStatus } from "../../../src/hadoop/yarn/records.ts";
import { YARN_SCRIPT, YARN_TOKENS } from "../../../src/job/launch/container-names.ts";
import type { ContainerCommand } from "../scheduler.ts";
import type { Localizer } from "./localize.ts";

/** Between TERM and KILL: yarn.nodemanager.sleep-delay-before-sigkill.ms */
const killDelayMs = 250;

/** The variables of its own environment that a NodeManager passes on (yarn.nodemanager.env-whitelist). */
const inheritedVariables = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "TZ",
  "JAVA_HOME",
  "HADOOP_HOME",
  "HADOOP_COMMON_HOME",
  "HADOOP_HDFS_HOME",
  "HADOOP_YARN_HOME",
  "HADOOP_CONF_DIR",
] as const;

export interface ContainerEnd {
  readonly exitStatus: number;
  readonly diagnostics: string;
}

/** A node's address as YARN tells it to containers. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
  /** `host:port` of its web pages; empty where there are none. */
  readonly httpAddress: string;
}

/** The folders of one container: `<folder>/work` while it runs, its logs also afterwards. */
export interface ContainerPlace {
  readonly folder: string;
  readonly logFolder: string;
  readonly user: string;
  readonly node: NodeAddress;
}

/**
 * A container as a process group with a working directory, a logs folder and a token file of its own.
 * `ended` is called once, when the group's first process has ended and nothing of the group is left.
 */
export class LocalContainer {
  readonly #place: ContainerPlace;
  readonly #ended: (end: ContainerEnd) => void;
  #process: ChildProcess | undefined;
  /** Set when the scheduler ends it: the exit status that is reported then. */
  #stopped: ContainerEnd | undefined;
  #over = false;

  constructor(place: ContainerPlace, ended: (end: ContainerEnd) => void) {
    this.#place = place;
    this.#ended = ended;
  }

  /** Resolves when the process runs; rejects when a file cannot be placed or the process cannot be created. */
  async start(command: ContainerCommand, localizer: Pick<Localizer, "place">): Promise<void> {
    try {
      await this.#prepareAndSpawn(command, localizer);
    } catch (error) {
      this.#over = true;
      await this.#clean();
      throw error;
    }
  }

  /** TERM to the group, KILL 250 ms later, as a NodeManager does. */
  stop(end: ContainerEnd): void {
    if (this.#stopped !== undefined || this.#over) return;
    this.#stopped = end;
    if (this.#process === undefined) return;
    this.#signal("SIGTERM");
    setTimeout(() => this.#signal("SIGKILL"), killDelayMs);
  }

  async #prepareAndSpawn(command: ContainerCommand, localizer: Pick<Localizer, "place">): Promise<void> {
    const work = path.join(this.#place.folder, "work");
    const logs = this.#place.logFolder;
    await mkdir(work, { recursive: true });
    await mkdir(logs, { recursive: true });
    await localizer.place(command.files, work);
    await writeFile(path.join(work, YARN_TOKENS), command.credentials, { mode: 0o600 });
    const environment = { ...command.environment, ...this.#ownEnvironment(command.containerId, work, logs) };
    const script = path.join(work, YARN_SCRIPT);
    await writeFile(script, launchScript({ environment, commands: command.commands, logFolder: logs }), {
      mode: 0o700,
    });
    // It may have been stopped while its files were being placed.
    if (this.#stopped === undefined) await this.#spawn(script, work, logs);
    else this.#finish(this.#stopped);
  }

  /** What a NodeManager sets itself, whatever the launch says. */
  #ownEnvironment(containerId: string, work: string, logs: string): Record<string, string> {
    return {
      CONTAINER_ID: containerId,
      NM_HOST: this.#place.node.host,
      NM_PORT: String(this.#place.node.port),
      NM_HTTP_PORT: String(parseHostPort(this.#place.node.httpAddress)?.port ?? 0),
      LOCAL_DIRS: path.dirname(this.#place.folder),
      LOG_DIRS: logs,
      PWD: work,
      USER: this.#place.user,
      LOGNAME: this.#place.user,
      HADOOP_TOKEN_FILE_LOCATION: path.join(work, YARN_TOKENS),
    };
  }

  #spawn(script: string, work: string, logs: string): Promise<void> {
    const output = ["prelaunch.out", "prelaunch.err"].map((name) => openSync(path.join(logs, name), "a"));
    const child = spawn("/bin/bash", [script], {
      cwd: work,
      detached: true,
      env: pick(process.env, inheritedVariables),
      stdio: ["ignore", output[0], output[1], "pipe"],
    });
    for (const descriptor of output) closeSync(descriptor);
    // The guard's pipe: nothing is ever read or written, and its end is no error.
    child.stdio[3]?.on("error", () => {});
    return new Promise((resolve, reject) => {
      child.once("spawn", () => {
        this.#process = child;
        if (this.#stopped !== undefined) this.#signal("SIGKILL");
        resolve();
      });
      child.once("error", (error) => {
        if (this.#process === undefined) reject(error);
      });
      child.once("exit", (code, signal) => this.#finish(this.#stopped ?? exitOf(code, signal)));
    });
  }

  /** The group's id is that of its first process. */
  #signal(signal: NodeJS.Signals): void {
    const group = this.#process?.pid;
    if (group === undefined || this.#over) return;
    try {
      process.kill(-group, signal);
    } catch {
      // The group has ended already, which is no error.
    }
  }

  #finish(end: ContainerEnd): void {
    if (this.#over) return;
    this.#signal("SIGKILL");
    this.#over = true;
    void this.#clean().then(() => this.#ended(end));
  }

  /** Removes the working directory, as a NodeManager does; logs stay. */
  async #clean(): Promise<void> {
    await rm(path.join(this.#place.folder, "work"), { recursive: true, force: true }).catch(() => {});
  }
}

function exitOf(code: number | null, signal: NodeJS.Signals | null): ContainerEnd {
  if (code === 0) return { exitStatus: ContainerExitStatus.success, diagnostics: "" };
  const exitStatus = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  return { exitStatus, diagnostics: `Exit code: ${exitStatus}` };
}

function pick(source: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]])));
}

/** How a container is started: what YARN's launch_container.sh does with a ContainerLaunchContext. */
interface ScriptInput {
  readonly environment: Readonly<Record<string, string>>;
  readonly commands: readonly string[];
  readonly logFolder: string;
}

/**
 * The script that becomes the container's first process. Values and commands are put in double quotes, so that bash expands `$…` in
 * both as in a NodeManager's script (org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainerLaunch).
 *
 * Descriptor 3 is a pipe whose other end the ApplicationMaster holds. A NodeManager outlives its applications and cleans up after them;
 * here a guard process reads from that pipe and ends the container's process group when the ApplicationMaster is gone.
 */
function launchScript({ environment, commands, logFolder }: ScriptInput): string {
  const command = replaceMarks(commands.join(" "), logFolder);
  return [
    "#!/bin/bash",
    "( trap '' TERM INT HUP; read -r _ <&3; kill -TERM 0; sleep 0.25; kill -KILL 0 ) </dev/null >/dev/null 2>&1 &",
    "exec 3<&-",
    ...exportLines(environment, logFolder),
    `exec /bin/bash -c "${command}"`,
    "",
  ].join("\n");
}

/** One variable a line, as a NodeManager's script sets them. */
export function exportLines(environment: ScriptInput["environment"], logFolder: string): string[] {
  return Object.entries(environment).map(([name, value]) => `export ${name}="${replaceMarks(value, logFolder)}"`);
}

/** As ContainerLaunch#expandEnvironment does on Linux. */
function replaceMarks(text: string, logFolder: string): string {
  return text.replaceAll("<LOG_DIR>", logFolder).replaceAll("<CPS>", ":").replaceAll("{{", "$").replaceAll("}}", "");
}
