import { readFileSync } from "node:fs";
import { ExitCode, UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { type Credentials, withoutMasterRights } from "../../src/hadoop/security/credentials.ts";
import { delegationOf } from "../../src/hadoop/security/delegation.ts";
import { readTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { ClientContext } from "../context.ts";

/** Delegation tokens that whoever started this process obtained for it: Azkaban, Oozie, a notebook server. */
export interface GivenTokens {
  readonly file: string;
  readonly credentials: Credentials;
  /** Whom they belong to, as their issuer knows it: a name or a Kerberos principal. Undefined where no token says. */
  readonly owner: string | undefined;
}

/**
 * The tokens in the file that the environment names, as for Hadoop's own programs (org.apache.hadoop.security.UserGroupInformation).
 * @throws UserError (`TOKEN_FILE`) when it cannot be read
 */
export function givenTokens(environment: ClientContext["environment"]): GivenTokens | undefined {
  const file = environment.HADOOP_TOKEN_FILE_LOCATION;
  if (!file) return undefined;
  let credentials: Credentials;
  try {
    // The right to speak for the application in whose container this runs is nothing that a job of its own needs.
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
