import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { localFiles, localMasterContainerId } from "../../../client/applications/local-folder.ts";
import {
  localFile,
  localJobFile,
  localMasterFolder,
  startLocalMaster,
} from "../../../client/submission/local-master.ts";
import { makeIdentity } from "../../../src/api/identity.ts";
import { Listing } from "../../../src/job/feeds/listing.ts";
import { jobFileName } from "../../../src/job/stored/stored-job.ts";
import { aJobSpec } from "../../support/job-spec.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "local-master-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("an ApplicationMaster of this machine has the client's variables, before those the job's, before both its own", async () => {
  const id = "local_1795305600000_0001";
  const program = path.join(folder, "program.cjs");
  writeFileSync(program, "console.log(JSON.stringify({ ...process.env, cwd: process.cwd() }))");
  const spec = aJobSpec({ containerEnvironment: { SHARED: "the job's", USER: "somebody" } });
  const master = startLocalMaster({
    ...{ folder, program, identity: makeIdentity(id), secrets: new Map([["KEY", "secret"]]), detached: false },
    job: localJobFile({ id, user: "ada", spec, folder, all: [] }),
    environment: { PATH: process.env.PATH, OWN: "the client's", SHARED: "the client's", CONTAINER_ID: "another" },
  });
  const [code] = await once(master, "exit");
  const logs = path.join(localMasterFolder(folder), "logs");
  expect([code, readFileSync(path.join(logs, "stderr"), "utf8")]).toEqual([0, ""]);
  const has: unknown = JSON.parse(readFileSync(path.join(logs, "stdout"), "utf8"));
  expect(has).toMatchObject({
    ...{ OWN: "the client's", SHARED: "the job's", USER: "ada", CONTAINER_ID: localMasterContainerId(id) },
    ...{ LOG_DIRS: logs, LOCAL_DIRS: path.join(folder, "containers"), cwd: localMasterFolder(folder) },
  });
  // What its containers are given is a file that its owner alone may read, and no variable.
  expect(JSON.stringify(has)).not.toContain("secret");
  const tokens = path.join(localMasterFolder(folder), localFiles.tokens);
  expect(readFileSync(tokens, "latin1")).toContain("secret");
  for (const file of [tokens, path.join(folder, jobFileName)]) expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(localMasterFolder(folder)).mode & 0o777).toBe(0o700);
});

test("the file of a job of this machine has what its ApplicationMaster cannot ask a cluster for", () => {
  const spec = aJobSpec();
  const feeds = { train: Listing.of([{ path: "file:///rows.txt", length: 4, modifiedMs: 5 }]) };
  const all = [localFile("job", import.meta.filename, "FILE")];
  const parts = { id: "local_1_0001", user: "ada", spec, folder: "/jobs/1", all, hadoop: { "dfs.nameservices": "ns" } };
  expect(localJobFile({ ...parts, byRole: { worker: all }, feeds })).toMatchObject({
    ...{ jobFileVersion: 1, applicationId: "local_1_0001", user: "ada", spec, stagingUrl: "file:///jobs/1" },
    ...{ files: { master: [], all, byRole: { worker: all } }, node: process.execPath },
    ...{ hadoop: { "dfs.nameservices": "ns" }, sharedLabels: [], resourceTypes: [], feeds },
  });
});
