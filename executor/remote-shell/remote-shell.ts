import { execFile } from "node:child_process";
import { constants, openSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { BoundedLines } from "../../src/bounded-lines.ts";
import { Call, type CallOptions } from "./call.ts";
import { sshScript } from "./ssh-script.ts";

export interface RemoteShellOptions extends Omit<CallOptions, "folder"> {
  /** A new one, for the script and what it needs. */
  readonly folder: string;
}

/** Of a call's folder, by Linux. */
export const MOST_NAME_BYTES = 255;

/** What a program finds as `ssh`: commands in other tasks of the job, as sessions at the ApplicationMaster. */
export class RemoteShell {
  readonly #options: RemoteShellOptions;
  readonly #calls = new Set<Call>();
  readonly #door: Socket;

  private constructor(options: RemoteShellOptions) {
    this.#options = options;
    // Both ends are held open: a script that announces a call never waits, and its end is not the door's.
    const file = openSync(path.join(options.folder, "door"), constants.O_RDWR | constants.O_NONBLOCK);
    this.#door = new Socket({ fd: file, readable: true, writable: false });
    const lines = new BoundedLines(MOST_NAME_BYTES);
    this.#door.on("data", (chunk: Buffer) => {
      for (const name of lines.push(chunk)) this.#answer(name);
    });
  }

  /** Puts the script into its folder, and answers its calls from then on. */
  static async open(options: RemoteShellOptions): Promise<RemoteShell> {
    const { folder, hosts } = options;
    await mkdir(path.join(folder, "calls"), { recursive: true, mode: 0o700 });
    await promisify(execFile)("mkfifo", ["-m", "600", path.join(folder, "door")]);
    const files = Object.entries(hosts.files).map(([name, text]) => writeFile(path.join(folder, name), text));
    await Promise.all([...files, writeFile(path.join(folder, "ssh"), sshScript, { mode: 0o700 })]);
    return new RemoteShell(options);
  }

  /** Ends what runs elsewhere, and removes the folder. Never rejects. */
  async close(): Promise<void> {
    this.#door.destroy();
    for (const call of this.#calls) call.end();
    // A script that is called meanwhile may keep it: then it goes with the container's.
    await rm(this.#options.folder, { recursive: true, force: true }).catch(() => undefined);
  }

  #answer(name: string): void {
    const { folder, hosts, open } = this.#options;
    const call = new Call({ folder: path.join(folder, "calls", path.basename(name)), hosts, open });
    this.#calls.add(call);
    const over = () => this.#calls.delete(call);
    // A call whose script is gone before it was read has nobody to be answered.
    void call.run().then(over, over);
  }
}
