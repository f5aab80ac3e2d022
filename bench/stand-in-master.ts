import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ApplicationIdentity, makeIdentity, masterSecrets } from "../src/api/identity.ts";
import { writeTokenFile } from "../src/hadoop/security/token-file.ts";
import { runtimeOptions } from "../src/job/launch/launch-command.ts";
import type { JobSpec } from "../src/job/spec.ts";
import type { JobFile } from "../src/job/stored/job-file.ts";
import { stagingLocation } from "../src/job/stored/staging-location.ts";
import { jobFileName, storedJob, storedJobEnvironment } from "../src/job/stored/stored-job.ts";
import { packageRoot } from "../src/programs.ts";
import { type WantedExecutor, wantedExecutorsFile } from "./stand-in-scheduler.ts";

const applicationId = "application_1795305600000_0001";

/** The AM in a process of its own, with the stand-in scheduler; its staging folder is on this machine. */
export class StandInMaster {
  readonly identity: ApplicationIdentity = makeIdentity(applicationId);
  readonly #folder = mkdtempSync(path.join(tmpdir(), "tony-bench-"));
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;

  constructor(spec: JobSpec) {
    const tokens = path.join(this.#folder, "container_tokens");
    writeFileSync(tokens, writeTokenFile({ tokens: [], secrets: masterSecrets(this.identity) }), { mode: 0o600 });
    const job = jobFile(spec, this.#folder);
    const content = Buffer.from(JSON.stringify(job));
    mkdirSync(path.join(this.#folder, "staging"));
    writeFileSync(path.join(this.#folder, "staging", jobFileName), content);
    const output = openSync(path.join(this.#folder, "output"), "a");
    this.#process = spawn(
      process.execPath,
      [...runtimeOptions("am.cjs"), path.join(packageRoot(), "dist", "bench", "am-with-stand-in.mjs")],
      {
        cwd: this.#folder,
        stdio: ["ignore", output, output],
        env: {
          PATH: process.env.PATH,
          CONTAINER_ID: "container_1795305600000_0001_01_000001",
          NM_HOST: "127.0.0.1",
          LOG_DIRS: this.#folder,
          LOCAL_DIRS: this.#folder,
          HADOOP_TOKEN_FILE_LOCATION: tokens,
          // As src/job/launch/launch-command.ts sets it.
          MALLOC_ARENA_MAX: "1",
          ...storedJobEnvironment(storedJob(stagingLocation(job), content)),
        },
      },
    );
    this.#ended = new Promise((resolve) => this.#process.on("exit", () => resolve()));
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** The address at which it listens; undefined while it does not yet. */
  address(): string | undefined {
    const file = path.join(this.#folder, "staging", "am-1.json");
    if (!existsSync(file)) return undefined;
    const { host, port }: { readonly host: string; readonly port: number } = JSON.parse(readFileSync(file, "utf8"));
    return `${host}:${port}`;
  }

  /** All executors that the AM has wanted so far. */
  wantedExecutors(): readonly WantedExecutor[] {
    const file = path.join(this.#folder, wantedExecutorsFile);
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line): WantedExecutor => JSON.parse(line));
  }

  /** What it printed and logged, to be shown with a failure. */
  words(): string {
    const text = ["output", "am.log"].map((name) => path.join(this.#folder, name)).filter((file) => existsSync(file));
    return text
      .map((file) => readFileSync(file, "utf8"))
      .join("")
      .slice(-4_000);
  }

  get alive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  async dispose(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function jobFile(spec: JobSpec, folder: string): JobFile {
  return {
    jobFileVersion: 1,
    build: "bench",
    applicationId,
    user: "alice",
    spec,
    stagingUrl: `file://${path.join(folder, "staging")}`,
    files: { master: [], all: [], byRole: {} },
    node: process.execPath,
    hadoop: {},
    sharedLabels: [],
    resourceTypes: [],
  };
}
