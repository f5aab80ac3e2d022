import type { FileSystems, FileSystemsOptions } from "../src/hadoop/hdfs/file-systems.ts";
import type { StagingLocation } from "../src/job/staging-location.ts";

/** The job's file systems. They are loaded when first needed, because most executors never need them, to save memory. */
export async function openFileSystems(
  staging: StagingLocation,
  webHdfs: FileSystemsOptions["webHdfs"] = {},
): Promise<FileSystems> {
  const [{ Configuration }, { FileSystems }, { configuredCredentials }] = await Promise.all([
    import("../src/hadoop/conf/configuration.ts"),
    import("../src/hadoop/hdfs/file-systems.ts"),
    import("../src/hadoop/security/configured-credentials.ts"),
  ]);
  const configuration = new Configuration().withValues(staging.hadoop);
  return new FileSystems({
    configuration,
    credentials: configuredCredentials(configuration, { name: staging.user }),
    gateway: staging.hdfsEndpoint,
    webHdfs,
  });
}
