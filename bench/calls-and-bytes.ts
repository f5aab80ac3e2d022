import { Readable } from "node:stream";
import { Cluster } from "../client/cluster/cluster.ts";
import { Output } from "../client/output/output.ts";
import { anApplication } from "./application.ts";
import { ownReportCalls } from "./report-calls.ts";

/** What `calls-and-bytes` prints, as one line of JSON. */
export interface CallsAndBytes {
  /** An application that the ResourceManager knows. */
  readonly applicationId: string;
  /** The time from a new process's first use of the ResourceManager to the answer: login, connection and authentication. */
  readonly firstCallMs: number;
  readonly callsPerSecond: number;
  readonly uploadMiBPerSecond: number;
}

const uploadedBytes = 300e6;
const blockBytes = 1 << 20;

/**
 * Calls the ResourceManager and writes a file to HDFS, as the user that the environment names, on the cluster of
 * HADOOP_CONF_DIR.
 */
const beganAt = performance.now();
const { env: environment, stdout: out, stderr: err } = process;
const output = new Output({ out, err, environment, now: Date.now });
const cluster = await Cluster.open({
  environment,
  workingDirectory: process.cwd(),
  output,
  streams: process,
  now: Date.now,
});
try {
  const result: CallsAndBytes = { ...(await measureCalls()), uploadMiBPerSecond: await measureUpload() };
  console.log(JSON.stringify(result));
} finally {
  cluster.close();
}

async function measureCalls(): Promise<Omit<CallsAndBytes, "uploadMiBPerSecond">> {
  const applicationId = await anApplication(cluster.resourceManager);
  const firstCallMs = performance.now() - beganAt;
  return { applicationId, firstCallMs, callsPerSecond: await ownReportCalls(cluster.resourceManager, applicationId) };
}

async function measureUpload(): Promise<number> {
  const { fileSystem, path: home } = await cluster.fileSystems.home();
  const target = `${home}/bench-bytes`;
  const content = { lengthBytes: uploadedBytes, open: () => Readable.from(zeros()) };
  const uploadBeganAt = performance.now();
  await fileSystem.create(target, content, { permission: 0o600, overwrite: true });
  const seconds = (performance.now() - uploadBeganAt) / 1000;
  await fileSystem.delete(target);
  return uploadedBytes / 2 ** 20 / seconds;
}

function* zeros(): Generator<Buffer> {
  const block = Buffer.alloc(blockBytes);
  for (let left = uploadedBytes; left > 0; left -= block.length) yield block.subarray(0, left);
}
