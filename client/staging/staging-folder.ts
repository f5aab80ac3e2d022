import path from "node:path/posix";
import { buffer } from "node:stream/consumers";
import { ExitCode, UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { createReadable, type ReadableFile } from "../../src/hadoop/hdfs/create-readable.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileStatus, FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import type { FileSystems, LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { DEFAULT_STAGING } from "../../src/job/build/folder-clashes.ts";
import { removeStaged } from "../../src/job/stored/staged-folder.ts";

/** Others may pass through, so that the runtime in the cache below can be shared, but they may not list the folder. */
const passThrough = 0o711;

/**
 * The folder above the applications' staging folders, created if it is missing: `tony.staging-dir`, or `.tony-ts` in the user's
 * home.
 * @throws UserError naming tony.staging-dir when there is no home, or when the folder cannot be created
 */
export async function stagingRoot(
  fileSystems: FileSystems,
  settings: { readonly stagingDir?: string | undefined },
): Promise<LocatedPath> {
  const root =
    settings.stagingDir === undefined ? await homeStaging(fileSystems) : fileSystems.locate(settings.stagingDir);
  try {
    await root.fileSystem.mkdirs(root.path, passThrough);
  } catch (error) {
    if (!hasCode(error, "ACCESS_DENIED", "FILE_EXISTS", "NOT_A_DIRECTORY")) throw error;
    throw new UserError(
      `${errorMessage(error)}\nThe job's files cannot be put there: set tony.staging-dir to a folder that you may write to`,
      { code: "STAGING_NOT_WRITABLE", exitCode: ExitCode.cluster, cause: error },
    );
  }
  return root;
}

async function homeStaging(fileSystems: FileSystems): Promise<LocatedPath> {
  const { fileSystem, path: home } = await fileSystems.home();
  try {
    await fileSystem.stat(home);
  } catch (error) {
    if (!hasCode(error, "FILE_NOT_FOUND")) throw error;
    throw new UserError(
      `You have no home folder: ${fileSystem.uri}${home} does not exist. Set tony.staging-dir to a folder that you may write to, ` +
        `or ask an administrator: hdfs dfs -mkdir ${home} && hdfs dfs -chown ${path.basename(home)} ${home}`,
      { code: "NO_HOME", exitCode: ExitCode.cluster, cause: error },
    );
  }
  return { fileSystem, path: path.join(home, DEFAULT_STAGING) };
}

/** The files of one application while it lives: only its user may read them (folder 700, files 600). */
export class StagingFolder {
  readonly applicationId: string;
  readonly fileSystem: FileSystem;
  readonly path: string;
  /** Promises that resolve when the written files are closed. */
  readonly #closing: Promise<void>[] = [];

  private constructor(applicationId: string, located: LocatedPath) {
    this.applicationId = applicationId;
    this.fileSystem = located.fileSystem;
    this.path = located.path;
  }

  /** The folder of an application, whether it exists or not. */
  static of(root: LocatedPath, applicationId: string): StagingFolder {
    return new StagingFolder(applicationId, { fileSystem: root.fileSystem, path: path.join(root.path, applicationId) });
  }

  /**
   * Creates the folder.
   * @throws UserError when somebody else created it first and could read or change its files
   */
  static async create(root: LocatedPath, applicationId: string, user: string): Promise<StagingFolder> {
    const folder = StagingFolder.of(root, applicationId);
    await folder.fileSystem.mkdirs(folder.path, 0o700);
    const { owner, permission } = await folder.fileSystem.stat(folder.path);
    if (owner !== user || (permission & 0o077) !== 0) {
      throw new UserError(
        `${folder.url} belongs to ${owner} with permissions ${permission.toString(8)}, not to ${user} alone: ` +
          "set tony.staging-dir to a folder where others cannot make one of that name",
        { code: "STAGING_NOT_OURS", exitCode: ExitCode.cluster },
      );
    }
    return folder;
  }

  /** The applications with a folder below a staging root. */
  static async list(root: LocatedPath): Promise<StagingFolder[]> {
    const entries = await root.fileSystem.list(root.path);
    return entries
      .filter((entry) => entry.type === "DIRECTORY" && /^application_\d+_\d+$/.test(path.basename(entry.path)))
      .map((entry) => StagingFolder.of(root, path.basename(entry.path)));
  }

  /** With scheme and authority, for other programs. */
  get url(): string {
    return this.fileSystem.uri + this.path;
  }

  /** Writes a file, replacing one of that name, and waits until it is closed: then its times are final. */
  async write(name: string, content: Uint8Array): Promise<FileStatus> {
    const file = path.join(this.path, name);
    await this.fileSystem.create(file, content, { permission: 0o600, overwrite: true });
    return await this.fileSystem.stat(file);
  }

  /**
   * Writes files concurrently, and resolves as soon as all of them can be read. When one fails, `remove` waits for the others that
   * are still being written.
   */
  async writeAll(files: Readonly<Record<string, Uint8Array>>): Promise<void> {
    const writes = Object.entries(files).map(([name, content]) => this.#writeReadable(name, content));
    this.#closing.push(...writes.map((write) => write.then(({ closed }) => closed).catch(() => undefined)));
    await Promise.all(writes);
  }

  #writeReadable(name: string, content: Uint8Array): Promise<ReadableFile> {
    return createReadable(this.fileSystem, path.join(this.path, name), content, 0o600);
  }

  /** Replaces a file atomically: a concurrent reader gets either version in full. */
  async replace(name: string, content: Uint8Array): Promise<void> {
    const draft = path.join(this.path, `${name}.new`);
    await this.fileSystem.create(draft, content, { permission: 0o600, overwrite: true });
    await this.fileSystem.rename(draft, path.join(this.path, name), { overwrite: true });
  }

  /** When a file was written, milliseconds since the epoch. @throws FileSystemError FILE_NOT_FOUND */
  async writtenAtMs(name: string): Promise<number> {
    return (await this.fileSystem.stat(path.join(this.path, name))).modificationTimeMs;
  }

  /** A file's content. @throws FileSystemError FILE_NOT_FOUND */
  async read(name: string): Promise<Buffer> {
    return buffer(await this.fileSystem.open(path.join(this.path, name)));
  }

  /** Waits for writes in progress, which would recreate the folder. @returns whether there was a folder */
  async remove(): Promise<boolean> {
    await Promise.all(this.#closing);
    return await removeStaged(this.fileSystem, this.path);
  }
}
