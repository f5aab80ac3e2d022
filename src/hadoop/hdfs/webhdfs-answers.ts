import { isObject } from "../json.ts";
import { FileSystemError } from "./errors.ts";
import type { BlockFacts, FileStatus } from "./file-system.ts";
import type { WebHdfsRequest } from "./webhdfs-connection.ts";

type Asked = Pick<WebHdfsRequest, "operation" | "path">;

/** The answer of GETHOMEDIRECTORY. */
export function parsePathAnswer(answer: unknown, asked: Asked): string {
  if (isObject(answer) && typeof answer.Path === "string") return answer.Path;
  throw unexpected(asked, answer);
}

/** The answer of an operation that reports whether it did anything. */
export function parseBooleanAnswer(answer: unknown, asked: Asked): boolean {
  if (isObject(answer) && typeof answer.boolean === "boolean") return answer.boolean;
  throw unexpected(asked, answer);
}

/** LocatedBlocks, as org.apache.hadoop.hdfs.web.JsonUtil writes them. */
export function parseBlocksAnswer(answer: unknown, asked: Asked): BlockFacts {
  const blocks = isObject(answer) ? answer.LocatedBlocks : undefined;
  if (!isObject(blocks) || typeof blocks.isUnderConstruction !== "boolean") throw unexpected(asked, answer);
  const [block] = objectsIn(blocks.locatedBlocks);
  const nodes = objectsIn(block?.locations).flatMap(({ hostName, ipAddr }) => [hostName, ipAddr]);
  return {
    isBeingWritten: blocks.isUnderConstruction,
    hosts: nodes.filter((name) => typeof name === "string"),
  };
}

function objectsIn(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** A NameNode answers a RENAME with options by nothing at all, HttpFS by a boolean. */
export function parseRenameAnswer(answer: unknown): boolean {
  return !(isObject(answer) && answer.boolean === false);
}

function unexpected({ operation, path }: Asked, answer: unknown): FileSystemError {
  const shown = JSON.stringify(answer) ?? "nothing";
  return new FileSystemError(`${operation} ${path}: unexpected answer ${shown.slice(0, 200)}`, {
    code: "PROTOCOL",
    operation,
    path,
  });
}

/** The FileStatus object of WebHDFS (org.apache.hadoop.hdfs.web.JsonUtil.toJsonString(HdfsFileStatus)). */
function parseFileStatus(document: unknown, parent: string): FileStatus {
  if (!isObject(document)) throw malformed(parent, document);
  const { type, length, modificationTime, accessTime, permission, owner, group, pathSuffix, childrenNum } = document;
  if (
    (type !== "FILE" && type !== "DIRECTORY" && type !== "SYMLINK") ||
    typeof length !== "number" ||
    typeof modificationTime !== "number" ||
    typeof permission !== "string" ||
    typeof pathSuffix !== "string"
  ) {
    throw malformed(parent, document);
  }
  return {
    path: pathSuffix === "" ? parent : `${parent === "/" ? "" : parent}/${pathSuffix}`,
    type,
    lengthBytes: length,
    modificationTimeMs: modificationTime,
    accessTimeMs: typeof accessTime === "number" ? accessTime : 0,
    permission: Number.parseInt(permission, 8),
    owner: String(owner ?? ""),
    group: String(group ?? ""),
    ...(type === "DIRECTORY" && typeof childrenNum === "number" && { entries: childrenNum }),
  };
}

/** The answer of GETFILESTATUS. */
export function parseStatusAnswer(document: unknown, path: string): FileStatus {
  if (!isObject(document)) throw malformed(path, document);
  return parseFileStatus(document.FileStatus, path);
}

/** The answer of LISTSTATUS. */
export function parseListAnswer(document: unknown, path: string): FileStatus[] {
  const statuses = isObject(document) ? document.FileStatuses : undefined;
  const entries = isObject(statuses) ? statuses.FileStatus : undefined;
  if (!Array.isArray(entries)) throw malformed(path, document);
  return entries
    .map((entry) => parseFileStatus(entry, path))
    .sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0));
}

function malformed(path: string, document: unknown): FileSystemError {
  const shown = JSON.stringify(document) ?? "nothing";
  return new FileSystemError(`${path}: the server's file status is not one: ${shown.slice(0, 200)}`, {
    code: "PROTOCOL",
    path,
  });
}
