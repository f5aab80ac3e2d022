import { isObject } from "../json.ts";
import { FileSystemError } from "./errors.ts";
import type { FileStatus } from "./file-system.ts";

/** The FileStatus object of WebHDFS (org.apache.hadoop.hdfs.web.JsonUtil.toJsonString(HdfsFileStatus)). */
export function parseFileStatus(document: unknown, parent: string): FileStatus {
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
