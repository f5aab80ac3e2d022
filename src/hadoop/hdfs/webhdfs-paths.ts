import { checkPath } from "./check-path.ts";

/** The address of an operation: `<base>/webhdfs/v1<path>?op=…`; every part of the path is escaped on its own. */
export function operationUrl(base: string, path: string, parameters: Readonly<Record<string, string>>): URL {
  const escaped = checkPath(path).split("/").map(encodeURIComponent).join("/");
  const root = base.replace(/\/+$/, "");
  const prefix = root.endsWith("/webhdfs/v1") ? root : `${root}/webhdfs/v1`;
  return new URL(`${prefix}${escaped}?${new URLSearchParams(parameters)}`);
}

/** Permission bits as WebHDFS reads them: octal without a prefix. */
export function octal(permission: number): string {
  return permission.toString(8);
}
