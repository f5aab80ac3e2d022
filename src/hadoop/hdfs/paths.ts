import { FileSystemError } from "./errors.ts";

/** Refuses a path that a file system would refuse or, worse, normalise into another one. */
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

/**
 * Characters that need no escape in a path (RFC 3986, `pchar`). Hadoop's own client leaves them as they are, and gateways are built for
 * what that client sends.
 */
const PLAIN = /%(?:3D|40|2C|26|24)/g;

/** The address of an operation: `<base>/webhdfs/v1<path>?op=…`; each component of the path is escaped separately. */
export function operationUrl(base: string, path: string, parameters: Readonly<Record<string, string>>): URL {
  const escaped = checkPath(path).split("/").map(escapePart).join("/");
  const root = base.replace(/\/+$/, "");
  const prefix = root.endsWith("/webhdfs/v1") ? root : `${root}/webhdfs/v1`;
  return new URL(`${prefix}${escaped}?${new URLSearchParams(parameters)}`);
}

function escapePart(part: string): string {
  return encodeURIComponent(part).replace(PLAIN, decodeURIComponent);
}

/** Permission bits as WebHDFS reads them: octal without a prefix. */
export function octal(permission: number): string {
  return permission.toString(8);
}
