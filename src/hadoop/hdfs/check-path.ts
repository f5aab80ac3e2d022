import { FileSystemError } from "./errors.ts";

/** Refuses what a file system would refuse or, worse, normalise into another path. */
export function checkPath(path: string): string {
  const parts = path.split("/");
  if (!path.startsWith("/") || path.includes("//") || parts.includes(".") || parts.includes("..")) {
    throw new FileSystemError(`"${path}" is not an absolute path without empty, "." and ".." parts`, {
      code: "INVALID_REQUEST",
      path,
    });
  }
  return path;
}
