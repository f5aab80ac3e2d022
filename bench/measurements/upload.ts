import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../src/programs.ts";
import { type ClusterStatus, ClusterUser, environmentFor } from "../../test/support/cluster.ts";
import { atLeast, atMost } from "../figures.ts";
import { java } from "../java-program.ts";
import type { Measurement } from "../measurement.ts";

const run = promisify(execFile);

const ours = "upload of 300 MB over WebHDFS, whole process";
const theirs = "the same by `hdfs dfs -put`";
const ratio = "upload, ours ÷ `hdfs dfs -put`";
const memory = "upload: peak memory";
const growth = "upload: peak memory, of 900 MB ÷ of 300 MB";

const megabytes = 300;
const timesLarger = 3;
const shell = "org.apache.hadoop.fs.FsShell";
const target = `/user/${ClusterUser.alice}/bench-upload`;

export const upload: Measurement = {
  name: "upload",
  what: "an archive of 300 MB to HDFS beside Hadoop's own shell",
  warmUps: 1,
  figures: [
    { name: ours, unit: "MiB/s" },
    { name: theirs, unit: "MiB/s" },
    { name: ratio, unit: "×", budget: atLeast(1) },
    { name: memory, unit: "MiB" },
    { name: growth, unit: "×", budget: atMost(1.1) },
  ],
  async run(clusterOf) {
    const cluster = await clusterOf();
    const folder = mkdtempSync(path.join(tmpdir(), "tony-bench-"));
    try {
      const source = path.join(folder, "archive");
      const larger = path.join(folder, "larger");
      writeArchive(source, megabytes);
      writeArchive(larger, megabytes * timesLarger);
      let peakMiB = 0;
      const theirRate = await rateOf(() => java(cluster, [shell, "-put", "-f", source, target]));
      await java(cluster, [shell, "-rm", "-skipTrash", target]);
      const ourRate = await rateOf(async () => {
        peakMiB = await uploadOurselves(cluster, source);
      });
      const largerPeakMiB = await uploadOurselves(cluster, larger);
      await java(cluster, [shell, "-rm", "-skipTrash", target]);
      return {
        [ours]: ourRate,
        [theirs]: theirRate,
        [ratio]: ourRate / theirRate,
        [memory]: peakMiB,
        [growth]: largerPeakMiB / peakMiB,
      };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/** @returns its peak memory in MiB */
async function uploadOurselves(cluster: ClusterStatus, source: string): Promise<number> {
  const program = path.join(packageRoot(), "dist", "bench", "upload-file.mjs");
  const environment = { ...process.env, ...environmentFor(cluster, ClusterUser.alice) };
  const { stdout } = await run(process.execPath, [program, source, target], { env: environment });
  return Number(stdout);
}

async function rateOf(work: () => Promise<unknown>): Promise<number> {
  const beganAt = performance.now();
  await work();
  return (megabytes * 1e6) / 2 ** 20 / ((performance.now() - beganAt) / 1000);
}

/** The file holds random bytes, as archives do. */
function writeArchive(file: string, sizeMegabytes: number): void {
  const descriptor = openSync(file, "w");
  const block = randomBytes(1e6);
  for (let index = 0; index < sizeMegabytes; index++) writeSync(descriptor, block);
  closeSync(descriptor);
}
