import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { hasEnded } from "../../../client/applications/applications.ts";
import { StagingFolder } from "../../../client/staging/staging-folder.ts";
import { sweepStaging } from "../../../client/staging/sweep.ts";
import { HadoopError } from "../../../src/hadoop/errors.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import { aReport } from "../application-report.ts";

const id = "application_1795305600000_0007";
const hourMs = 3_600_000;

describe("sweeping what applications left behind", () => {
  let path: string;
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "sweep-"));
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(path, { recursive: true });
  });

  async function stage(clientFile?: object): Promise<void> {
    const folder = StagingFolder.of({ fileSystem: new LocalFileSystem(), path }, id);
    await folder.fileSystem.mkdirs(folder.path, 0o700);
    if (clientFile !== undefined) await folder.write("client.json", Buffer.from(JSON.stringify(clientFile)));
  }

  /** @param later where the ResourceManager is asked once more */
  async function sweep(first: ApplicationReport | Error, mayGo = true, later = first): Promise<string[]> {
    const answers = [first];
    const ended = async () => {
      const answer = answers.pop() ?? later;
      if (answer instanceof Error) throw answer;
      return hasEnded(answer);
    };
    const options = { hasEnded: ended, mayGo: async () => mayGo };
    await sweepStaging({ fileSystem: new LocalFileSystem(), path }, options, Date.now());
    return await readdir(path);
  }

  const unknown = new HadoopError("unknown", { code: "APPLICATION_NOT_FOUND" });

  test.each(["FINISHED", "FAILED", "KILLED"] as const)(
    "removes the folder of an application that is %s",
    async (state) => {
      await stage();
      expect(await sweep(aReport({ state }))).toEqual([]);
    },
  );

  test("keeps one that is needed although its application has ended", async () => {
    await stage();
    expect(await sweep(aReport({ state: "FINISHED" }), false)).toEqual([id]);
  });

  test("keeps what a process of another user may be submitting", async () => {
    jest.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("not permitted"), { code: "EPERM" });
    });
    await stage({ submitter: { host: hostname(), pid: 1 } });
    expect(await sweep(unknown)).toEqual([id]);
  });

  test.each(["NEW", "ACCEPTED", "RUNNING"] as const)("keeps the folder of one that is %s", async (state) => {
    await stage();
    expect(await sweep(aReport({ state }))).toEqual([id]);
  });

  test("keeps everything while the ResourceManager cannot be asked", async () => {
    await stage();
    expect(await sweep(new HadoopError("away", { code: "RPC_CONNECT_FAILED" }))).toEqual([id]);
  });

  test("keeps what is being submitted: its process is at work on this machine", async () => {
    await stage({ submitter: { host: hostname(), pid: process.pid } });
    expect(await sweep(unknown)).toEqual([id]);
  });

  test("removes what a submitter left that died before it submitted", async () => {
    const { pid } = spawnSync("true");
    await stage({ submitter: { host: hostname(), pid } });
    expect(await sweep(unknown)).toEqual([]);
  });

  test("keeps what was handed in while it was looked at, and whose submitter has ended by then", async () => {
    const { pid } = spawnSync("true");
    await stage({ submitter: { host: hostname(), pid } });
    expect(await sweep(unknown, true, aReport({ state: "ACCEPTED" }))).toEqual([id]);
    expect(await sweep(unknown, true, new HadoopError("away", { code: "RPC_CONNECT_FAILED" }))).toEqual([id]);
    expect(await sweep(unknown, true, aReport({ state: "FINISHED" }))).toEqual([]);
  });

  test.each<[string, object | undefined]>([
    ["another machine may be submitting", { submitter: { host: "elsewhere", pid: 1 } }],
    [
      "a process of this machine is submitting, or another that has its number now",
      { submitter: { host: hostname(), pid: process.pid } },
    ],
    ["somebody may be submitting who does not say so", undefined],
  ])("leaves what %s alone for an hour", async (_who, clientFile) => {
    await stage(clientFile);
    const made = (agoMs: number) => utimes(join(path, id), new Date(), new Date(Date.now() - agoMs));
    expect(await sweep(unknown)).toEqual([id]);
    await made(hourMs - 60_000);
    expect(await sweep(unknown)).toEqual([id]);
    await made(hourMs + 1_000);
    expect(await sweep(unknown)).toEqual([]);
  });

  test("removes what it can where it cannot decide of another one, and says which", async () => {
    const root = { fileSystem: new LocalFileSystem(), path };
    const others = ["application_1_0008", "application_1_0009"];
    for (const name of others) await root.fileSystem.mkdirs(join(path, name), 0o700);
    const mayGo = async ({ applicationId }: StagingFolder) => {
      if (applicationId === others[0]) throw new Error("HDFS is in safe mode");
      return true;
    };
    expect(await sweepStaging(root, { hasEnded: async () => true, mayGo }, Date.now())).toEqual([others[1]]);
    expect(await readdir(path)).toEqual([others[0]]);
  });

  test("keeps the results and checkpoints of a job whose place for them is the folder of staging folders", async () => {
    await stage({ submitter: { host: "elsewhere", pid: 1 } });
    const fileSystem = new LocalFileSystem();
    await fileSystem.create(join(path, id, "worker-0", "model.pt"), Buffer.from("model"), { permission: 0o644 });
    await fileSystem.create(join(path, id, "journal", "1"), Buffer.from("{}"), { permission: 0o644 });
    expect(await sweep(aReport({ state: "FINISHED" }))).toEqual([id]);
    expect(await readdir(join(path, id))).toEqual(["worker-0"]);
    expect(await readdir(join(path, id, "worker-0"))).toEqual(["model.pt"]);
  });

  test("touches nothing but applications' folders", async () => {
    await new LocalFileSystem().mkdirs(join(path, "cache"), 0o711);
    expect(await sweep(aReport({ state: "FINISHED" }))).toEqual(["cache"]);
  });
});
