import { openSync } from "node:fs";
import path from "node:path";
import { ContainerTokens } from "../src/api/container-tokens.ts";
import { sleep } from "../src/hadoop/clock.ts";
import { Configuration } from "../src/hadoop/conf/configuration.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import { FileSystems } from "../src/hadoop/hdfs/file-systems.ts";
import { containerCredentials } from "../src/hadoop/security/container-credentials.ts";
import type { Credentials } from "../src/hadoop/security/credentials.ts";
import { logFileOf } from "../src/job/launch/launch-command.ts";
import { PROBE_VARIABLE, parseProbe } from "../src/job/launch/probe.ts";
import { requireSupportedNode } from "../src/job/node-release.ts";
import { readStoredJob } from "../src/job/stored/stored-job.ts";
import { openLog } from "../src/log.ts";
import { buildId } from "../src/programs.ts";
import { RotatingLog } from "../src/rotating-log.ts";
import { runMaster } from "./master.ts";
import { runProbe } from "./probe.ts";
import { readSettings } from "./settings.ts";
import { type JobThere, readJob } from "./storage/stored-job.ts";

const cannotStart = "tony-ts: the ApplicationMaster cannot start: ";

/** The ApplicationMaster of one job. What it needs is in its environment, its token file and the staging folder. */
async function main(): Promise<void> {
  requireSupportedNode(process.version);
  const settings = readSettings(process.env);
  const probe = process.env[PROBE_VARIABLE];
  if (probe !== undefined) return runProbe(parseProbe(probe), settings);
  const ownLog = new RotatingLog(path.join(settings.logFolder, logFileOf("am.cjs")));
  const logDescriptor = openSync(ownLog.file, "a");
  const { credentials } = ContainerTokens.take(settings.tokenFile);
  const { job, nodes } = await jobOf(process.env, credentials, logDescriptor);
  const log = openLog(job.spec.logs.level, logDescriptor);
  const { attempt, containerId } = settings;
  const about = `attempt ${attempt} of ${job.applicationId} in ${containerId}`;
  log.info("am-started", `The ApplicationMaster ${buildId()} starts: ${about}.`, { container: containerId, attempt });
  try {
    await runMaster({ job, nodes, credentials, settings, log, ownLog });
  } catch (error) {
    // YARN starts another attempt, and puts the end of stderr into the application's diagnostics, from which the client tells
    // the reason.
    process.stderr.write(`${cannotStart}${errorMessage(error)}\n`);
    log.error("start-failed", `The ApplicationMaster cannot start: ${errorMessage(error)}`, { stack: stackOf(error) });
    process.exit(1);
  }
}

/** The job itself sets the log level: until it is read, only what the reading waits for is logged. */
async function jobOf(environment: NodeJS.ProcessEnv, held: Credentials, logDescriptor: number): Promise<JobThere> {
  const stored = readStoredJob(environment);
  const { hadoop, user, hdfsEndpoint: gateway } = stored.staging;
  const configuration = new Configuration().withValues(hadoop);
  const credentials = containerCredentials(configuration, { name: user }, () => held);
  const fileSystems = new FileSystems({ configuration, credentials, gateway });
  try {
    return await readJob(stored, fileSystems, openLog("warn", logDescriptor), sleep);
  } finally {
    fileSystems.close();
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? "") : "";
}

main().catch((error: unknown) => {
  process.stderr.write(`${cannotStart}${errorMessage(error)}\n`);
  process.exit(1);
});
