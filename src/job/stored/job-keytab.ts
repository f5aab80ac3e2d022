import { createHash } from "node:crypto";
import { object, recordOf, type Shape, string } from "../shape.ts";

/** What the staging folder calls a job's keytab. */
export const keytabFileName = "keytab";

/** A file in the ApplicationMaster's working directory that is run there only if it is the one that was sent. */
export interface HashedFile {
  /** Its name there. */
  readonly link: string;
  /** Of its bytes, hexadecimal. */
  readonly sha256: string;
}

/** By what the ApplicationMaster of a job that takes its keytab along logs in (`tony.kerberos.ship-keytab`). */
export interface JobKeytab {
  readonly principal: string;
  /** Of `keytab` in the staging folder. */
  readonly sha256: string;
  /** Logs in and obtains tokens: a process of its own, so that no native module is loaded by the ApplicationMaster. */
  readonly program: HashedFile;
  /** koffi's native module, by the architectures that nodes may have (`process.arch`). */
  readonly nativeModules: Readonly<Record<string, HashedFile>>;
  /** The Hadoop properties that it reads beyond those that every ApplicationMaster does. */
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

/** As HashedFile has it. */
export function sha256Of(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
