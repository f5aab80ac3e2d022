import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { readJob } from "../../am/stored-job.ts";
import { FileSystemError, type FileSystemErrorCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { LocalFileSystem } from "../../src/hadoop/hdfs/local.ts";
import type { JobFile } from "../../src/job/job-file.ts";
import { readStoredJob, storedJob, storedJobEnvironment } from "../../src/job/stored-job.ts";
import { aJobSpec } from "../support/job-spec.ts";
import { silentLog } from "../support/silent-log.ts";

const job: JobFile = {
  jobFileVersion: 1,
  build: "test",
  applicationId: "application_1_0001",
  user: "ada",
  spec: aJobSpec({}),
  stagingUrl: "hdfs://ns/user/ada/.tony-ts/application_1_0001",
  files: { master: [], all: [], byRole: {} },
  node: "node",
  hadoop: { "fs.defaultFS": "hdfs://ns" },
  nodes: [],
  sharedLabels: [],
  resourceTypes: [],
};
const content = Buffer.from(JSON.stringify(job));
const { user, stagingUrl, hadoop } = job;
const stored = storedJob({ user, stagingUrl, hadoop }, content);

/** Answers each reading in turn, the last one for ever. */
class Answering extends LocalFileSystem {
  readonly #answers: (Uint8Array | FileSystemErrorCode)[];
  readonly paths: string[] = [];

  constructor(...answers: readonly (Uint8Array | FileSystemErrorCode)[]) {
    super();
    this.#answers = [...answers];
  }

  override async open(path: string): Promise<Readable> {
    this.paths.push(path);
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
    if (answer instanceof Uint8Array) return Readable.from([answer]);
    throw new FileSystemError("no", { code: answer ?? "FILE_NOT_FOUND", path });
  }
}

describe("what an ApplicationMaster is told of its job", () => {
  test("comes back from its environment, wherever the staging folder is", () => {
    expect(readStoredJob(storedJobEnvironment(stored))).toEqual(stored);
  });

  test.each([
    {},
    { ...storedJobEnvironment(stored), TONY_STAGING: "" },
    { ...storedJobEnvironment(stored), TONY_JOB_SHA256: "12" },
  ])("is missed when it is not whole", (environment) => {
    expect(() => readStoredJob(environment)).toThrow(expect.objectContaining({ code: "NOT_IN_A_CONTAINER" }));
  });
});

describe("an ApplicationMaster's job", () => {
  const pauses: number[] = [];
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (event: string) => void warnings.push(event) };

  function read(fileSystem: Answering): Promise<JobFile> {
    const locate: FileSystems["locate"] = (url) => ({ fileSystem, path: new URL(url).pathname });
    const pause = async (delayMs: number) => void pauses.push(delayMs);
    return readJob(stored, { locate }, log, pause);
  }

  test("is read from the staging folder", async () => {
    const fileSystem = new Answering(content);
    expect(await read(fileSystem)).toEqual(job);
    expect(fileSystem.paths).toEqual(["/user/ada/.tony-ts/application_1_0001/job.json"]);
  });

  test("is waited for while the file system is away, and the log says so", async () => {
    expect(await read(new Answering("UNREACHABLE", "CONNECTION_LOST", content))).toEqual(job);
    expect(pauses).toEqual([3_000, 3_000]);
    expect(warnings).toEqual(["job-unreadable", "job-unreadable"]);
  });

  test.each(["FILE_NOT_FOUND", "ACCESS_DENIED"] as const)("is not waited for when the answer is %s", async (code) => {
    await expect(read(new Answering(code))).rejects.toMatchObject({ code });
  });

  test.each([content.subarray(0, -1), Buffer.from(content.toString().replace('"test"', '"best"'))])(
    "is refused when it is not what was submitted",
    async (other) => {
      await expect(read(new Answering(other))).rejects.toMatchObject({
        code: "JOB_FILE_INVALID",
        message: `${stagingUrl}/job.json is not the file that was submitted`,
      });
    },
  );
});
