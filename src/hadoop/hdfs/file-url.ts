/** A file's address in parts, as YARN represents it in a LocalResource (org.apache.hadoop.yarn.api.records.URL). */
export interface FileUrl {
  readonly scheme: string;
  /** `container` of `abfs://container@account.dfs.core.windows.net/path`. */
  readonly userInfo?: string;
  /** A nameservice or a host; empty for this machine's files. */
  readonly host: string;
  /** −1 when there is none. */
  readonly port: number;
  readonly path: string;
}
