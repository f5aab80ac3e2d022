import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { afterAll, describe, expect, test } from "@jest/globals";
import { loadConfiguration } from "../../src/hadoop/conf/site-files.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { describeFileSystem } from "../support/file-system-contract.ts";

const cluster = await testCluster();
const configuration = loadConfiguration(cluster.confDir);

describeFileSystem("HDFS over WebHDFS", async () => {
  const fileSystems = new FileSystems({ configuration, credentials: simpleCredentials({ name: ClusterUser.alice }) });
  const { fileSystem, path: home } = await fileSystems.home();
  const folder = `${home}/contract-${randomBytes(6).toString("hex")}`;
  await fileSystem.mkdirs(folder, 0o700);
  return {
    fileSystem,
    folder,
    dispose: async () => {
      await fileSystem.delete(folder, { recursive: true });
      fileSystems.close();
    },
  };
});

describe("HDFS over WebHDFS", () => {
  const fileSystems = new FileSystems({
    configuration,
    credentials: simpleCredentials({ name: ClusterUser.homeless }),
  });
  afterAll(() => fileSystems.close());

  test("a user without rights is told who can give them", async () => {
    const { fileSystem, path } = await fileSystems.home();
    expect(path).toBe("/user/nohome");
    await expect(fileSystem.mkdirs(path, 0o700)).rejects.toMatchObject({
      code: "ACCESS_DENIED",
      message: expect.stringContaining("or an administrator can give nohome write access there"),
    });
  });

  test("who may not write somewhere is told so without trying", async () => {
    const { fileSystem } = fileSystems.locate("/user/alice");
    await expect(fileSystem.checkWritable("/user/alice")).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    await expect(fileSystem.checkWritable("/user/alice/none")).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    await expect(fileSystem.checkWritable("/user/none")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    await expect(fileSystem.checkWritable("/tmp")).resolves.toBeUndefined();
  });

  test("a file is being written until its writer has closed it, whatever the list says of its length", async () => {
    const alice = new FileSystems({ configuration, credentials: simpleCredentials({ name: ClusterUser.alice }) });
    const { fileSystem, path: home } = await alice.home();
    const file = `${home}/open-${randomBytes(6).toString("hex")}`;
    await fileSystem.create(file, Buffer.from("one\n"), { permission: 0o600 });
    const isBeingWritten = async () => (await fileSystem.blockAt(file)).isBeingWritten;
    const nameAndAddress = [expect.any(String), expect.stringMatching(/^[\d.]+$/)];
    expect(await fileSystem.blockAt(file, 2)).toEqual({ isBeingWritten: false, hosts: nameAndAddress });
    const rest = new PassThrough();
    const appended = fileSystem.append(file, { open: () => rest });
    rest.write("two\n");
    await eventually("it is open", isBeingWritten);
    rest.end();
    await appended;
    expect(await isBeingWritten()).toBe(false);
    expect((await fileSystem.stat(file)).lengthBytes).toBe(8);
    await fileSystem.delete(file);
    await expect(isBeingWritten()).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    alice.close();
  });

  test("a large upload that is refused names the reason, not a broken connection", async () => {
    const { fileSystem } = fileSystems.locate("/user/alice");
    await expect(
      fileSystem.create("/user/nohome-big", randomBytes(30_000_000), { permission: 0o600, overwrite: true }),
    ).rejects.toMatchObject({ code: "ACCESS_DENIED" });
  });

  test("files are named to YARN by the name node's URI", () => {
    const { fileSystem } = fileSystems.locate("/");
    expect(`hdfs://${fileSystem.resourceUrl("/x").host}:${fileSystem.resourceUrl("/x").port}`).toBe(
      configuration.get("fs.defaultFS"),
    );
  });
});
