import { createHash } from "node:crypto";
import { object, recordOf, type Shape, string } from "../shape.ts";

/** The name of a job's keytab in the staging folder. */
export const keytabFileName = "keytab";

/** A file in the ApplicationMaster's working directory that is run there only if it is unchanged. */
export interface HashedFile {
  /** Its name there. */
  readonly link: string;
  /** The hash of its bytes, hexadecimal. */
  readonly sha256: string;
}

/** What the ApplicationMaster of a job with a shipped keytab logs in with (`tony.kerberos.ship-keytab`). */
export interface JobKeytab {
  readonly principal: string;
  /** The hash of `keytab` in the staging folder. */
  readonly sha256: string;
  /** Logs in and obtains tokens: a separate process, so that the ApplicationMaster loads no native module. */
  readonly program: HashedFile;
  /** koffi's native module, for each architecture that nodes may have (`process.arch`). */
  readonly nativeModules: Readonly<Record<string, HashedFile>>;
  /** The Hadoop properties that it reads in addition to those of every ApplicationMaster. */
  readonly hadoop: Readonly<Record<string, string>>;
}

const hashedFile: Shape<HashedFile> = object({ required: { link: string, sha256: string }, optional: {} });

export const jobKeytab: Shape<JobKeytab> = object({
  required: {
    principal: string,
    sha256: string,
    program: hashedFile,
    nativeModules: recordOf(hashedFile),
    hadoop: recordOf(string),
  },
  optional: {},
});

/** In the form of HashedFile. */
export function sha256Of(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
