import { TonyError } from "../errors.ts";
import { splitUri } from "../hadoop/hdfs/file-systems.ts";
import type { FileUrl } from "../hadoop/hdfs/file-url.ts";

/**
 * The URL of a file in the form of YARN's records, from the form in which Hadoop prints a Path: nothing is escaped; `#`, `?`, `%` and
 * blanks are literal. Port −1: the URL has none. Throws a TonyError with code `INVALID_FILE_URL`.
 */
export function parseFileUrl(url: string): FileUrl {
  const { root, path } = splitUri(url) ?? { root: undefined, path: "" };
  const [, userInfo, host, port] = /^(?:([^@]*)@)?([^:@]*)(?::(\d{1,5}))?$/.exec(root?.authority ?? "") ?? [];
  if (root === undefined || host === undefined || !path.startsWith("/")) {
    throw new TonyError(`"${url}" is not the full URL of a file, like hdfs://nameservice/path`, {
      code: "INVALID_FILE_URL",
    });
  }
  const named = userInfo === undefined ? {} : { userInfo };
  return { scheme: root.scheme, ...named, host, port: port === undefined ? -1 : Number(port), path };
}
