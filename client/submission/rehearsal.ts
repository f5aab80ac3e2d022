import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { makeIdentity } from "../../src/api/identity.ts";
import { within } from "../../src/hadoop/clock.ts";
import { buildJobSpec } from "../../src/job/build/build-spec.ts";
import { lookUpLocalPath } from "../../src/job/build/load-job.ts";
import { mergeSettings } from "../../src/job/settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { type ContainerProgram, programPath } from "../../src/programs.ts";
import { cacheFolderVariable } from "../../src/start/cache-files.ts";
import { localFile, localJobFile, startLocalMaster } from "./local-master.ts";

const id = "local_0_0001";
/** It takes a second on an idle machine. The code that an AM has run when it is told to end is kept, too. */
const limitMs = 15_000;
const endingLimitMs = 2_000;

/** One task, which needs few resources and runs long enough for some heartbeats. */
const settings = {
  "tony.application.framework": "generic",
  "tony.worker.instances": "1",
  "tony.worker.memory": "64m",
  "tony.worker.command": "sleep 0.5",
  "tony.task.heartbeat-interval-ms": "100",
  "tony.task.metrics-interval-ms": "100",
};

/**
 * Runs a job that does nothing on this machine, with the current Node. Its ApplicationMaster and its executor do what they do in every job,
 * and at their end write V8's compiled code into the folder (src/start). Nothing else is left of the job.
 */
export async function rehearse(
  cacheFolder: string,
  programOf: (name: ContainerProgram) => string = programPath,
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "tony-rehearsal-"));
  try {
    const spec = { ...specOf(folder), containerEnvironment: { [cacheFolderVariable]: cacheFolder } };
    const all = [localFile("executor.cjs", programOf("executor"), "FILE")];
    const master = startLocalMaster({
      folder,
      program: programOf("am"),
      job: localJobFile({ id, user: "nobody", spec, folder, all }),
      identity: makeIdentity(id),
      // Without the user's NODE_OPTIONS, which would make V8 compile differently.
      environment: { PATH: process.env.PATH },
      detached: false,
    });
    const ended = once(master, "exit");
    await within(limitMs, ended);
    if (master.exitCode === null && master.kill("SIGTERM")) await within(endingLimitMs, ended);
    master.kill("SIGKILL");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function specOf(workingDirectory: string): JobSpec {
  const layer = { layer: "job", at: "", final: false } as const;
  const merged = mergeSettings(Object.entries(settings).map(([key, value]) => ({ key, value, ...layer })));
  const { spec, problems } = buildJobSpec(merged.settings, { workingDirectory, lookUp: lookUpLocalPath });
  if (spec === undefined) throw new Error(problems.map(({ message }) => message).join("; "));
  return spec;
}
