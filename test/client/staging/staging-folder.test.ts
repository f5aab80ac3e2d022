import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { StagingFolder, stagingRoot } from "../../../client/staging/staging-folder.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import type { FileStatus } from "../../../src/hadoop/hdfs/file-system.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";

const user = userInfo().username;
const id = "application_1_0001";
const job = Buffer.from("{}");

/** Files that can be read before their writing is confirmed. */
class SlowToClose extends LocalFileSystem {
  confirm: () => void = () => undefined;
  /** Folders that were to be removed, or looked into for that. */
  readonly entered: string[] = [];
  readonly #confirmed = new Promise<void>((resolve) => {
    this.confirm = resolve;
  });

  override async create(...args: Parameters<LocalFileSystem["create"]>): Promise<void> {
    await super.create(...args);
    await this.#confirmed;
  }
  override async list(folder: string): Promise<FileStatus[]> {
    this.entered.push(folder);
    return await super.list(folder);
  }
  override async delete(...args: Parameters<LocalFileSystem["delete"]>): Promise<boolean> {
    this.entered.push(args[0]);
    return await super.delete(...args);
  }
}

let root: string;
const at = (...names: string[]) => path.join(root, ...names);
const below = (fileSystem = new LocalFileSystem()) => ({ fileSystem, path: root });
const create = (fileSystem?: LocalFileSystem) => StagingFolder.create(below(fileSystem), id, user);
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "tony-staging-"));
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(root, { recursive: true });
});

describe("an application's staging folder", () => {
  test("is its user's alone, with all that is in it", async () => {
    const folder = await create();
    expect(folder.url).toBe(`file://${at(id)}`);
    expect(await folder.write("a", job)).toMatchObject({ path: at(id, "a"), lengthBytes: 2, permission: 0o600 });
    await folder.writeAll({ b: job, c: job });
    // An earlier try may have left its draft.
    await folder.write("b.new", Buffer.from("half"));
    await folder.replace("b", Buffer.from("[]"));
    await folder.replace("c", job);
    await folder.write("a", job);
    expect(statSync(at(id)).mode & 0o777).toBe(0o700);
    expect(readdirSync(at(id)).map((name) => [name, statSync(at(id, name)).mode & 0o777])).toEqual(
      ["a", "b", "c"].map((name) => [name, 0o600]),
    );
    expect((await folder.read("b")).toString()).toBe("[]");
    expect(await folder.writtenAtMs("b")).toBe(Math.floor(statSync(at(id, "b")).mtimeMs));
  });

  test("says that a file could not be replaced", async () => {
    const refusal = new Error("quota exceeded");
    jest.spyOn(LocalFileSystem.prototype, "rename").mockRejectedValue(refusal);
    const folder = await create();
    await expect(folder.replace("b", job)).rejects.toBe(refusal);
  });

  test.each([0o750, 0o701])("is not one that others could look into, or change: %o", async (mode) => {
    mkdirSync(at(id));
    chmodSync(at(id), mode);
    await expect(create()).rejects.toMatchObject({
      code: "STAGING_NOT_OURS",
      exitCode: 3,
      message: expect.stringMatching(new RegExp(` with permissions ${mode.toString(8)}, .* set tony\\.staging-dir `)),
    });
  });

  test("is not one that somebody else has made", async () => {
    await expect(StagingFolder.create(below(), id, "somebody-else")).rejects.toMatchObject({
      code: "STAGING_NOT_OURS",
    });
  });

  test("is removed when what is still being written there is closed, which would make it anew", async () => {
    const fileSystem = new SlowToClose();
    const folder = await create(fileSystem);
    await folder.writeAll({ "job.json": job });
    const removed = folder.remove();
    await new Promise((resolve) => setImmediate(resolve));
    expect(fileSystem.entered).toEqual([]);
    fileSystem.confirm();
    expect(await removed).toBe(true);
    expect(readdirSync(root)).toEqual([]);
    expect(await folder.remove()).toBe(false);
  });

  test("is removed for good although a write is under way when another has failed", async () => {
    const refusal = new Error("quota exceeded");
    class NearlyFull extends SlowToClose {
      override async create(...args: Parameters<LocalFileSystem["create"]>): Promise<void> {
        if (args[0].endsWith("job.json")) throw refusal;
        await super.create(...args);
      }
    }
    const fileSystem = new NearlyFull();
    const folder = await create(fileSystem);
    await expect(folder.writeAll({ "job.json": job, "client.json": job })).rejects.toBe(refusal);
    const removed = folder.remove();
    fileSystem.confirm();
    await removed;
    expect(readdirSync(root)).toEqual([]);
  });

  test("is found among others by its name", async () => {
    await create();
    for (const name of ["cache", `old-${id}`, `${id}.bak`]) mkdirSync(at(name));
    writeFileSync(at("application_1_0002"), "");
    expect((await StagingFolder.list(below())).map(({ applicationId }) => applicationId)).toEqual([id]);
  });
});

describe("the folder above", () => {
  const fileSystems = new FileSystems({
    configuration: new Configuration(),
    credentials: simpleCredentials({ name: user }),
  });

  test("is made, and lets others pass through without a look", async () => {
    await stagingRoot(fileSystems, { stagingDir: `file://${at("staging")}` });
    expect(statSync(at("staging")).mode & 0o777).toBe(0o711);
  });

  /** Whose home is below the test's folder. */
  const ofAda = () =>
    new FileSystems({
      configuration: new Configuration().withValues({
        "fs.defaultFS": "viewfs://v",
        "fs.viewfs.mounttable.v.linkFallback": `file://${root}`,
      }),
      credentials: simpleCredentials({ name: "ada" }),
    });

  test("is in the user's home where none is named", async () => {
    mkdirSync(at("user", "ada"), { recursive: true });
    expect((await stagingRoot(ofAda(), {})).path).toBe(at("user", "ada", ".tony-ts"));
    expect(readdirSync(at("user", "ada"))).toEqual([".tony-ts"]);
  });

  test.each(["stat", "mkdirs"] as const)("is not known to be missing where nobody answers: %s", async (call) => {
    const silence = new FileSystemError("no answer", { code: "TIMEOUT" });
    mkdirSync(at("user", "ada"), { recursive: true });
    jest.spyOn(LocalFileSystem.prototype, call).mockRejectedValue(silence);
    await expect(stagingRoot(ofAda(), {})).rejects.toBe(silence);
  });

  test("cannot be made where there is no home, which is told with the key that mends it", async () => {
    await expect(stagingRoot(ofAda(), {})).rejects.toMatchObject({
      name: "UserError",
      code: "NO_HOME",
      exitCode: 3,
      cause: expect.objectContaining({ code: "FILE_NOT_FOUND" }),
      message: expect.stringMatching(
        /user\/ada does not exist\. Set tony\.staging-dir .* hdfs dfs -mkdir (\S+) && hdfs dfs -chown ada \1$/,
      ),
    });
  });

  test("is named where it cannot be made", async () => {
    writeFileSync(at("file"), "");
    await expect(stagingRoot(fileSystems, { stagingDir: `file://${at("file", "staging")}` })).rejects.toMatchObject({
      code: "STAGING_NOT_WRITABLE",
      exitCode: 3,
      cause: expect.any(FileSystemError),
      message: expect.stringContaining("set tony.staging-dir"),
    });
  });
});
