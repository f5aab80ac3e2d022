import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { packageRoot } from "../../src/programs.ts";
import { clusterTool, testCluster } from "../support/cluster.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";
import { type Claim, claims } from "./claims.ts";

const run = promisify(execFile);
const cluster = await testCluster();

/** Rows of `claims.ts` that are typed here, each line with the shown one that it stands for. */
function rows(...places: readonly Claim["where"][]): (readonly [string, Claim["where"], readonly string[]])[] {
  return Object.entries(claims).flatMap(([shown, claim]) =>
    "typed" in claim && places.includes(claim.where)
      ? [[shown, claim.where, claim.typed.length === 0 ? [shown] : claim.typed] as const]
      : [],
  );
}

/** Types a line in a shell. Rejects with all that it printed when it fails. */
async function type(line: string, cwd: string, environment: Readonly<Record<string, string>>): Promise<"exit code 0"> {
  const { HADOOP_CONF_DIR: _cluster, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  await run("bash", ["-ec", line], { cwd, env, maxBuffer: 64 << 20 }).catch((error) => {
    throw new Error(`${line}\nended with ${error.code}:\n${error.stdout}${error.stderr}`);
  });
  return "exit code 0";
}

describe("as README, docs and helps show it, on a cluster:", () => {
  const alice = new Person(cluster);
  const template = path.join(alice.folder, "template");
  let environment: Readonly<Record<string, string>> = {};

  beforeAll(async () => {
    // Programs in containers, which run as another user, look for files in it.
    chmodSync(alice.folder, 0o711);
    expect(await alice.run("init", "hello", "--directory", template)).toMatchObject({ exitCode: 0 });
    const ended = await alice.run("submit", "--conf", path.join(template, "job.xml"));
    const running = await alice.run(
      ...["submit", "--detach", "--conf", alice.job("running", { ...oneTask, "tony.worker.command": "sleep 600" })],
    );
    const idIn = (text: string) => /application_\d+_\d+/.exec(text)?.[0] ?? "";
    environment = { ...alice.environment, ID: idIn(ended.stdout), RUNNING: idIn(running.stdout) };
  });
  afterAll(async () => {
    await alice.leave();
    await sweep(cluster);
  });

  test.each(rows("job", "empty"))("%s", async (_shown, where, lines) => {
    for (const line of lines) {
      const folder = mkdtempSync(path.join(alice.folder, "typed-"));
      chmodSync(folder, 0o711);
      if (where === "job") cpSync(template, folder, { recursive: true });
      expect(await type(line, folder, environment)).toBe("exit code 0");
    }
  });
});

describe("as README, docs and helps show it, in a checkout:", () => {
  let folder = "";

  beforeAll(() => {
    const parent = path.join(packageRoot(), ".cluster");
    mkdirSync(parent, { recursive: true });
    folder = mkdtempSync(path.join(parent, "documents-"));
    // The daemons' users must be able to enter; mkdtemp lets nobody else in.
    chmodSync(folder, 0o755);
  });
  afterAll(async () => {
    await clusterTool(["down", "--delete"], { TONY_CLUSTER_DIR: folder });
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(rows("checkout"))("%s", async (_shown, _where, lines) => {
    const variables = { TONY_CLUSTER_DIR: folder, FOLDER: folder };
    for (const line of lines) expect(await type(line, packageRoot(), variables)).toBe("exit code 0");
  });
});
