import { basename, join } from "node:path/posix";
import type { Configuration } from "../conf/configuration.ts";
import type { FileSystem } from "../hdfs/file-system.ts";
import type { FileSystems } from "../hdfs/file-systems.ts";
import { listIfThere } from "../hdfs/if-there.ts";
import type { ApplicationId, ContainerId } from "./records.ts";
import { ByteReader } from "./tfile/byte-reader.ts";
import { LogFormatError, namingDamage } from "./tfile/errors.ts";
import { readJavaUtf } from "./tfile/primitives.ts";
import { readTFile } from "./tfile/tfile.ts";

/** What one NodeManager uploaded; with rolling aggregation a node has several. */
export interface NodeLogFile {
  readonly fileSystem: FileSystem;
  readonly path: string;
  /** `host_port`, as it names its file. */
  readonly node: string;
  readonly lengthBytes: number;
  readonly modificationTimeMs: number;
}

/** One file of one container. */
export interface AggregatedLog {
  readonly containerId: ContainerId;
  /** `stdout`, `am.log` */
  readonly name: string;
  readonly lengthBytes: number;
  readonly node: string;
  /** Its bytes, once, before the next log is asked for; what is not read is passed over. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** Keys of records that are not containers' (AggregatedLogFormat.RESERVED_KEYS). */
const reservedKeys: ReadonlySet<string> = new Set(["APPLICATION_ACL", "APPLICATION_OWNER", "VERSION"]);

/** Whether NodeManagers upload logs at all. */
export function logsAreAggregated(configuration: Configuration): boolean {
  return configuration.getBoolean("yarn.log-aggregation-enable", false);
}

/**
 * Where an application's logs can be, newest layout first (org.apache.hadoop.yarn.logaggregation.LogAggregationUtils):
 * `<dir>/<user>/bucket-logs-tfile/<id mod 10000>/<application>` since 3.3, `…/logs-tfile/…` before, `…/logs/…` before that.
 */
export function logFolders(configuration: Configuration, user: string, applicationId: ApplicationId): string[] {
  const suffix = configuration.get("yarn.nodemanager.remote-app-log-dir-suffix") ?? "logs";
  const suffixOfTFile = configuration.get("yarn.log-aggregation.TFile.remote-app-log-dir-suffix") ?? `${suffix}-tfile`;
  const bucket = String(Number(applicationId.split("_").at(-1)) % 10_000).padStart(4, "0");
  return [
    join(`bucket-${suffixOfTFile}`, bucket, applicationId),
    join(suffixOfTFile, applicationId),
    join(suffix, applicationId),
  ].map((folder) => `${userLogFolder(configuration, user)}/${folder}`);
}

/** The folder above all of a user's logs: a path on the default file system, or a URI. */
export function userLogFolder(configuration: Configuration, user: string): string {
  const directory =
    configuration.get("yarn.log-aggregation.TFile.remote-app-log-dir") ??
    configuration.get("yarn.nodemanager.remote-app-log-dir") ??
    "/tmp/logs";
  return `${directory.replace(/\/+$/, "")}/${user}`;
}

/**
 * What the nodes have uploaded of an application's logs. Empty while nothing is there: NodeManagers upload after the application's
 * end, each on its own, which takes seconds.
 */
export async function findAggregatedLogs(
  fileSystems: FileSystems,
  configuration: Configuration,
  user: string,
  applicationId: ApplicationId,
): Promise<NodeLogFile[]> {
  const found: NodeLogFile[] = [];
  for (const folder of logFolders(configuration, user, applicationId)) {
    const { fileSystem, path } = fileSystems.locate(folder);
    for (const { path: file, type, lengthBytes, modificationTimeMs } of await listIfThere(fileSystem, path)) {
      // Uploads under way end in .tmp.
      if (type !== "FILE" || file.endsWith(".tmp")) continue;
      found.push({ fileSystem, path: file, node: basename(file), lengthBytes, modificationTimeMs });
    }
  }
  return found;
}

/**
 * The logs in a node's file, streamed in the order they were written.
 * @param wanted which containers; the others are passed over
 * @throws LogFormatError naming the file when it is damaged
 */
export function readAggregatedLogs(
  file: NodeLogFile,
  wanted: (containerId: ContainerId) => boolean = () => true,
): AsyncGenerator<AggregatedLog> {
  return namingDamage(file.path, readLogs(file, wanted));
}

async function* readLogs(
  file: NodeLogFile,
  wanted: (containerId: ContainerId) => boolean,
): AsyncGenerator<AggregatedLog> {
  for await (const { key, value } of readTFile(file.fileSystem, file.path, file.lengthBytes)) {
    const containerId = await readJavaUtf(new ByteReader(single(key)));
    if (reservedKeys.has(containerId) || !wanted(containerId)) continue;
    // AggregatedLogFormat.LogValue.write: name, length as text, content; as often as there are files.
    while (!(await value.atEnd())) {
      const name = await readJavaUtf(value);
      const lengthText = await readJavaUtf(value);
      const lengthBytes = Number(lengthText);
      if (!/^\d+$/.test(lengthText) || !Number.isSafeInteger(lengthBytes)) {
        throw new LogFormatError(`${file.path}: "${lengthText}" is no length of ${name} of ${containerId}`);
      }
      const content = new LogContent(file.path, value, lengthBytes);
      yield { containerId, name, lengthBytes, node: file.node, content };
      await content.skipRest();
    }
  }
}

/** A log's bytes out of the record's. */
class LogContent implements AsyncIterable<Uint8Array> {
  readonly #path: string;
  readonly #value: ByteReader;
  #left: number;

  constructor(path: string, value: ByteReader, lengthBytes: number) {
    this.#path = path;
    this.#value = value;
    this.#left = lengthBytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const piece of namingDamage(this.#path, this.#value.take(this.#left))) {
      this.#left -= piece.length;
      yield piece;
    }
  }

  skipRest(): Promise<void> {
    const left = this.#left;
    this.#left = 0;
    return this.#value.skip(left);
  }
}

async function* single(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
