import { readFile } from "node:fs/promises";
import path from "node:path";
import { masterEnvironment } from "../../client/submission/submission-context.ts";
import { type ApplicationIdentity, makeIdentity, masterSecrets } from "../../src/api/identity.ts";
import { loadConfiguration } from "../../src/hadoop/conf/site-files.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { resourceManagerEndpoints } from "../../src/hadoop/yarn/endpoints.ts";
import type { ApplicationId } from "../../src/hadoop/yarn/records.ts";
import { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import { formatClusterNodes } from "../../src/job/cluster-nodes.ts";
import { launchCommand } from "../../src/job/launch/launch-command.ts";
import { launchContext } from "../../src/job/launch/launch-context.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobFile, ShippedFile } from "../../src/job/stored/job-file.ts";
import { stagingLocation } from "../../src/job/stored/staging-location.ts";
import { jobFileName, nodesFileName, storedJob } from "../../src/job/stored/stored-job.ts";
import { programPath } from "../../src/programs.ts";
import { clientRuns } from "./client-runs.ts";
import { type ClusterStatus, ClusterUser, environmentFor } from "./cluster.ts";

/** A job put on a cluster by hand, so that the ApplicationMaster can be tested without the client. */
export interface SubmittedJob {
  readonly id: ApplicationId;
  readonly identity: ApplicationIdentity;
  readonly staging: string;
  readonly fileSystem: FileSystem;
  readonly resourceManager: ResourceManagerClient;
  /** Kills the application if it still runs, and closes what was opened. */
  dispose(): Promise<void>;
}

/** Submits this checkout's bundles with a job file for that spec; the nodes run this process's own Node. */
export async function submitJob(
  cluster: ClusterStatus,
  spec: JobSpec,
  { user = ClusterUser.alice, maxAppAttempts = 2 } = {},
): Promise<SubmittedJob> {
  const configuration = loadConfiguration(cluster.confDir);
  const resourceManager = new ResourceManagerClient({
    endpoints: resourceManagerEndpoints(configuration, "client"),
    credentials: simpleCredentials({ name: user }),
  });
  const fileSystems = new FileSystems({ configuration, credentials: simpleCredentials({ name: user }) });
  const { fileSystem, path: home } = await fileSystems.home();
  const { id } = await resourceManager.newApplication();
  clientRuns.addJob(id, environmentFor(cluster, user));
  const staging = path.posix.join(home, ".tony-ts", id);
  await fileSystem.mkdirs(staging, 0o700);
  const stage = async (link: string, content: Uint8Array): Promise<ShippedFile> => {
    const file = path.posix.join(staging, link);
    await fileSystem.create(file, content, { permission: 0o600 });
    const { lengthBytes: sizeBytes, modificationTimeMs } = await fileSystem.stat(file);
    const url = `${fileSystem.uri}${file}`;
    return { link, url, sizeBytes, modificationTimeMs, type: "FILE", visibility: "APPLICATION" };
  };
  const identity = makeIdentity(id);
  const executor = await stage("executor.cjs", await readFile(programPath("executor")));
  const running = await resourceManager.nodes(["RUNNING"]);
  const hadoop = [...configuration.entries()].map(([name]) => [name, configuration.get(name) ?? ""]);
  const job: JobFile = {
    jobFileVersion: 1,
    build: "test",
    applicationId: id,
    user,
    spec,
    stagingUrl: `${fileSystem.uri}${staging}`,
    files: { master: [], all: [executor], byRole: {} },
    node: process.execPath,
    hadoop: Object.fromEntries(hadoop),
    sharedLabels: [],
    resourceTypes: [],
  };
  const master = await stage("am.cjs", await readFile(programPath("am")));
  const content = Buffer.from(JSON.stringify(job));
  await stage(jobFileName, content);
  const snapshots = running.map(({ nodeId, host, rack, labels, capability }) => ({
    nodeId,
    host,
    rack,
    labels,
    free: capability,
    total: capability,
  }));
  const nodes = Buffer.from(formatClusterNodes(snapshots));
  await stage(nodesFileName, nodes);
  await resourceManager.submit({
    id,
    name: spec.name,
    queue: spec.queue,
    masterLaunch: launchContext({
      files: [master],
      environment: masterEnvironment(spec, storedJob(stagingLocation(job), content, nodes)),
      commands: [launchCommand({ node: process.execPath, bundle: "am.cjs", files: [] })],
      credentials: writeTokenFile({ tokens: [], secrets: masterSecrets(identity) }),
    }),
    masterResource: spec.am.resource,
    maxAppAttempts,
    keepContainers: true,
  });
  return {
    id,
    identity,
    staging,
    fileSystem,
    resourceManager,
    async dispose() {
      const { state } = await resourceManager.report(id);
      if (!["FINISHED", "FAILED", "KILLED"].includes(state)) await resourceManager.kill(id);
      await fileSystem.delete(staging, { recursive: true });
      resourceManager.close();
      fileSystems.close();
    },
  };
}
