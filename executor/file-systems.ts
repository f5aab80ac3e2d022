import type { FileSystems, FileSystemsOptions } from "../src/hadoop/hdfs/file-systems.ts";
import type { Credentials } from "../src/hadoop/security/credentials.ts";
import type { StagingLocation } from "../src/job/stored/staging-location.ts";

/**
 * The job's file systems, opened with the present tokens. The modules are loaded when first needed, to save memory, because most executors
 * never need them.
 */
export async function openFileSystems(
  staging: StagingLocation,
  held: () => Credentials,
  webHdfs: FileSystemsOptions["webHdfs"] = {},
): Promise<FileSystems> {
  const [{ Configuration }, { FileSystems }, { containerCredentials }] = await Promise.all([
    import("../src/hadoop/conf/configuration.ts"),
    import("../src/hadoop/hdfs/file-systems.ts"),
    import("../src/hadoop/security/container-credentials.ts"),
  ]);
  const configuration = new Configuration().withValues(staging.hadoop);
  return new FileSystems({
    configuration,
    credentials: containerCredentials(configuration, { name: staging.user }, held),
    gateway: staging.hdfsEndpoint,
    webHdfs,
  });
}
