import type { FileSystems, FileSystemsOptions } from "../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../src/hadoop/security/simple-credentials.ts";
import type { StagingLocation } from "../src/job/staging-location.ts";

/** The job's file systems. Loaded when they are first needed: most executors never do, and every one saves the memory. */
export async function openFileSystems(
  staging: StagingLocation,
  webHdfs: FileSystemsOptions["webHdfs"] = {},
): Promise<FileSystems> {
  const [{ Configuration }, { FileSystems }] = await Promise.all([
    import("../src/hadoop/conf/configuration.ts"),
    import("../src/hadoop/hdfs/file-systems.ts"),
  ]);
  const configuration = new Configuration().withValues(staging.hadoop);
  return new FileSystems({
    configuration,
    credentials: simpleCredentials({ name: staging.user }),
    gateway: staging.hdfsEndpoint,
    webHdfs,
  });
}
