import { expect, jest, test } from "@jest/globals";
import type { Cluster } from "../../../client/cluster/cluster.ts";
import { cacheOfJobs, withCache } from "../../../client/shipping/cache-access.ts";
import { cachesOf } from "../../../client/shipping/cache-prune.ts";
import { ExitCode } from "../../../src/errors.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { onThisMachine } from "../place.ts";
import { StandInManager } from "../stand-in-manager.ts";
import { recordedContext } from "../support.ts";

const folder = temporaryFolder();

test("files of jobs go where the settings say, as many times as all nodes need them, and are trusted as the cluster knows people", () => {
  const root = onThisMachine.locate("file:///staging");
  const cluster = { fileSystems: onThisMachine, user: "ada", isSecured: true, sharedReplicas: 4 };
  const settings = { cacheDir: "file:///cache", trustedOwners: ["bob"] };
  expect(cacheOfJobs(cluster, root, settings)).toEqual({
    ...{ fileSystems: onThisMachine, stagingRoot: root, user: "ada" },
    ...{ ...settings, believesNames: false, replicas: 4 },
  });
  expect(cacheOfJobs({ ...cluster, isSecured: false }, root, settings)).toMatchObject({ believesNames: true });
});

test("work gets the caches that the settings name, and the cluster is closed after it, whatever comes of it", async () => {
  const manager = await StandInManager.start(folder.path);
  const context = recordedContext({ environment: { HADOOP_CONF_DIR: manager.configuration, HADOOP_USER_NAME: "ada" } });
  const conf = [`tony.staging-dir=file://${folder.path}/staging`, `tony.cache.dir=file://${folder.path}/shared`];
  const closed: string[] = [];
  const watch = (cluster: Cluster, name: string) =>
    jest.spyOn(cluster, "close").mockImplementationOnce(() => void closed.push(name));
  const code = await withCache(conf, context, async ({ cluster, root, cache }) => {
    watch(cluster, "after work");
    expect(root.path).toBe(`${folder.path}/staging`);
    expect(cachesOf(cache).map((one) => one.root)).toEqual([`${folder.path}/shared`, `${folder.path}/staging/cache`]);
    return ExitCode.cluster;
  });
  const failing = withCache(conf, context, async ({ cluster }) => {
    watch(cluster, "after a failure");
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect([code, closed]).toEqual([ExitCode.cluster, ["after work", "after a failure"]]);
  await manager.stop();
});
