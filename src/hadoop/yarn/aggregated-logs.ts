import { basename, join } from "node:path/posix";
import type { Configuration } from "../conf/configuration.ts";
import type { FileSystems } from "../hdfs/file-systems.ts";
import { ifThere, listIfThere } from "../hdfs/if-there.ts";
import { LogFormatError, namingDamage } from "./log-files/errors.ts";
import {
  findIndex,
  indexedLogs,
  indexedTailBytes,
  isIndexedFile,
  readOpenUpload,
  tellsOfUpload,
} from "./log-files/indexed-file.ts";
import { type AggregatedLog, type NodeLogFile, readPart } from "./log-files/node-log-file.ts";
import { isTFile, tfileTailBytes } from "./log-files/tfile.ts";
import { tfileLogs } from "./log-files/tfile-logs.ts";
import type { ApplicationId, ContainerId } from "./records.ts";

/** A format in which NodeManagers can store logs. */
export interface LogFormat {
  /** The site's name for it, from which its keys and folders are derived. */
  readonly name: string;
  readonly kind: "TFile" | "indexed file" | "unknown";
  /** The class that writes it; undefined where the site names none. */
  readonly className: string | undefined;
}

const kinds: Readonly<Record<string, LogFormat["kind"]>> = {
  LogAggregationTFileController: "TFile",
  LogAggregationIndexedFileController: "indexed file",
};

/** The formats of `yarn.log-aggregation.file-formats`: NodeManagers write the first. */
export function logFormats(configuration: Configuration): LogFormat[] {
  return configuration.getList("yarn.log-aggregation.file-formats").map((name) => {
    const className = configuration.get(`yarn.log-aggregation.file-controller.${name}.class`);
    return { name, kind: kinds[className?.split(".").at(-1) ?? ""] ?? "unknown", className };
  });
}

/** Whether NodeManagers upload logs at all. */
export function logsAreAggregated(configuration: Configuration): boolean {
  return configuration.getBoolean("yarn.log-aggregation-enable", false);
}

/**
 * The possible locations of an application's logs, for each format and every layout
 * (org.apache.hadoop.yarn.logaggregation.LogAggregationUtils): `<dir>/<user>/bucket-<suffix>/<id mod 10000>/<application>` since 3.3,
 * `<dir>/<user>/<suffix>/<application>` before. The suffix is `logs-tfile` or `logs-ifile` unless the site sets another, and `logs` before
 * formats existed.
 */
export function logFolders(configuration: Configuration, user: string, applicationId: ApplicationId): string[] {
  const bucket = String(Number(applicationId.split("_").at(-1)) % 10_000).padStart(4, "0");
  const ofFormats = formatNames(configuration).flatMap((name) => {
    const folder = `${formatDirectory(configuration, name)}/${user}`;
    const suffix =
      configuration.get(`yarn.log-aggregation.${name}.remote-app-log-dir-suffix`) ??
      `${plainSuffix(configuration)}-${name.toLowerCase()}`;
    return [join(`bucket-${suffix}`, bucket, applicationId), join(suffix, applicationId)].map(
      (end) => `${folder}/${end}`,
    );
  });
  const oldest = `${plainDirectory(configuration)}/${user}/${plainSuffix(configuration)}/${applicationId}`;
  return [...new Set([...ofFormats, oldest])];
}

/** The site's formats, and Hadoop's two under their usual names: a client's files do not always agree with the nodes'. */
function formatNames(configuration: Configuration): string[] {
  return [...new Set([...logFormats(configuration).map(({ name }) => name), "TFile", "IFile"])];
}

function formatDirectory(configuration: Configuration, name: string): string {
  const own = configuration.get(`yarn.log-aggregation.${name}.remote-app-log-dir`);
  return own === undefined ? plainDirectory(configuration) : withoutSlash(own);
}

function plainDirectory(configuration: Configuration): string {
  return withoutSlash(configuration.get("yarn.nodemanager.remote-app-log-dir") ?? "/tmp/logs");
}

function plainSuffix(configuration: Configuration): string {
  return configuration.get("yarn.nodemanager.remote-app-log-dir-suffix") ?? "logs";
}

function withoutSlash(folder: string): string {
  return folder.replace(/\/+$/, "");
}

/** The folder that contains a user's logs in the format that NodeManagers write: a path on the default file system, or a URI. */
export function userLogFolder(configuration: Configuration, user: string): string {
  return `${formatDirectory(configuration, logFormats(configuration)[0]?.name ?? "TFile")}/${user}`;
}

/**
 * The files that the nodes have uploaded of an application's logs. Empty while there are none: each NodeManager uploads separately after
 * the application's end, which takes seconds.
 */
export async function findAggregatedLogs(
  fileSystems: FileSystems,
  configuration: Configuration,
  user: string,
  applicationId: ApplicationId,
): Promise<NodeLogFile[]> {
  const folders = logFolders(configuration, user, applicationId);
  const found = await Promise.all(folders.map((folder) => completeFiles(fileSystems, folder)));
  return found.flat();
}

/** The complete files of a folder. An upload in progress ends in .tmp, or a file beside it announces the upload. */
async function completeFiles(fileSystems: FileSystems, folder: string): Promise<NodeLogFile[]> {
  const { fileSystem, path } = fileSystems.locate(folder);
  const listed = (await listIfThere(fileSystem, path)).filter(({ type }) => type === "FILE");
  const files = listed.map(({ path: file, lengthBytes, modificationTimeMs }) => {
    return { fileSystem, path: file, node: basename(file), lengthBytes, modificationTimeMs };
  });
  const uploads = await Promise.all(
    files.filter((file) => tellsOfUpload(file.path)).map((file) => ifThere(readOpenUpload(file))),
  );
  return files
    .filter(({ path: file }) => !file.endsWith(".tmp") && !tellsOfUpload(file))
    .map((file) => {
      const upload = uploads.find((one) => one?.name === file.node);
      return upload === undefined ? file : { ...file, lengthBytes: Math.min(upload.completeBytes, file.lengthBytes) };
    })
    .filter(({ lengthBytes }) => lengthBytes > 0);
}

/**
 * Streams the logs in a node's file in the order in which they were written; none of an indexed file whose first upload is in progress.
 * @param wanted selects containers; the others are skipped
 * @throws LogFormatError naming the file when it is corrupt, or in a format that this reader does not know
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
  const tailBytes = Math.min(Math.max(indexedTailBytes, tfileTailBytes), file.lengthBytes);
  const tail = await readPart(file, file.lengthBytes - tailBytes, tailBytes);
  const index = findIndex(file, tail);
  if (index !== undefined) yield* indexedLogs(file, index, wanted);
  else if (isTFile(tail)) yield* tfileLogs(file, tail, wanted);
  else if (!(await isIndexedFile(file)))
    throw new LogFormatError(`${file.path} is neither a TFile nor an indexed file (IFile)`);
}
