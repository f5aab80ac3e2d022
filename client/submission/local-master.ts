import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type ApplicationIdentity, masterSecrets } from "../../src/api/identity.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { runtimeOptions } from "../../src/job/launch/launch-command.ts";
import { programSecrets } from "../../src/job/launch/program-secrets.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobFile, ShippedFile } from "../../src/job/stored/job-file.ts";
import { stagingLocation } from "../../src/job/stored/staging-location.ts";
import { jobFileName, storedJob, storedJobEnvironment } from "../../src/job/stored/stored-job.ts";
import { buildId } from "../../src/programs.ts";
import { localFiles, localMasterContainerId } from "../applications/local-folder.ts";

export interface LocalMaster {
  /** The job's folder, with its staging files; only its owner may read it. */
  readonly folder: string;
  /** The bundle. */
  readonly program: string;
  readonly job: JobFile;
  readonly identity: ApplicationIdentity;
  /** The programs' secrets, by the names of their variables. */
  readonly secrets?: ReadonlyMap<string, string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether it runs in a session of its own. */
  readonly detached: boolean;
}

/** The working directory of an AM on this machine. */
export function localMasterFolder(folder: string): string {
  return path.join(folder, "am");
}

/** Starts a job's AM on this machine, as a NodeManager would. Its containers are processes of this machine, too. */
export function startLocalMaster(options: LocalMaster): ChildProcess {
  const { folder, program, job, identity, secrets = new Map(), environment, detached } = options;
  const work = localMasterFolder(folder);
  const logFolder = path.join(work, "logs");
  mkdirSync(logFolder, { recursive: true, mode: 0o700 });
  const secret = { mode: 0o600 };
  const content = Buffer.from(JSON.stringify(job));
  writeFileSync(path.join(folder, jobFileName), content, secret);
  const tokens = path.join(work, localFiles.tokens);
  const held = new Map([...programSecrets(secrets), ...masterSecrets(identity)]);
  writeFileSync(tokens, writeTokenFile({ tokens: [], secrets: held }), secret);
  const logs = ["stdout", "stderr"].map((name) => openSync(path.join(logFolder, name), "a"));
  try {
    const [stdout, stderr] = logs;
    return spawn(job.node, [...runtimeOptions("am.cjs"), program], {
      cwd: work,
      env: {
        ...environment,
        ...job.spec.containerEnvironment,
        CONTAINER_ID: localMasterContainerId(job.applicationId),
        NM_HOST: "127.0.0.1",
        LOG_DIRS: logFolder,
        LOCAL_DIRS: path.join(folder, "containers"),
        HADOOP_TOKEN_FILE_LOCATION: tokens,
        USER: job.user,
        TONY_SCHEDULER: "local",
        ...storedJobEnvironment(storedJob(stagingLocation(job), content)),
      },
      detached,
      stdio: ["ignore", stdout, stderr],
    });
  } finally {
    for (const log of logs) closeSync(log);
  }
}

export interface LocalJob {
  readonly id: string;
  readonly user: string;
  readonly spec: JobSpec;
  readonly folder: string;
  /** For every container. */
  readonly all: readonly ShippedFile[];
  readonly byRole?: JobFile["files"]["byRole"];
  readonly hadoop?: JobFile["hadoop"];
  readonly feeds?: NonNullable<JobFile["feeds"]>;
}

export function localJobFile({ id, user, spec, folder, all, byRole = {}, hadoop = {}, feeds = {} }: LocalJob): JobFile {
  return {
    jobFileVersion: 1,
    build: buildId(),
    applicationId: id,
    user,
    spec,
    stagingUrl: fileUrl(folder),
    files: { master: [], all, byRole },
    node: process.execPath,
    hadoop,
    sharedLabels: [],
    resourceTypes: [],
    feeds,
  };
}

/** A file of this machine as containers get it, under the name of `link`. */
export function localFile(link: string, file: string, type: ShippedFile["type"]): ShippedFile {
  const { size, mtimeMs } = statSync(file);
  return {
    link,
    url: fileUrl(file),
    sizeBytes: size,
    modificationTimeMs: Math.floor(mtimeMs),
    type,
    visibility: "APPLICATION",
  };
}

/** As Hadoop prints a Path: without escaping. */
function fileUrl(file: string): string {
  return `file://${file}`;
}
