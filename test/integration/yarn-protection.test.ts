/** The ResourceManager and a NodeManager with each protection of RPC that tokens can ask for. */
import { afterAll, expect, test } from "@jest/globals";
import type { Protection } from "../../src/hadoop/security/sasl/digest-md5.ts";
import { tokenCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { NodeManagerPool } from "../../src/hadoop/yarn/node-manager.ts";
import { SchedulerClient } from "../../src/hadoop/yarn/scheduler.ts";
import { testCluster } from "../support/cluster.ts";
import {
  applicationIn,
  endpointsOf,
  heartbeatUntil,
  nothingGathered,
  resourceManagerOf,
  shell,
  smallest,
  unmanagedApplication,
} from "../support/yarn.ts";

/** Longer than one protected message may be (64 KiB), so that it travels in several. */
const longCommand = `: ${"x".repeat(90_000)}; exec sleep 300`;

const cluster = await testCluster();
const client = resourceManagerOf(cluster);
afterAll(() => client.close());

test.each<Protection>(["auth", "auth-int", "auth-conf"])("%s: a master's whole round", async (protection) => {
  const { id, token } = await unmanagedApplication(client);
  const options = { credentials: tokenCredentials({ protections: [protection] }) };
  const scheduler = new SchedulerClient({
    endpoints: endpointsOf(cluster.endpoints.schedulerRpc),
    token,
    ...options,
  });
  const nodes = new NodeManagerPool(options);
  try {
    await scheduler.register({ host: "h", rpcPort: 0, trackingUrl: "" });
    scheduler.ask([{ priority: 1, resourceName: "*", capability: smallest, count: 1 }]);
    const { allocated, nodeTokens } = await heartbeatUntil(
      scheduler,
      nothingGathered(),
      "a container",
      (all) => all.allocated.length > 0,
    );
    nodes.addTokens(nodeTokens);
    const [container] = allocated;
    if (container === undefined) throw new Error("no container");
    const { nodeId } = container;
    const started = await nodes.start(nodeId, [{ container, launch: shell(longCommand) }]);
    expect(started).toEqual({ succeeded: [container.id], failed: [] });
    expect((await nodes.stop(nodeId, [container.id])).succeeded).toEqual([container.id]);
    await scheduler.finish({ status: "SUCCEEDED", diagnostics: protection, trackingUrl: "" });
    expect(await applicationIn(client, id, "FINISHED")).toMatchObject({ diagnostics: protection });
  } finally {
    nodes.close();
    scheduler.close();
    await client.kill(id);
  }
});
