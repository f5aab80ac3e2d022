import { ContainerTokens } from "../src/api/container-tokens.ts";
import { readExecutorIdentity } from "../src/api/identity.ts";
import { startRejoinServer } from "../src/api/rejoin.ts";
import { formatHostPort } from "../src/hadoop/conf/values.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import { programSecretsIn } from "../src/job/launch/program-secrets.ts";
import { requireSupportedNode } from "../src/job/node-release.ts";
import { formatTaskId } from "../src/job/task.ts";
import { listeningAddress } from "../src/listening.ts";
import { openLog } from "../src/log.ts";
import { buildId } from "../src/programs.ts";
import { Executor } from "./executor.ts";
import { ExecutorExit } from "./exit-codes.ts";
import { layOutSources } from "./preparation/sources.ts";
import { WorkFolder } from "./preparation/work-folder.ts";
import { type ExecutorSettings, readSettings } from "./settings.ts";
import { TaskTokens } from "./task-tokens.ts";

/** The program of a task's container: started by its launch shell, which the ApplicationMaster composes (src/job/launch/launch-command.ts). */
async function main(): Promise<void> {
  requireSupportedNode(process.version);
  const settings = readSettings(process.env);
  const { applicationId, containerId } = settings;
  const { ports } = settings.sections;
  const containerTokens = ContainerTokens.take(settings.tokenFile);
  const { credentials } = containerTokens;
  const identity = readExecutorIdentity(applicationId, containerId, credentials.secrets);
  const build = buildId();
  const log = openExecutorLog(settings, build);
  const workFolder = await WorkFolder.of(process.cwd());
  const tokens = TaskTokens.open(process.cwd(), credentials);
  const executor = new Executor({
    settings,
    identity,
    build,
    environment: {
      ...process.env,
      ...programSecretsIn(credentials.secrets),
      HADOOP_TOKEN_FILE_LOCATION: tokens.file,
    },
    tokens,
    containerTokens,
    workFolder,
    log,
    nowMs: Date.now,
    random: Math.random,
    monotonicMs: () => performance.now(),
    end: (code) => process.exit(code),
  });
  process.on("SIGTERM", () => void executor.terminate());
  await executor.start(async () => {
    const rejoinPort = startRejoinServer({
      identity,
      build,
      host: listeningAddress(settings.host),
      ...(ports.task && { ports: ports.task }),
      portKey: "tony.task.port-range",
      random: Math.random,
      rejoin: ({ attempt, masterAddress }) => executor.link.rejoin({ attempt, address: masterAddress }),
    });
    const [port, leftOut] = await Promise.all([rejoinPort, layOutSources(process.cwd())]);
    if (leftOut.length > 0) {
      log.warn(
        "sources-left-out",
        "Files of --src_dir were left out: the working directory has others of the same names.",
        {
          names: leftOut.join(", "),
        },
      );
    }
    return formatHostPort({ host: settings.host, port });
  });
}

function openExecutorLog(settings: ExecutorSettings, build: string) {
  const task = formatTaskId(settings.task.role, settings.task.index);
  const log = openLog(settings.sections.logs.level).with({ task, container: settings.containerId });
  log.info("started", `The executor of ${task} runs on ${settings.host}.`, {
    build,
    node: process.version,
    pid: process.pid,
    generation: settings.generation,
  });
  return log;
}

main().catch((error: unknown) => {
  // YARN puts the end of the container's stderr into its diagnostics.
  process.stderr.write(`tony-ts: the executor could not begin: ${errorMessage(error)}\n`);
  process.exit(ExecutorExit.failed);
});
