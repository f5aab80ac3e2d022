import path from "node:path";
import { NodeTable } from "../../am/scheduler/yarn/node-table.ts";
import { ResourceManagerSilence } from "../../am/scheduler/yarn/silence.ts";
import { YarnScheduler } from "../../am/scheduler/yarn/yarn-scheduler.ts";
import { wallClock } from "../../src/hadoop/clock.ts";
import { loadConfiguration } from "../../src/hadoop/conf/site-files.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { NodeManagerPool } from "../../src/hadoop/yarn/node-manager.ts";
import { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import { SchedulerClient } from "../../src/hadoop/yarn/scheduler.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { describeScheduler } from "../support/scheduler-contract.ts";
import { silentLog } from "../support/silent-log.ts";
import { sweep } from "../support/sweep.ts";
import { endpointsOf, unmanagedApplication } from "../support/yarn.ts";

describeScheduler("a real YARN", async () => {
  const cluster = await testCluster();
  const user = ClusterUser.alice;
  const endpoints = endpointsOf(cluster.endpoints.resourceManagerRpc);
  const client = new ResourceManagerClient({ endpoints, credentials: simpleCredentials({ name: user }) });
  const { id, token } = await unmanagedApplication(client);
  const fileSystems = new FileSystems({
    configuration: loadConfiguration(cluster.confDir),
    credentials: simpleCredentials({ name: user }),
  });
  const { fileSystem, path: home } = await fileSystems.home();
  const folder = path.posix.join(home, `contract-${id}`);
  await fileSystem.mkdirs(folder, 0o700);
  const scheduler = new YarnScheduler({
    manager: new SchedulerClient({ endpoints: endpointsOf(cluster.endpoints.schedulerRpc), token }),
    nodeManagers: new NodeManagerPool(),
    attempt: 1,
    nodes: new NodeTable(
      { nodes: [], sharedLabels: [] },
      { host: "", resource: { memoryMiB: 0, vcores: 0, others: {} } },
    ),
    silence: new ResourceManagerSilence({ endpoints, clock: wallClock, log: silentLog }),
    clock: wallClock,
    log: silentLog,
  });
  return {
    scheduler,
    async store(name, content) {
      const file = path.posix.join(folder, name);
      await fileSystem.create(file, Buffer.from(content), { permission: 0o600 });
      const { lengthBytes, modificationTimeMs } = await fileSystem.stat(file);
      const url = `${fileSystem.uri}${file}`;
      return { link: name, url, sizeBytes: lengthBytes, modificationTimeMs, type: "FILE", visibility: "APPLICATION" };
    },
    async dispose() {
      await fileSystem.delete(folder, { recursive: true });
      fileSystems.close();
      client.close();
      await sweep(cluster);
    },
  };
});
