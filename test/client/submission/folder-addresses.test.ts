import { expect, test } from "@jest/globals";
import { withFolderAddresses } from "../../../client/submission/folder-addresses.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { aJobSpec } from "../../support/job-spec.ts";

const configuration = new Configuration().withValues({ "fs.defaultFS": "hdfs://nn:8020" });
const cluster = new FileSystems({ configuration, credentials: simpleCredentials({ name: "ada" }) });
const places = {
  home: async () => ({ ...cluster.locate("/user/ada"), path: "/user/ada" }),
  locate: (address: string) => cluster.locate(address),
};
const carrier = { checkpoints: { localDir: "c", keep: 2 }, timeoutMs: 1 };
const output = { localDir: "r", dir: "results/bert" };

test("a relative folder starts in the user's home on the default file system", async () => {
  const spec = aJobSpec({ checkpointDir: "ckpt/bert", carrier: { ...carrier, output } });
  expect(await withFolderAddresses(spec, places)).toMatchObject({
    checkpointDir: "hdfs://nn:8020/user/ada/ckpt/bert",
    carrier: { ...carrier, output: { dir: "hdfs://nn:8020/user/ada/results/bert" } },
  });
});

test("without a cluster it is this machine's", async () => {
  const local = { home: async () => ({ fileSystem: new LocalFileSystem(), path: "/home/ada" }), locate: places.locate };
  const spec = await withFolderAddresses(aJobSpec({ checkpointDir: "ckpt", carrier }), local);
  expect(spec.checkpointDir).toBe("file:///home/ada/ckpt");
});

test("an address without its host gets it; what only the program writes to stays as it is", async () => {
  const addressOf = async (checkpointDir: string, carried = true) =>
    (await withFolderAddresses(aJobSpec({ checkpointDir, ...(carried && { carrier }) }), places)).checkpointDir;
  expect(await addressOf("hdfs:///ckpt")).toBe("hdfs://nn:8020/ckpt");
  expect(await addressOf("s3://bucket/ckpt", false)).toBe("s3://bucket/ckpt");
  expect(await addressOf("/mnt/nfs/ckpt", false)).toBe("/mnt/nfs/ckpt");
});

test("a place that executors cannot write to is refused, with the key and where it was set", async () => {
  const sources = { "tony.application.checkpoint-dir": "job.xml:9" };
  const spec = aJobSpec({ checkpointDir: "s3://bucket/ckpt", carrier, sources });
  await expect(withFolderAddresses(spec, places)).rejects.toThrow(
    /checkpoint-dir = s3:.*\(job\.xml:9\).*not supported/,
  );
});
