import { symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { executorIdentity, executorSecrets } from "../../src/api/identity.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { type ExecutorLaunch, executorVariables, launchCommand } from "../../src/job/launch/launch-command.ts";
import { escapeEnvironment } from "../../src/job/launch/launch-script-text.ts";
import { stagingLocation } from "../../src/job/stored/staging-location.ts";
import { anExecutorJob, identity } from "./api.ts";
import { TestContainer } from "./container.ts";

/** A container with a real executor in it, launched as the ApplicationMaster launches it. */
export class ExecutorContainer extends TestContainer {
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
