#!/usr/bin/env node
// Hadoop's libhdfs.so, for the tests: kept in the user's cache, compiled on first use from the sources on PyPI. Prints its
// path: node scripts/test/libhdfs.mjs PYTHON, an interpreter that has pip, setuptools and wheel
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { provideFolder } from "../cached-folder.mjs";
import { cacheFolder } from "../cluster/folders.mjs";
import { checkPrerequisites } from "../prerequisites.mjs";
import { Problem, printedBy, runMain } from "../problem.mjs";

/** pydoop contains the C sources of Hadoop's hadoop-hdfs-native-client, whose library is not part of Hadoop's jars. */
const RELEASE = "pydoop-2.0.0";
const FOLDERS = ["", "common", "os/posix"];
const HEADERS = ["", "include", "include/hdfs", "os", "os/posix", "common"];
const run = promisify(execFile);

/**
 * @param {string | undefined} python
 * @returns {Promise<string>} the library's path
 */
async function provideLibhdfs(python) {
  if (python === undefined) throw new Problem("Name an interpreter", { exitCode: 2 });
  const { java } = await checkPrerequisites(["jdk"]);
  if (java === undefined) throw new Problem("There is no JDK", { exitCode: 2 });
  const folder = join(cacheFolder(), `libhdfs-${RELEASE}-java-${java.version}`);
  await provideFolder(folder, async (draft) => {
    const sources = await mkdtemp(join(tmpdir(), "libhdfs-"));
    try {
      await compile(await fetched(python, sources), java.home, draft);
    } catch (cause) {
      const words = printedBy(cause).trim();
      throw new Problem(`libhdfs could not be made of PyPI's ${RELEASE}, by gcc: ${words.slice(-1000)}`, { cause });
    } finally {
      await rm(sources, { recursive: true, force: true });
    }
  });
  return join(folder, "libhdfs.so");
}

/**
 * The folder with its sources.
 * @param {string} python
 * @param {string} folder
 */
async function fetched(python, folder) {
  const options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--dest", folder];
  await run(python, ["-m", "pip", "download", ...options, RELEASE.replace("-", "==")]);
  await run("tar", ["-xzf", join(folder, `${RELEASE}.tar.gz`), "-C", folder]);
  return join(folder, RELEASE, "src", "libhdfs");
}

/** @param {string} sources @param {string} javaHome @param {string} draft */
async function compile(sources, javaHome, draft) {
  await mkdir(draft, { recursive: true });
  const names = FOLDERS.map(async (folder) =>
    (await readdir(join(sources, folder)))
      .filter((name) => name.endsWith(".c"))
      .map((name) => join(sources, folder, name)),
  );
  const headers = [
    ...HEADERS.map((folder) => join(sources, folder)),
    join(javaHome, "include"),
    join(javaHome, "include", "linux"),
  ];
  await run("gcc", [
    ...["-shared", "-fPIC", "-O1", "-w"],
    ...headers.map((folder) => `-I${folder}`),
    ...(await Promise.all(names)).flat(),
    ...[`-L${join(javaHome, "lib", "server")}`, "-ljvm", "-lpthread"],
    ...["-o", join(draft, "libhdfs.so")],
  ]);
}

await runMain(async () => console.log(await provideLibhdfs(process.argv[2])));
