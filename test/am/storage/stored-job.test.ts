import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { type JobThere, readJob } from "../../../am/storage/stored-job.ts";
import { FileSystemError, type FileSystemErrorCode } from "../../../src/hadoop/hdfs/errors.ts";
import type { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { formatClusterNodes, type NodeSnapshot } from "../../../src/job/cluster-nodes.ts";
import { readStoredJob, storedJob, storedJobEnvironment } from "../../../src/job/stored/stored-job.ts";
import { aJobFile } from "../../support/job-file.ts";
import { silentLog } from "../../support/silent-log.ts";

const job = aJobFile({ hadoop: { "fs.defaultFS": "hdfs://ns" } });
const content = Buffer.from(JSON.stringify(job));
const { user, stagingUrl, hadoop } = job;
const location = { user, stagingUrl, hadoop };
const nodes: NodeSnapshot[] = [{ nodeId: "n:8041", host: "n", rack: "/r", labels: [] }];
const nodesContent = Buffer.from(formatClusterNodes(nodes));
const stored = storedJob(location, content, nodesContent);

/** Answers each reading of job.json in turn, the last one for ever; and each of nodes.json. */
class Answering extends LocalFileSystem {
  readonly #answers: (Uint8Array | FileSystemErrorCode)[];
  readonly paths: string[] = [];
  nodes: Uint8Array = nodesContent;

  constructor(...answers: readonly (Uint8Array | FileSystemErrorCode)[]) {
    super();
    this.#answers = [...answers];
  }

  override async open(path: string): Promise<Readable> {
    this.paths.push(path);
    if (path.endsWith("/nodes.json")) return Readable.from([this.nodes]);
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
    { ...storedJobEnvironment(stored), TONY_NODES_SHA256: "12" },
  ])("is missed when it is not whole", (environment) => {
    expect(() => readStoredJob(environment)).toThrow(expect.objectContaining({ code: "NOT_IN_A_CONTAINER" }));
  });
});

describe("an ApplicationMaster's job", () => {
  const pauses: number[] = [];
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (event: string) => void warnings.push(event) };

  function read(fileSystem: Answering, of = stored): Promise<JobThere> {
    const locate: FileSystems["locate"] = (url) => ({ fileSystem, path: new URL(url).pathname });
    const pause = async (delayMs: number) => void pauses.push(delayMs);
    return readJob(of, { locate }, log, pause);
  }

  test("is read from the staging folder, and the cluster's nodes from a file of their own", async () => {
    const fileSystem = new Answering(content);
    expect(await read(fileSystem)).toEqual({ job, nodes });
    const folder = "/user/ada/.tony-ts/application_1_0001";
    expect(fileSystem.paths).toEqual([`${folder}/job.json`, `${folder}/nodes.json`]);
  });

  test("has no nodes where the scheduler is our own", async () => {
    const fileSystem = new Answering(content);
    expect(await read(fileSystem, storedJob(location, content))).toEqual({ job, nodes: [] });
    expect(fileSystem.paths).toHaveLength(1);
  });

  test("is refused when its nodes are not those that were submitted", async () => {
    const fileSystem = new Answering(content);
    fileSystem.nodes = Buffer.from("[]");
    await expect(read(fileSystem)).rejects.toMatchObject({
      code: "JOB_FILE_INVALID",
      message: `${stagingUrl}/nodes.json is not the file that was submitted`,
    });
  });

  test("is waited for while the file system is away, and the log says so", async () => {
    expect(await read(new Answering("UNREACHABLE", "CONNECTION_LOST", content))).toEqual({ job, nodes });
    expect(pauses).toEqual([3_000, 3_000]);
    expect(warnings).toEqual(["job-unreadable", "job-unreadable"]);
  });

  test.each(["FILE_NOT_FOUND", "ACCESS_DENIED", "AUTHENTICATION_FAILED"] as const)(
    "is not waited for when the answer is %s",
    async (code) => {
      await expect(read(new Answering(code))).rejects.toMatchObject({ code });
    },
  );

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
