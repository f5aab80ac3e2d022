import { openSync, readFileSync } from "node:fs";
import path from "node:path";
import { errorMessage } from "../src/hadoop/errors.ts";
import { nodeProblem } from "../src/job/node-release.ts";
import { parseJobFile } from "../src/job/parse-job-file.ts";
import { PROBE_VARIABLE, parseProbe } from "../src/job/probe.ts";
import { openLog } from "../src/log.ts";
import { buildId } from "../src/programs.ts";
import { runMaster } from "./master.ts";
import { runProbe } from "./probe.ts";
import { readSurroundings } from "./surroundings.ts";

const cannotStart = "tony-ts: the ApplicationMaster cannot start: ";

/** The ApplicationMaster of one job. What it needs lies in its working directory, its environment and its token file. */
async function main(): Promise<void> {
  const problem = nodeProblem(process.version);
  if (problem !== undefined) throw new Error(problem);
  const surroundings = readSurroundings(process.env);
  const probe = process.env[PROBE_VARIABLE];
  if (probe !== undefined) return runProbe(parseProbe(probe), surroundings);
  const job = parseJobFile(readFileSync("job.json", "utf8"));
  const logFile = path.join(surroundings.logFolder, "am.log");
  const log = openLog(job.spec.logs.level, openSync(logFile, "a"));
  const { attempt, containerId } = surroundings;
  const about = `attempt ${attempt} of ${job.applicationId} in ${containerId}`;
  log.info("am-started", `The ApplicationMaster ${buildId()} starts: ${about}.`, { container: containerId, attempt });
  try {
    await runMaster({ job, surroundings, log, logFile });
  } catch (error) {
    // YARN starts another attempt, and puts the end of stderr into the application's diagnostics: the client tells the reason.
    process.stderr.write(`${cannotStart}${errorMessage(error)}\n`);
    log.error("start-failed", `The ApplicationMaster cannot start: ${errorMessage(error)}`, { stack: stackOf(error) });
    process.exit(1);
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? "") : "";
}

main().catch((error: unknown) => {
  process.stderr.write(`${cannotStart}${errorMessage(error)}\n`);
  process.exit(1);
});
