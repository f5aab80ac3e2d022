import { loadConfiguration } from "../src/hadoop/conf/site-files.ts";
import { simpleCredentials } from "../src/hadoop/security/simple-credentials.ts";
import { resourceManagerEndpoints } from "../src/hadoop/yarn/endpoints.ts";
import { ResourceManagerClient } from "../src/hadoop/yarn/resource-manager.ts";
import { type ClusterStatus, ClusterUser } from "../test/support/cluster.ts";

/** Opens a connection to the ResourceManager, uses it and closes it. */
export async function withResourceManager<Result>(
  cluster: ClusterStatus,
  use: (client: ResourceManagerClient) => Promise<Result>,
): Promise<Result> {
  const client = new ResourceManagerClient({
    endpoints: resourceManagerEndpoints(loadConfiguration(cluster.confDir), "client"),
    credentials: simpleCredentials({ name: ClusterUser.alice }),
  });
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/** When the ResourceManager accepted the application, by its own clock, which is this machine's. */
export async function submittedAtMs(cluster: ClusterStatus, id: string): Promise<number> {
  return await withResourceManager(cluster, async (client) => (await client.report(id)).startTimeMs);
}

/**
 * An application that the ResourceManager knows and that does nothing. One submitted to a queue that does not exist is
 * refused and remembered.
 */
export async function anApplication(client: ResourceManagerClient): Promise<string> {
  const [known] = await client.reports();
  if (known !== undefined) return known.id;
  const { id } = await client.newApplication();
  await client
    .submit({
      id,
      name: "bench",
      queue: "none",
      masterLaunch: { localResources: {}, environment: {}, commands: ["true"], credentials: new Uint8Array() },
      masterResource: { memoryMiB: 64, vcores: 1, others: {} },
      maxAppAttempts: 1,
    })
    .catch(() => undefined);
  return id;
}
