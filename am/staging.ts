import path from "node:path";
import type { FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import type { JobStatus } from "../src/job/status.ts";

/** What an attempt leaves in the staging folder for those who look for it: late clients, executors whose stream broke. */
export interface MasterAddress {
  readonly attempt: number;
  readonly host: string;
  readonly port: number;
}

/** The application's folder, which lives as long as the application. */
export class Staging {
  readonly #fileSystem: FileSystem;
  readonly #folder: string;
  #announcing: Promise<void> = Promise.resolve();

  constructor(fileSystem: FileSystem, folder: string) {
    this.#fileSystem = fileSystem;
    this.#folder = folder;
  }

  get journalFolder(): string {
    return path.posix.join(this.#folder, "journal");
  }

  /** Writes `am-<attempt>.json`. */
  announce(address: MasterAddress): Promise<void> {
    this.#announcing = this.#write(`am-${address.attempt}.json`, address);
    return this.#announcing;
  }

  /**
   * On a cluster nothing is left of an application that has ended but its history and the logs that YARN keeps. Nobody may be writing
   * there any more: a file that comes later makes the folder anew.
   */
  async remove(): Promise<void> {
    await this.#announcing.catch(() => undefined);
    await this.#fileSystem.delete(this.#folder, { recursive: true });
  }

  /** On this machine the folder is where the logs and the end of the job are read later; what only the running job needed goes. */
  async keepResult(status: JobStatus): Promise<void> {
    await this.#write("status.json", status);
    const entries = await this.#fileSystem.list(this.#folder);
    const passing = /^(journal|am-\d+\.json|client\.json|container_tokens)$/;
    for (const { path: entry } of entries.filter((found) => passing.test(path.posix.basename(found.path)))) {
      await this.#fileSystem.delete(entry, { recursive: true });
    }
  }

  /** Whoever reads it finds the whole of it. */
  async #write(name: string, content: unknown): Promise<void> {
    const target = path.posix.join(this.#folder, name);
    const draft = `${target}.tmp`;
    await this.#fileSystem.create(draft, Buffer.from(JSON.stringify(content)), { permission: 0o600, overwrite: true });
    await this.#fileSystem.rename(draft, target, { overwrite: true });
  }
}
