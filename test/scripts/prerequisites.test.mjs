import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { checkPrerequisites, findJava, findPython } from "../../scripts/prerequisites.mjs";

/** @type {string} */
let folder;
/** @type {NodeJS.ProcessEnv} */
let before;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tony-prerequisites-"));
  before = { ...process.env };
});
afterEach(async () => {
  process.env.PATH = before.PATH;
  if (before.JAVA_HOME === undefined) delete process.env.JAVA_HOME;
  else process.env.JAVA_HOME = before.JAVA_HOME;
  await rm(folder, { recursive: true, force: true });
});

/** @param {string} path @param {string} script */
async function program(path, script) {
  await mkdir(join(folder, path, ".."), { recursive: true });
  await writeFile(join(folder, path), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

test("names everything that is missing at once, with the one line that gets it", async () => {
  process.env.PATH = folder;
  await expect(checkPrerequisites(["node", "maven", "network-tools"])).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(
      /^This machine lacks:\n {2}✗ Maven .*\n {2}✗ ip, .*\nOn Debian .*:\n {2}(sudo )?apt-get install -y maven iproute2$/,
    ),
  });
});

test("says which Maven it found", async () => {
  await program("mvn", "echo 'Apache Maven 3.9.9 (abc)'");
  process.env.PATH = folder;
  await expect(checkPrerequisites(["node", "maven"])).resolves.toMatchObject({
    node: process.versions.node,
    maven: { command: "mvn", version: "3.9.9" },
  });
});

test("takes the Java 17 that JAVA_HOME names, by its real home", async () => {
  await program("jdk/bin/java", "echo '    java.home = /real/home'; echo '    java.version = 17.0.99'");
  process.env.JAVA_HOME = join(folder, "jdk");
  expect(await findJava()).toEqual({ home: "/real/home", version: "17.0.99" });
});

test("passes over a Java without its compiler where programs of Java are to be compiled", async () => {
  await program("jre/bin/java", "echo '    java.home = /a/jre'; echo '    java.version = 17.0.99'");
  process.env.JAVA_HOME = join(folder, "jre");
  expect((await findJava())?.home).toBe("/a/jre");
  expect((await findJava("javac"))?.home).not.toBe("/a/jre");
});

test("passes over a Java of another version, in JAVA_HOME and on PATH", async () => {
  await program("jdk/bin/java", "echo '    java.home = /other/home'; echo '    java.version = 25.0.1'");
  process.env.JAVA_HOME = join(folder, "jdk");
  process.env.PATH = join(folder, "jdk", "bin");
  expect((await findJava())?.home).not.toBe("/other/home");
});

test("takes the first Python that can import what is needed", async () => {
  await program("python3", `case "$2" in *absent_module*) exit 1;; *) echo /venv/python3 3.12.1;; esac`);
  process.env.PATH = folder;
  expect(await findPython(["json"])).toEqual({ command: "/venv/python3", version: "3.12.1" });
  expect((await findPython(["absent_module"]))?.command).not.toBe("/venv/python3");
});
