import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { clientAccess, makeIdentity, masterSecrets } from "../../src/api/identity.ts";
import { MasterClient } from "../../src/api/master-client.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import { stagingLocation } from "../../src/job/stored/staging-location.ts";
import { jobFileName, storedJob, storedJobEnvironment } from "../../src/job/stored/stored-job.ts";
import { TestBundle } from "./bundle.ts";
import { eventually } from "./eventually.ts";

/** A job's programs, bundled once for all tests of a file. */
export class JobBundles {
  readonly master = new TestBundle("am/main.ts");
  readonly executor = new TestBundle("executor/main.ts");

  remove(): void {
    this.master.remove();
    this.executor.remove();
  }
}

const applicationId = "local_1795305600000_7";

/** A job on this machine: a real ApplicationMaster in a process of its own, started as `tony-ts` starts it. */
export class LocalJob {
  readonly staging = mkdtempSync(path.join(tmpdir(), "tony-local-"));
  readonly master: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  readonly #identity = makeIdentity(applicationId);
  #client: MasterClient | undefined;

  constructor(spec: JobSpec, bundles: JobBundles) {
    const work = path.join(this.staging, "am");
    const logs = path.join(work, "logs");
    mkdirSync(logs, { recursive: true });
    const tokens = path.join(this.staging, "container_tokens");
    writeFileSync(tokens, writeTokenFile({ tokens: [], secrets: masterSecrets(this.#identity) }), { mode: 0o600 });
    const job = this.#jobFile(spec, bundles);
    const content = Buffer.from(JSON.stringify(job));
    writeFileSync(path.join(this.staging, jobFileName), content);
    const output = ["stdout", "stderr"].map((name) => openSync(path.join(logs, name), "a"));
    this.master = spawn(process.execPath, [bundles.master.file], {
      cwd: work,
      stdio: ["ignore", output[0], output[1]],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        USER: "alice",
        CONTAINER_ID: "container_1795305600000_0007_01_000001",
        NM_HOST: "127.0.0.1",
        LOG_DIRS: logs,
        LOCAL_DIRS: path.join(this.staging, "containers"),
        HADOOP_TOKEN_FILE_LOCATION: tokens,
        TONY_SCHEDULER: "local",
        ...storedJobEnvironment(storedJob(stagingLocation(job), content)),
      },
    });
    this.ended = new Promise((resolve) => this.master.on("exit", (code, signal) => resolve({ code, signal })));
  }

  /** A client as another shell would use it. */
  async client(): Promise<MasterClient> {
    const address = await eventually("the ApplicationMaster's address", async () => this.#address());
    const access = clientAccess(this.#identity);
    this.#client ??= new MasterClient({ address, access, build: "test" });
    return this.#client;
  }

  get result(): JobStatus {
    return JSON.parse(this.read("status.json"));
  }

  get events(): readonly Record<string, unknown>[] {
    const lines = this.read("am/logs/am.log").trimEnd().split("\n");
    return lines.map((line): Record<string, unknown> => JSON.parse(line));
  }

  /** The text of a file in the staging folder. */
  read(name: string): string {
    return readFileSync(path.join(this.staging, name), "utf8");
  }

  async dispose(): Promise<void> {
    this.#client?.close();
    this.master.kill("SIGKILL");
    await this.ended;
    rmSync(this.staging, { recursive: true, force: true });
  }

  #address(): string | undefined {
    try {
      const { host, port } = JSON.parse(this.read("am-1.json"));
      return `${host}:${port}`;
    } catch {
      return undefined;
    }
  }

  #jobFile(spec: JobSpec, bundles: JobBundles): JobFile {
    const executor = path.join(this.staging, "executor.cjs");
    copyFileSync(bundles.executor.file, executor);
    const { size, mtimeMs } = statSync(executor);
    const file = { link: "executor.cjs", url: `file://${executor}`, sizeBytes: size, type: "FILE" } as const;
    return {
      jobFileVersion: 1,
      build: "test",
      applicationId,
      user: "alice",
      spec,
      stagingUrl: `file://${this.staging}`,
      files: {
        master: [],
        all: [{ ...file, modificationTimeMs: Math.floor(mtimeMs), visibility: "APPLICATION" }],
        byRole: {},
      },
      node: process.execPath,
      hadoop: {},
      sharedLabels: [],
      resourceTypes: [],
    };
  }
}
