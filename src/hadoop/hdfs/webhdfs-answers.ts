import { isObject } from "../json.ts";
import { FileSystemError } from "./errors.ts";
import type { BlockFacts } from "./file-system.ts";
import type { WebHdfsRequest } from "./webhdfs-connection.ts";

type Asked = Pick<WebHdfsRequest, "operation" | "path">;

/** The answer of GETHOMEDIRECTORY. */
export function parsePathAnswer(answer: unknown, asked: Asked): string {
  if (isObject(answer) && typeof answer.Path === "string") return answer.Path;
  throw unexpected(asked, answer);
}

/** The answer of an operation that says whether it did something. */
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

/** NameNodes answer a RENAME with options by nothing at all, HttpFS by a boolean. */
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
