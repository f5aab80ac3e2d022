import { readFileSync } from "node:fs";
import { ExitCode, UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { type Credentials, withoutMasterRights } from "../../src/hadoop/security/credentials.ts";
import { delegationOf } from "../../src/hadoop/security/delegation.ts";
import { readTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { ClientContext } from "../context.ts";

/** Delegation tokens that were obtained for this process by whoever started it: Azkaban, Oozie, a notebook server. */
export interface GivenTokens {
  readonly file: string;
  readonly credentials: Credentials;
  /** Their owner, as the issuer knows it: a name or a Kerberos principal. Undefined where no token says. */
  readonly owner: string | undefined;
}

/**
 * The tokens in the file that the environment names, as Hadoop's own programs read them
 * (org.apache.hadoop.security.UserGroupInformation).
 * @throws UserError (`TOKEN_FILE`) when it cannot be read
 */
export function givenTokens(environment: ClientContext["environment"]): GivenTokens | undefined {
  const file = environment.HADOOP_TOKEN_FILE_LOCATION;
  if (!file) return undefined;
  let credentials: Credentials;
  try {
    // A job of its own does not need the token that speaks for the application in whose container this process runs.
    credentials = withoutMasterRights(readTokenFile(readFileSync(file)));
  } catch (cause) {
    throw new UserError(
      `HADOOP_TOKEN_FILE_LOCATION names ${file}, whose delegation tokens cannot be read: ${errorMessage(cause)}\n` +
        `  Whoever started this program sets it: ask them to write it again, or unset HADOOP_TOKEN_FILE_LOCATION to use a Kerberos ticket`,
      { code: "TOKEN_FILE", exitCode: ExitCode.cluster, cause },
    );
  }
  const owner = credentials.tokens.map(({ token }) => delegationOf(token)?.owner).find((found) => found);
  return { file, credentials, owner };
}
