import { beforeEach, expect, test } from "@jest/globals";
import { withClusterFiles } from "../../../client/submission/cluster-files.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import type { FileStatus } from "../../../src/hadoop/hdfs/file-system.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import type { FileToShip } from "../../../src/job/spec.ts";
import { aJobSpec } from "../../support/job-spec.ts";

const status = (path: string, type: FileStatus["type"]): FileStatus => {
  const facts = { lengthBytes: 1, modificationTimeMs: 1, accessTimeMs: 1, permission: 0o644, owner: "a", group: "a" };
  return { path, type, ...facts };
};
/** A file system with /lib/{a.jar,b.jar,node,sub/}, /one.txt and /odd. */
const there = [
  status("/lib", "DIRECTORY"),
  status("/lib/a.jar", "FILE"),
  status("/lib/b.jar", "FILE"),
  status("/lib/node", "FILE"),
  status("/lib/sub", "DIRECTORY"),
  status("/one.txt", "FILE"),
  status("/odd", "DIRECTORY"),
  status("/odd/$(id).bin", "FILE"),
  status("/odd/fine one.bin", "FILE"),
];
const fileSystem = {
  uri: "hdfs://nn:8020",
  stat: async (path: string) => {
    const found = there.find((one) => one.path === path);
    if (found === undefined) throw new FileSystemError(`${path} is not there`, { code: "FILE_NOT_FOUND" });
    return found;
  },
  list: async (path: string) => there.filter((one) => one.path.startsWith(`${path}/`)),
};
/** What was looked up there. */
const asked: string[] = [];
beforeEach(() => {
  asked.length = 0;
});
const fileSystems = {
  locate: (uri: string) => {
    asked.push(uri);
    return { fileSystem, path: uri.replace(/^(?:hdfs:\/\/(?:nn:8020)?|file:\/\/)/, "") };
  },
};

async function placed(files: readonly FileToShip[], classPath: readonly string[] = []) {
  const { spec, problems } = await withClusterFiles(aJobSpec({ files }), classPath, fileSystems);
  return { files: spec.files.map(({ source, name }) => `${source} ${name}`), said: problems.map(formatProblem) };
}

const folder: FileToShip = { source: "hdfs:///lib", name: "lib", as: "file" };
const warned = "warning: hdfs://nn:8020/lib/node is left out: tony-ts has the name node in the containers";

test("a folder on HDFS stands for the files directly in it", async () => {
  expect(await placed([folder])).toEqual({
    files: ["hdfs://nn:8020/lib/a.jar a.jar", "hdfs://nn:8020/lib/b.jar b.jar"],
    said: [warned],
  });
});

test("a file of a folder whose name a node's shell would run is left out", async () => {
  const { files, said } = await placed([{ source: "hdfs:///odd", name: "odd", as: "file" }]);
  expect(files).toEqual(["hdfs://nn:8020/odd/fine one.bin fine one.bin"]);
  expect(said).toEqual([
    `warning: hdfs://nn:8020/odd/$(id).bin is left out: NodeManagers cannot take "$" in the name of a resource`,
  ]);
});

test("a folder's name, and a folder without files of its own, are told: neither is in the containers", async () => {
  const named = await placed([{ ...folder, name: "libs" }]);
  expect(named.said[0]).toBe(
    "warning: hdfs:///lib is a folder on the cluster: its files lie in the working folder of the containers, not in a folder libs there",
  );
  there.push(status("/deep", "DIRECTORY"), status("/deep/down", "DIRECTORY"));
  expect(await placed([{ source: "hdfs:///deep", name: "deep", as: "file" }])).toEqual({
    files: [],
    said: ["warning: hdfs:///deep has no file directly in it: nothing of it is in the containers"],
  });
});

test.each(["gs://bucket/x.jar", "http://host/x.jar", "y/lib"])(
  "a class path that names %s is refused with what does it",
  async (place) => {
    await expect(placed([], [place])).rejects.toThrow(
      `--hdfs_classpath names ${place}: it takes absolute paths and hdfs:// URLs; name the files in tony.containers.resources`,
    );
  },
);

test("files and archives stay as they are, those of this machine, too", async () => {
  const files: FileToShip[] = [
    { source: "/home/ada/train.py", name: "train.py", as: "file" },
    { source: "hdfs:///one.txt", name: "1.txt", as: "file" },
    { source: "hdfs:///lib/env.zip", name: "env", as: "archive" },
    { source: "gs://bucket/x", name: "x", as: "file" },
  ];
  const [role] = aJobSpec().roles.map((one) => ({ ...one, files }));
  const spec = aJobSpec({ files, roles: role === undefined ? [] : [role], am: { ...aJobSpec().am, files } });
  expect(await withClusterFiles(spec, [], fileSystems)).toEqual({ spec, problems: [] });
  expect(new Set(asked)).toEqual(new Set(["hdfs:///one.txt"]));
});

test("what a class path names is added once, and what is not there left out", async () => {
  const { files, said } = await placed([folder], ["/one.txt", "hdfs:///lib", "/nothing"]);
  expect(files).toEqual([
    "hdfs://nn:8020/lib/a.jar a.jar",
    "hdfs://nn:8020/lib/b.jar b.jar",
    "hdfs://nn:8020/one.txt one.txt",
  ]);
  expect(said).toEqual([
    "--hdfs_classpath: warning: names hdfs://nn:8020/nothing, which does not exist: it is left out",
    warned,
  ]);
});

test("a class path may name files that every node has, and adds plain files of their own names", async () => {
  const { spec } = await withClusterFiles(aJobSpec(), ["file:///one.txt"], fileSystems);
  expect(spec.files).toEqual([{ source: "hdfs://nn:8020/one.txt", name: "one.txt", as: "file" }]);
});

test("a file that the job names itself goes before one of a class path", async () => {
  const own: FileToShip = { source: "/home/ada/one.txt", name: "one.txt", as: "file" };
  expect(await placed([own], ["/one.txt"])).toEqual({
    files: ["/home/ada/one.txt one.txt"],
    said: ["warning: hdfs://nn:8020/one.txt is left out: another file has the name one.txt in the containers"],
  });
});

test("a file that the job names itself goes before one of a folder", async () => {
  const own: FileToShip = { source: "/home/ada/a.jar", name: "a.jar", as: "file" };
  const { files, said } = await placed([folder, own]);
  expect(files).toEqual(["hdfs://nn:8020/lib/b.jar b.jar", "/home/ada/a.jar a.jar"]);
  expect(said[0]).toBe(
    "warning: hdfs://nn:8020/lib/a.jar is left out: another file has the name a.jar in the containers",
  );
});

test("a file that the job names twice has both names", async () => {
  const twice = (source: string): FileToShip[] => ["a", "b"].map((name) => ({ source, name, as: "file" }));
  const { files, said } = await placed([
    ...twice("/home/ada/x"),
    ...twice("hdfs:///one.txt"),
    ...twice("hdfs:///one.txt"),
  ]);
  expect(files).toEqual(["/home/ada/x a", "/home/ada/x b", "hdfs:///one.txt a", "hdfs:///one.txt b"]);
  expect(said).toEqual([]);
});

test("a name in the containers goes to one file: the first of all tasks', or one that only a role has", async () => {
  const other = { ...folder, source: "hdfs:///other" };
  const two: typeof fileSystem = {
    ...fileSystem,
    stat: async (path) => (path === "/other" ? status(path, "DIRECTORY") : await fileSystem.stat(path)),
    list: async (path) => (path === "/other" ? [status("/other/a.jar", "FILE")] : await fileSystem.list(path)),
  };
  const look = { locate: (uri: string) => ({ fileSystem: two, path: uri.replace(/^hdfs:\/\/(nn:8020)?/, "") }) };
  const spec = (files: readonly FileToShip[], ofRole: readonly FileToShip[], ofMaster: readonly FileToShip[]) => {
    const job = aJobSpec({ files });
    const roles = job.roles.map((one) => ({ ...one, files: ofRole }));
    return { ...job, roles, am: { ...job.am, files: ofMaster } };
  };
  const sources = (files: readonly FileToShip[] = []) =>
    files.map(({ source }) => source.replace("hdfs://nn:8020", ""));
  const taken = "is left out: another file has the name a.jar in the containers";

  const ofAll = await withClusterFiles(spec([folder, other], [], []), [], look);
  expect(sources(ofAll.spec.files)).toEqual(["/lib/a.jar", "/lib/b.jar"]);
  expect(ofAll.problems.map(({ message }) => message)).toContain(`hdfs://nn:8020/other/a.jar ${taken}`);

  const ofRole = await withClusterFiles(spec([folder], [other], [other]), [], look);
  expect(sources(ofRole.spec.roles[0]?.files)).toEqual([]);
  expect(ofRole.problems.map(({ message }) => message)).toContain(`hdfs://nn:8020/other/a.jar ${taken}`);
  // The ApplicationMaster's container has none of what all tasks have.
  expect(sources(ofRole.spec.am.files)).toEqual(["/other/a.jar"]);
});
