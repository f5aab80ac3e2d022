import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ClusterStatus, ClusterUser, environmentFor } from "./cluster.ts";
import { TonyTs, type TonyTsResult } from "./tony-ts.ts";

/** The settings of the smallest job: one task that succeeds at once. */
export const oneTask = {
  "tony.application.framework": "generic",
  "tony.worker.instances": 1,
  "tony.worker.memory": "512m",
  "tony.worker.command": "true",
};

/** Somebody who uses a cluster with the built `tony-ts`, with a folder and a home of his own on this machine. */
export class Person {
  readonly folder = mkdtempSync(path.join(tmpdir(), "tony-person-"));
  readonly environment: Readonly<Record<string, string>>;
  readonly #started: TonyTs[] = [];

  constructor(cluster: ClusterStatus, user: string = ClusterUser.alice) {
    const home = path.join(this.folder, "home");
    mkdirSync(home);
    this.environment = { ...environmentFor(cluster, user), HOME: home, XDG_CACHE_HOME: path.join(home, ".cache") };
  }

  /** Makes a folder that programs in containers, which run as another user, may read and write. */
  shared(name: string): string {
    const folder = path.join(this.folder, name);
    chmodSync(this.folder, 0o711);
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    return folder;
  }

  /** Writes a job.xml with these files beside it. @returns its path */
  job(
    name: string,
    settings: Readonly<Record<string, string | number>>,
    files: Readonly<Record<string, string | Uint8Array>> = {},
  ): string {
    const folder = path.join(this.folder, name);
    mkdirSync(folder);
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), content);
    }
    const properties = Object.entries({ "tony.application.name": name, ...settings }).map(
      ([key, value]) => `  <property><name>${key}</name><value>${escapeXml(String(value))}</value></property>`,
    );
    const job = path.join(folder, "job.xml");
    writeFileSync(job, ["<configuration>", ...properties, "</configuration>", ""].join("\n"));
    return job;
  }

  /** Starts `tony-ts` with these words. */
  start(...words: readonly string[]): TonyTs {
    return this.startWith({}, ...words);
  }

  /** The same, with further variables. */
  startWith(variables: Readonly<Record<string, string>>, ...words: readonly string[]): TonyTs {
    const started = new TonyTs(words, { ...this.environment, ...variables }, this.folder);
    this.#started.push(started);
    return started;
  }

  /** Runs `tony-ts` to its end. */
  async run(...words: readonly string[]): Promise<TonyTsResult> {
    return await this.start(...words).ended;
  }

  /** Runs `tony-ts` to its end and reads what it printed as JSON. Rejects when it fails. */
  async json(...words: readonly string[]): Promise<unknown> {
    const { exitCode, stdout, stderr } = await this.run(...words, "--json");
    if (exitCode !== 0) throw new Error(`tony-ts ${words.join(" ")} ended with ${exitCode}:\n${stdout}${stderr}`);
    return JSON.parse(stdout);
  }

  /** Ends what still runs and removes the folder. */
  async leave(): Promise<void> {
    for (const started of this.#started) started.process.kill("SIGKILL");
    await Promise.all(this.#started.map(({ ended }) => ended));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
