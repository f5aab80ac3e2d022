import { describe, expect, test } from "@jest/globals";
import { withFolderAddresses } from "../../../client/submission/folder-addresses.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import type { FileStatus } from "../../../src/hadoop/hdfs/file-system.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import { searchOf } from "../../job/search/support.ts";
import { aJobSpec } from "../../support/job-spec.ts";

const configuration = new Configuration().withValues({ "fs.defaultFS": "hdfs://nn:8020" });
const cluster = new FileSystems({ configuration, credentials: simpleCredentials({ name: "ada" }) });
/** In whose HDFS /user/ada is there, and may be written. */
const isThere = ["/", "/user", "/user/bob", "/user/ada", "/user/ada/a-file"];
const placed = (address: string) => {
  const { fileSystem, path } = cluster.locate(address);
  const checkWritable = async (folder: string) => {
    if (folder === "/user/ada") return;
    if (fileSystem.uri.includes("nohost"))
      throw new FileSystemError("getaddrinfo ENOTFOUND nohost", { code: "UNREACHABLE" });
    if (fileSystem.uri.includes("closed"))
      throw new FileSystemError(`Permission denied: ${folder}`, { code: "ACCESS_DENIED" });
    if (fileSystem.uri.includes("silent")) throw new FileSystemError("no answer", { code: "TIMEOUT" });
    if (folder.startsWith("/user/ada/a-file/"))
      throw new FileSystemError(`${folder} is below a file`, { code: "NOT_A_DIRECTORY" });
    const isMissing = !isThere.includes(folder) || fileSystem.uri.includes("rootless");
    const code = isMissing ? "FILE_NOT_FOUND" : "ACCESS_DENIED";
    throw new FileSystemError(`Permission denied: ${folder}`, { code });
  };
  const stat = async (file: string): Promise<FileStatus> => {
    if (fileSystem.uri.includes("closed"))
      throw new FileSystemError(`Permission denied: ${file}`, { code: "ACCESS_DENIED" });
    const type = file === "/user/ada/a-file" ? "FILE" : "DIRECTORY";
    if (type === "DIRECTORY" && !isThere.includes(file)) throw new FileSystemError("no", { code: "FILE_NOT_FOUND" });
    return {
      path: file,
      type,
      lengthBytes: 0,
      modificationTimeMs: fileSystem.uri.includes("later") ? 5 : 0,
      accessTimeMs: 0,
      owner: fileSystem.uri.includes("bobs") ? "bob" : "ada",
      group: "ada",
      permission: 0o755,
    };
  };
  return { path, fileSystem: { uri: fileSystem.uri, checkWritable, stat } };
};
const places = { home: async () => placed("/user/ada"), locate: placed };
const carrier = { checkpoints: { localDir: "c", keep: 2 }, outputRequired: true, timeoutMs: 1 };
const output = { localDir: "r", dir: "results/bert" };

test.each(["bert", "/user/ada/bert"])(
  "results do not go where checkpoints are kept, however that folder is written: %s",
  async (checkpointDir) => {
    const same = { ...output, dir: "hdfs://nn:8020/user/ada/bert/" };
    const spec = aJobSpec({ checkpointDir, carrier: { ...carrier, output: same } });
    await expect(withFolderAddresses(spec, places)).rejects.toMatchObject({
      code: "FOLDER_UNREACHABLE",
      message: expect.stringContaining(
        "it is also where checkpoints are kept (tony.application.checkpoint-dir), which",
      ),
    });
  },
);

test.each([
  ["results/bert", "hdfs://nn:8020/user/ada/results"],
  ["hdfs:///user/ada/results", "/user/ada//results/"],
  ["hdfs://nn.example:8020/user/ada/bert", "/user/ada"],
])("results do not go into the staging folder, however both are written: %s in %s", async (dir, stagingDir) => {
  const sources = { "tony.output.dir": "job.xml:9" };
  const spec = aJobSpec({ sources, carrier: { ...carrier, output: { ...output, dir } } });
  const cleaned = { root: placed(stagingDir), stagingDir };
  const message = expect.stringMatching(
    /^tony\.output\.dir = hdfs:\/\/nn\S* \(job\.xml:9\): it is in the staging folder \(tony\.staging-dir\)/,
  );
  await expect(withFolderAddresses(spec, places, cleaned)).rejects.toMatchObject({ message });
  await expect(withFolderAddresses(spec, places)).resolves.toBeDefined();
});

const onThisMachine = { ...placed("/user/ada"), fileSystem: { ...placed("/user/ada").fileSystem, uri: "file://" } };
test.each([
  ["hdfs://later:8020/user/ada/x", placed("/user/ada")],
  ["hdfs://bobs:8020/user/ada/x", placed("/user/ada")],
  ["hdfs://other:8020/user/ada/none/x", placed("/user/ada/none")],
  ["hdfs://nn:8020/user/ada/x", onThisMachine],
  ["file:///user/ada/x", placed("/user/ada")],
])("results go where a folder on another file system is called as the staging folder: %s", async (dir, root) => {
  const spec = aJobSpec({ carrier: { ...carrier, output: { ...output, dir } } });
  const cleaned = { root, stagingDir: `${root.fileSystem.uri}${root.path}` };
  await expect(withFolderAddresses(spec, places, cleaned)).resolves.toMatchObject({ carrier: { output: { dir } } });
});

test("results may go where the program itself, not an executor, keeps its checkpoints", async () => {
  const { checkpoints: _, ...uncarried } = carrier;
  const dir = "hdfs://nn:8020/user/ada/bert";
  const spec = aJobSpec({ checkpointDir: dir, carrier: { ...uncarried, output: { ...output, dir } } });
  await expect(withFolderAddresses(spec, places)).resolves.toMatchObject({ carrier: { output: { dir } } });
});

const located = {
  timeZone: "UTC",
  location: "/kept/history",
  intermediate: "/user/ada/running",
  finished: "/kept/done",
};
test.each<[string, Partial<JobSpec>, string]>([
  ["tony.application.checkpoint-dir", { checkpointDir: "hdfs:///kept/bert" }, "/kept"],
  ["tony.history.location", { history: located }, "/kept/history"],
  ["tony.history.intermediate", { history: located }, "/user/ada"],
  ["tony.history.finished", { history: located }, "/kept/done"],
])("nor is a folder of %s in the staging folder", async (key, changes, stagingDir) => {
  const cleaned = { root: placed(stagingDir), stagingDir };
  await expect(withFolderAddresses(aJobSpec(changes), places, cleaned)).rejects.toThrow(
    new RegExp(`^${key.replaceAll(".", "\\.")} = \\S+: it is in the staging folder`),
  );
});

test.each<[string, Partial<JobSpec>]>([
  ["a path that only its nodes can see", { checkpointDir: "/kept/bert" }],
  [
    "history folders of a site that keeps none",
    { history: { timeZone: "UTC", intermediate: "/kept", finished: "/kept" } },
  ],
])("%s is not compared with the staging folder", async (_what, changes) => {
  const cleaned = { root: placed("/kept"), stagingDir: "/kept" };
  await expect(withFolderAddresses(aJobSpec(changes), places, cleaned)).resolves.toMatchObject(changes);
});

test("a relative folder starts in the user's home on the default file system", async () => {
  const spec = aJobSpec({ checkpointDir: "ckpt/bert", carrier: { ...carrier, output } });
  expect(await withFolderAddresses(spec, places)).toEqual({
    ...spec,
    checkpointDir: "hdfs://nn:8020/user/ada/ckpt/bert",
    carrier: { ...carrier, output: { ...output, dir: "hdfs://nn:8020/user/ada/results/bert" } },
  });
});

test("so does that of a search's trials, which cannot be in the staging folder either", async () => {
  const spec = aJobSpec({ search: { ...searchOf({ x: "float 0 1" }), outputDir: "results" } });
  expect(await withFolderAddresses(spec, places)).toEqual({
    ...spec,
    search: { ...spec.search, outputDir: "hdfs://nn:8020/user/ada/results" },
  });
  const stagingDir = "/user/ada/results/";
  const cleaned = { root: placed(stagingDir), stagingDir };
  await expect(withFolderAddresses(spec, places, cleaned)).rejects.toThrow("it is in the staging folder");
});

test("without a cluster it is this machine's", async () => {
  const local = { home: async () => ({ fileSystem: new LocalFileSystem(), path: "/home/ada" }), locate: places.locate };
  const spec = await withFolderAddresses(aJobSpec({ checkpointDir: "ckpt", carrier }), local);
  expect(spec.checkpointDir).toBe("file:///home/ada/ckpt");
});

test("folders of the history's own are where they are, and the one for running jobs has to be writable", async () => {
  const history = { location: "/history", timeZone: "UTC" };
  const intermediate = "hdfs:///user/ada/running";
  const placedHistory = await withFolderAddresses(
    aJobSpec({ history: { ...history, intermediate, finished: "/done" } }),
    places,
  );
  expect(placedHistory.history).toEqual({
    timeZone: "UTC",
    ...{ location: "/history", intermediate: "hdfs://nn:8020/user/ada/running", finished: "/done" },
  });
  const relative = await withFolderAddresses(
    aJobSpec({ history: { ...history, intermediate, finished: "a-file" } }),
    places,
  );
  expect(relative.history.finished).toBe("hdfs://nn:8020/user/ada/a-file");
  const closed = { ...history, intermediate: "hdfs:///user/bob/running" };
  await expect(withFolderAddresses(aJobSpec({ history: closed }), places)).rejects.toThrow(
    /^tony\.history\.intermediate = /,
  );
});

test("results do not go into the cache either, which is pruned", async () => {
  const spec = aJobSpec({ carrier: { ...carrier, output: { ...output, dir: "shared/results" } } });
  const cleaned = { root: placed("/user/ada/.tony-ts"), cacheDir: "/user/ada/shared" };
  await expect(withFolderAddresses(spec, places, cleaned)).rejects.toThrow("tony.cache.dir");
});

test("an address without its host gets it; what only the program writes to stays as it is", async () => {
  const addressOf = async (checkpointDir: string, carried = true) =>
    (await withFolderAddresses(aJobSpec({ checkpointDir, ...(carried && { carrier }) }), places)).checkpointDir;
  expect(await addressOf("hdfs:///user/ada/ckpt")).toBe("hdfs://nn:8020/user/ada/ckpt");
  expect(await addressOf("s3://bucket/ckpt", false)).toBe("s3://bucket/ckpt");
  expect(await addressOf("/mnt/nfs/ckpt", false)).toBe("/mnt/nfs/ckpt");
  expect(await addressOf("/user/ada/ckpt")).toBe("/user/ada/ckpt");
});

test("a place that executors cannot write to is refused, with the key and where it was set", async () => {
  const sources = { "tony.application.checkpoint-dir": "job.xml:9" };
  const spec = aJobSpec({ checkpointDir: "s3://bucket/ckpt", carrier, sources });
  await expect(withFolderAddresses(spec, places)).rejects.toThrow(
    /checkpoint-dir = s3:.*\(job\.xml:9\).*not supported/,
  );
});

test.each([
  ["tony.application.checkpoint-dir", { checkpointDir: "hdfs:///user/bob/ckpt", carrier }],
  [
    "tony.output.dir",
    { carrier: { outputRequired: true, timeoutMs: 1, output: { localDir: "r", dir: "/user/bob/results/new" } } },
  ],
  ["tony.output.dir", { search: { ...searchOf({ x: "float 0 1" }), outputDir: "/user/bob/results/new" } }],
  ["tony.history.location", { history: { location: "hdfs:///history", timeZone: "UTC" } }],
])("a folder of %s that nobody here may make is refused before the job runs", async (key, change) => {
  const spec = aJobSpec({ ...change, sources: { [key]: "job.xml:9" } });
  await expect(withFolderAddresses(spec, places)).rejects.toMatchObject({
    code: "FOLDER_UNREACHABLE",
    cause: expect.objectContaining({ code: "ACCESS_DENIED" }),
    message: expect.stringMatching(new RegExp(`^${key} = .*\\(job\\.xml:9\\): .*Permission denied: /(user/bob)?$`)),
  });
});

test("a history folder is at home, too, when it is relative", async () => {
  const spec = await withFolderAddresses(aJobSpec({ history: { location: "history", timeZone: "UTC" } }), places);
  expect(spec.history).toMatchObject({
    location: "hdfs://nn:8020/user/ada/history",
    intermediate: "hdfs://nn:8020/user/ada/history/intermediate",
  });
});

test.each([
  ["a:b/c", "HDFS takes no folder named a:b: name one without"],
  ["x/./y", "HDFS takes no folder named .: name one without"],
  ["../x", "HDFS takes no folder named ..: name one without"],
  ["hdfs:///user/ada/../x", "HDFS takes no folder named ..: name one without"],
  ["~/x", "~ means nothing here: leave it out"],
  ["$HOME/x", "$HOME means nothing here: leave it out"],
  ["${HOME}", "${HOME} means nothing here: leave it out"],
  ["hdfs://nohost:8020/x", "getaddrinfo ENOTFOUND nohost"],
  ["a-file", "/user/ada/a-file is a file: name another folder"],
  ["a-file/x", "/user/ada/a-file/x is below a file"],
  ["hdfs://closed:8020/x", "Permission denied: /x"],
])("results can never be stored in %s, which is said before the program runs", async (dir, why) => {
  const sources = { "tony.output.dir": "job.xml:9" };
  const spec = aJobSpec({ sources, carrier: { outputRequired: true, timeoutMs: 1, output: { localDir: "r", dir } } });
  const message = expect.stringContaining(`tony.output.dir = ${dir} (job.xml:9): ${why}`);
  await expect(withFolderAddresses(spec, places)).rejects.toMatchObject({ code: "FOLDER_UNREACHABLE", message });
});

test.each([
  ["of a gateway that does not answer", "hdfs://silent:8020/x"],
  ["of a file system whose root is not there", "hdfs://rootless:8020/x"],
  ["of this machine, which takes names that HDFS does not", "file:///results/run-12:30"],
])("a folder %s is left to the job", async (_which, dir) => {
  const spec = aJobSpec({ carrier: { ...carrier, output: { ...output, dir } } });
  await expect(withFolderAddresses(spec, places)).resolves.toMatchObject({ carrier: { output: { dir } } });
});

test("a folder whose name only begins like a home is one of the user's", async () => {
  const spec = aJobSpec({ carrier: { ...carrier, output: { ...output, dir: "~backup/$HOMELESS" } } });
  const dir = "hdfs://nn:8020/user/ada/~backup/$HOMELESS";
  await expect(withFolderAddresses(spec, places)).resolves.toMatchObject({ carrier: { output: { dir } } });
});

describe("what a job resumes from", () => {
  const at = async (resumeFrom: string) =>
    (await withFolderAddresses(aJobSpec({ resumeFrom, checkpointDir: "ckpt", carrier }), places)).resumeFrom;

  test.each(["application_1_1", "hdfs:///user/ada/nothing", "/user/ada/step-1-at-2"])(
    "has to be there: %s",
    async (resumeFrom) => {
      const message = expect.stringMatching(/^tony\.application\.resume-from = .*: there is no .*--resume-from ID/);
      await expect(at(resumeFrom)).rejects.toMatchObject({ code: "FOLDER_UNREACHABLE", message });
    },
  );

  test("is the program's business where only it can look", async () => {
    expect(await at("s3://bucket/ckpt")).toBe("s3://bucket/ckpt");
    expect(await at("/mnt/nfs/ckpt")).toBe("/mnt/nfs/ckpt");
    expect(await at("file:///mnt/nfs/ckpt")).toBe("file:///mnt/nfs/ckpt");
    const own = await withFolderAddresses(aJobSpec({ resumeFrom: "/mnt/nfs/step-1-at-2" }), places);
    expect(own.resumeFrom).toBe("/mnt/nfs/step-1-at-2");
    expect(await at("hdfs:///user/bob")).toBe("hdfs:///user/bob");
  });
});
