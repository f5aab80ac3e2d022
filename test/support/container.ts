import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/**
 * A container's folders and its launch script, run as a NodeManager runs it: values and the command between double quotes, a process
 * group of its own, and the output of the script itself in `prelaunch.out`.
 */
export class TestContainer {
  readonly folder = mkdtempSync(path.join(tmpdir(), "tony-container-"));
  readonly work = path.join(this.folder, "work");
  readonly logs = path.join(this.folder, "logs");
  readonly id: string;
  #process: ChildProcess | undefined;

  constructor(id = `container_${process.pid}_${Math.random().toString(36).slice(2)}`) {
    this.id = id;
    mkdirSync(this.work);
    mkdirSync(this.logs);
  }

  /** Puts an executable file into the working directory. */
  place(name: string, content: string): string {
    const file = path.join(this.work, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, 0o755);
    return file;
  }

  start(command: string, environment: Readonly<Record<string, string>> = {}): ChildProcess {
    const own = { CONTAINER_ID: this.id, LOG_DIRS: `${this.logs},/nowhere`, NM_HOST: "127.0.0.1", PWD: this.work };
    const exports = Object.entries({ ...environment, ...own }).map(([name, value]) => `export ${name}="${value}"`);
    const script = [...exports, `exec /bin/bash -c "${command}"`, ""].join("\n");
    this.#process = spawn("/bin/bash", [this.place("launch_container.sh", script)], {
      cwd: this.work,
      detached: true,
      stdio: "ignore",
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
    });
    return this.#process;
  }

  /** The exit code, or 128 + the signal's number, as YARN reports it. */
  ended(): Promise<number> {
    const child = this.#process;
    if (child === undefined) return Promise.reject(new Error("the container was not started"));
    if (child.exitCode !== null) return Promise.resolve(child.exitCode);
    return new Promise((resolve) =>
      child.once("exit", (code, signal) => resolve(code ?? (signal === "SIGKILL" ? 137 : 143))),
    );
  }

  /** Sends a signal to the whole process group, as a NodeManager does. */
  signal(signal: NodeJS.Signals): void {
    const group = this.#process?.pid;
    if (group === undefined) return;
    try {
      process.kill(-group, signal);
    } catch {
      // No process is left in the group.
    }
  }

  log(name: string): string {
    try {
      return readFileSync(path.join(this.logs, name), "utf8");
    } catch {
      return "";
    }
  }

  remove(): void {
    this.signal("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}
