import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ContentCache } from "../../client/shipping/cache.ts";
import { HashMemo } from "../../client/shipping/hash-memo.ts";
import { ship } from "../../client/shipping/shipping.ts";
import { StagingFolder, stagingRoot } from "../../client/staging/staging-folder.ts";
import { loadConfiguration } from "../../src/hadoop/conf/site-files.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { findAggregatedLogs, readAggregatedLogs } from "../../src/hadoop/yarn/aggregated-logs.ts";
import { resourceManagerEndpoints } from "../../src/hadoop/yarn/endpoints.ts";
import { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import { launchContext } from "../../src/job/launch/launch-context.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { at, requestJson } from "../support/http-json.ts";

const configuration = loadConfiguration((await testCluster()).confDir);

describe("shipping to a real HDFS", () => {
  let folder: string;
  const opened: FileSystems[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "ship-"));
    await writeFile(join(folder, "node"), `a runtime of this test: ${folder}`);
  });
  afterAll(async () => {
    for (const fileSystems of opened) fileSystems.close();
    await rm(folder, { recursive: true });
  });

  function openAs(user: string): FileSystems {
    const fileSystems = new FileSystems({ configuration, credentials: simpleCredentials({ name: user }) });
    opened.push(fileSystems);
    return fileSystems;
  }

  async function shipAs(user: string) {
    const fileSystems = openAs(user);
    const root = await stagingRoot(fileSystems, {});
    const cache = new ContentCache({ fileSystems, stagingRoot: root, user, replicas: 4 });
    const memo = await HashMemo.open(join(folder, "memo"));
    const items = [{ link: "node", source: join(folder, "node"), as: "file", shared: true }] as const;
    const [first] = await ship(items, { fileSystems, cache, memo });
    const [second] = await ship(items, { fileSystems, cache, memo });
    if (first === undefined) throw new Error("nothing was shipped");
    const { fileSystem, path } = fileSystems.locate(first.file.url);
    const status = await fileSystem.stat(path);
    const nameNode = configuration.get("dfs.namenode.http-address");
    const asked = `http://${nameNode}/webhdfs/v1${path}?op=GETFILESTATUS&user.name=${user}`;
    const replicas = at((await requestJson(asked)).body, "FileStatus", "replication");
    await fileSystem.delete(path);
    return { first, second, status, replicas };
  }

  test("a home that lets others through shares the runtime, a closed one does not", async () => {
    for (const [user, visibility] of [
      [ClusterUser.bob, "PUBLIC"],
      [ClusterUser.alice, "PRIVATE"],
    ] as const) {
      const { first, second, status, replicas } = await shipAs(user);
      expect(replicas).toBe(4);
      expect(first.file).toMatchObject({ visibility, modificationTimeMs: status.modificationTimeMs });
      expect(first.uploadedBytes).toBe(status.lengthBytes);
      expect(second).toEqual({ file: first.file, uploadedBytes: 0, remarks: [] });
      expect([status.owner, status.permission]).toEqual([user, 0o755]);
    }
  });

  test("the staging folder is the user's alone", async () => {
    const user = ClusterUser.bob;
    const root = await stagingRoot(openAs(user), {});
    const staging = await StagingFolder.create(root, "application_1_0001", user);
    const file = await staging.write("job.json", Buffer.from("{}"));
    expect(staging.url).toBe(`${configuration.get("fs.defaultFS")}/user/bob/.tony-ts/application_1_0001`);
    const other = openAs(ClusterUser.alice).locate(`${staging.url}/${basename(file.path)}`);
    await expect(other.fileSystem.open(other.path)).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    expect(await staging.remove()).toBe(true);
  });

  test("a user without a home is told which key mends it", async () => {
    await expect(stagingRoot(openAs(ClusterUser.homeless), {})).rejects.toMatchObject({
      code: "NO_HOME",
      message: expect.stringContaining("Set tony.staging-dir"),
    });
    await expect(stagingRoot(openAs(ClusterUser.homeless), { stagingDir: "/user/x" })).rejects.toMatchObject({
      code: "STAGING_NOT_WRITABLE",
      message: expect.stringContaining("tony.staging-dir"),
    });
  });

  test("a node finds the folder with its modes and links, and the runtime that was sent", async () => {
    const user = ClusterUser.alice;
    const fileSystems = openAs(user);
    const root = await stagingRoot(fileSystems, {});
    const program = join(folder, "program");
    await mkdir(join(program, "bin"), { recursive: true });
    await writeFile(join(program, "bin", "run"), "#!/bin/sh\necho ran by $0\n", { mode: 0o755 });
    await symlink("bin/run", join(program, "start"));
    const files = await ship(
      [
        { link: "node", source: process.execPath, as: "file", shared: true },
        { link: "program", source: program, as: "archive" },
      ],
      {
        fileSystems,
        cache: new ContentCache({ fileSystems, stagingRoot: root, user }),
        memo: await HashMemo.open(join(folder, "memo")),
      },
    );
    const manager = new ResourceManagerClient({
      endpoints: resourceManagerEndpoints(configuration, "client"),
      credentials: simpleCredentials({ name: user }),
    });
    const { id } = await manager.newApplication();
    await manager.submit({
      id,
      name: "shipping",
      queue: "default",
      maxAppAttempts: 1,
      masterResource: { memoryMiB: 1024, vcores: 1, others: {} },
      masterLaunch: launchContext({
        files: files.map(({ file }) => file),
        environment: {},
        commands: ["(program/start; ./node --version)", "1><LOG_DIR>/stdout", "2><LOG_DIR>/stderr"],
        credentials: new Uint8Array(),
      }),
    });
    const logs = await eventually("the container's logs", async () => {
      const found = await findAggregatedLogs(fileSystems, configuration, user, id);
      return found.length > 0 ? found : undefined;
    });
    const output = new Map<string, string>();
    for (const file of logs) {
      for await (const log of readAggregatedLogs(file)) output.set(log.name, await text(log.content));
    }
    manager.close();
    expect([output.get("stdout"), output.get("stderr")]).toEqual([`ran by program/start\n${process.version}\n`, ""]);
  });

  test("a large upload keeps memory flat", async () => {
    const { fileSystem, path } = await openAs(ClusterUser.alice).home();
    const file = `${path}/large-${process.pid}`;
    const chunkBytes = 1024 * 1024;
    const chunks = 300;
    const content = { lengthBytes: chunks * chunkBytes, open: () => Readable.from(newChunks(chunkBytes, chunks)) };
    const before = process.memoryUsage();
    let most = 0;
    await fileSystem.create(file, content, {
      permission: 0o600,
      onProgress: () => {
        most = Math.max(most, process.memoryUsage().external);
      },
    });
    expect((await fileSystem.stat(file)).lengthBytes).toBe(content.lengthBytes);
    expect(most - before.external).toBeLessThan((chunks / 2) * chunkBytes);
    await fileSystem.delete(file);
  });
});

/** Each in memory of its own, so that what piles up shows. */
function* newChunks(chunkBytes: number, count: number): Generator<Buffer> {
  for (let index = 0; index < count; index += 1) yield Buffer.alloc(chunkBytes, index);
}
