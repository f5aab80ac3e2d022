/** The examples of src/hadoop/README.md, as they stand there, on the real cluster. */
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { applicationIn, resourceManagerOf } from "../support/yarn.ts";

const checkout = path.resolve(import.meta.dirname, "../..");
const page = await readFile(path.join(checkout, "src/hadoop/README.md"), "utf8");
/** Each block of code begins with the name of its file. */
const examples = new Map(
  [...page.matchAll(/^```js\n\/\/ (\S+)\n(.*?)^```$/gms)].map(([, name = "", code = ""]) => [name, code] as const),
);
const cluster = await testCluster();
const client = resourceManagerOf(cluster);
let folder: string;
/** Of what containers run: their user may enter it, and often not the checkout. */
let containerFolder: string;

beforeAll(async () => {
  // Within the package, where `tony-ts/hadoop` is itself.
  await mkdir(path.join(checkout, "dist"), { recursive: true });
  folder = await mkdtemp(path.join(checkout, "dist/readme-"));
  for (const [name, code] of examples) await writeFile(path.join(folder, name), code);
  containerFolder = await mkdtemp(path.join(path.dirname(cluster.state), "readme-"));
  await chmod(containerFolder, 0o755);
  await bundle("am.mjs");
});
afterAll(async () => {
  client.close();
  for (const made of [folder, containerFolder]) await rm(made, { recursive: true });
});

/** An example with the library in one file, for a container. */
async function bundle(name: string): Promise<void> {
  // What CommonJS among the dependencies asks for.
  const banner = `import { createRequire as own } from "node:module"; const require = own(import.meta.url);`;
  const native = ["--external:koffi", "--external:kerberos"];
  const options = ["--bundle", "--platform=node", "--format=esm", ...native, `--banner:js=${banner}`];
  const words = [name, ...options, `--outfile=${path.join(containerFolder, name)}`];
  await promisify(execFile)(path.join(checkout, "node_modules/.bin/esbuild"), words, { cwd: folder });
}

/** Runs an example as alice. @returns what it printed */
async function run(name: string, ...parameters: readonly string[]): Promise<string> {
  const environment = { HADOOP_CONF_DIR: cluster.confDir, HADOOP_USER_NAME: ClusterUser.alice, PWD: containerFolder };
  const { stdout } = await promisify(execFile)(process.execPath, [name, ...parameters], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...environment },
  });
  return stdout.trim();
}

/** Statements, without imports, empty lines and what closes a block. */
function lengthOf(name: string): number {
  const lines = (examples.get(name) ?? "").split("\n");
  return lines.filter((line) => !/^(import .*|\s*[}\])]*;?)$/.test(line)).length;
}

describe("src/hadoop/README.md", () => {
  test("shows short programs", () => {
    expect([...examples.keys()].sort()).toEqual(["am.mjs", "files.mjs", "list.mjs", "safe-mode.mjs", "submit.mjs"]);
    for (const name of examples.keys()) expect(lengthOf(name)).toBeLessThanOrEqual(name === "am.mjs" ? 30 : 10);
  });

  test("writes and reads a file", async () => {
    expect(await run("files.mjs")).toBe("hello");
  });

  test("submits a command, which its ApplicationMaster runs, and lists it meanwhile", async () => {
    const mark = path.join(containerFolder, "mark");
    const id = await run("submit.mjs", `until [ -e ${mark} ]; do sleep 0.1; done; exit 0`);
    expect(await run("list.mjs")).toMatch(new RegExp(`^${id} (ACCEPTED|RUNNING) command$`, "m"));
    await applicationIn(client, id, "RUNNING");
    await writeFile(mark, "");
    expect(await applicationIn(client, id, "FINISHED")).toMatchObject({
      finalStatus: "SUCCEEDED",
      diagnostics: "the command exited with 0",
    });
  });

  test("says of a command that fails how it ended", async () => {
    const id = await run("submit.mjs", "exit 7");
    expect(await applicationIn(client, id, "FINISHED")).toMatchObject({
      finalStatus: "FAILED",
      diagnostics: "the command exited with 7",
    });
  });

  test("asks a NameNode in a protocol that the library does not have", async () => {
    expect(await run("safe-mode.mjs", new URL(cluster.endpoints.hdfs).host)).toBe("false");
  });
});
