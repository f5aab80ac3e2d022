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

beforeAll(async () => {
  // Within the package, where `tony-ts/hadoop` is itself.
  await mkdir(path.join(checkout, "dist"), { recursive: true });
  folder = await mkdtemp(path.join(checkout, "dist/readme-"));
  // Containers may run as another user.
  await chmod(folder, 0o755);
  for (const [name, code] of examples) await writeFile(path.join(folder, name), code);
});
afterAll(async () => {
  client.close();
  await rm(folder, { recursive: true });
});

/** Runs an example as alice. @returns what it printed */
async function run(name: string, ...parameters: readonly string[]): Promise<string> {
  const environment = { HADOOP_CONF_DIR: cluster.confDir, HADOOP_USER_NAME: ClusterUser.alice, PWD: folder };
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
    const mark = path.join(folder, "mark");
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
