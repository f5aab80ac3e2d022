import { TonyError } from "../errors.ts";

/** A file's URL in the parts that YARN's records have (org.apache.hadoop.yarn.api.records.URL). */
export interface FileUrl {
  readonly scheme: string;
  /** A host, or a nameservice; empty for `file:///…`. */
  readonly host: string;
  /** −1 where the URL has none. */
  readonly port: number;
  /** Absolute. */
  readonly path: string;
}

/**
 * Splits a URL as Hadoop prints a Path: nothing in it is escaped, `#`, `?`, `%` and blanks stand for themselves.
 * Throws a TonyError with code `INVALID_FILE_URL`.
 */
export function parseFileUrl(url: string): FileUrl {
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/:]*)(?::(\d{1,5}))?(\/.*)$/s.exec(url);
  const [, scheme, host, port, path] = match ?? [];
  if (scheme === undefined || host === undefined || path === undefined) {
    throw new TonyError(`"${url}" is not the full URL of a file, like hdfs://nameservice/path`, {
      code: "INVALID_FILE_URL",
    });
  }
  return { scheme, host, port: port === undefined ? -1 : Number(port), path };
}
