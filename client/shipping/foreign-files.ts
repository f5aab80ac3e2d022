import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { UserError } from "../../src/errors.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import type { StatedFile } from "../../src/job/keys/stated-files.ts";

/** What YARN needs to know of a file that nodes fetch. */
export type FileFacts = Pick<StatedFile, "sizeBytes" | "modificationTimeMs">;

/** Facts about files on file systems that tony-ts has no client for: gs, s3a, abfs, … */
export interface ForeignFiles {
  /** From `tony.application.file-status`. */
  readonly stated: readonly StatedFile[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Kind, size and modification time of a file, as `hadoop fs -stat` prints them (org.apache.hadoop.fs.shell.Stat). */
const FORMAT = "%F,%b,%Y";

/**
 * What the job states about a file, or what Hadoop's own client reports, which has the connector where the cluster has
 * it.
 * @param namedBy the setting that names it, for messages
 * @throws UserError (`RESOURCE_UNREADABLE`) where neither is available
 */
export async function foreignFile(
  url: string,
  namedBy: string,
  { stated, environment }: ForeignFiles,
): Promise<FileFacts> {
  const known = stated.find((file) => file.url === url);
  if (known !== undefined) return known;
  const hadoop = environment.HADOOP_HOME ? `${environment.HADOOP_HOME}/bin/hadoop` : "hadoop";
  const refuse = (why: string, cause?: unknown) =>
    new UserError(`${namedBy} names ${url}: ${why}`, { code: "RESOURCE_UNREADABLE", cause });
  try {
    const { stdout } = await promisify(execFile)(hadoop, ["fs", "-stat", FORMAT, url], {
      env: { ...environment },
      timeout: 120_000,
    });
    const [, kind, size, time] = /^(.+),(-?\d+),(\d+)$/m.exec(stdout) ?? [];
    if (kind === "directory") throw refuse("it is a folder; name its files");
    if (size === undefined || time === undefined) throw refuse(`${hadoop} fs -stat printed ${JSON.stringify(stdout)}`);
    return { sizeBytes: Number(size), modificationTimeMs: Number(time) };
  } catch (error) {
    if (error instanceof UserError) throw error;
    const isMissing = errorCode(error) === "ENOENT";
    const what = isMissing ? "there is no hadoop command here that could be asked" : lastLine(error);
    throw refuse(`YARN needs its size and time, which tony-ts cannot find out itself, and ${what}. ${MEND}`, error);
  }
}

const MEND =
  "Set HADOOP_HOME to an installation of Hadoop with the connector, or tony.application.file-status to the file's URL, size and time, " +
  "as `hadoop fs -stat '%b %Y' URL` prints them";

/** The last line that Hadoop's client wrote to stderr. */
function lastLine(error: unknown): string {
  const stderr = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
  const line = stderr.split("\n").at(-1) ?? "";
  return `hadoop fs -stat says: ${line === "" ? String(error) : line}`;
}
