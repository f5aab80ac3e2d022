import { loginName as osLoginName } from "../process-owner.ts";
import { AuthenticationError } from "./errors.ts";

/** The acting user, on a cluster that believes names. */
export interface User {
  readonly name: string;
  /** The user who logged in, if `name` is another one that it may act for (a proxy user). */
  readonly realName?: string;
}

/**
 * The user by Hadoop's rules (org.apache.hadoop.security.UserGroupInformation): HADOOP_USER_NAME, or the login name of the process.
 * HADOOP_PROXY_USER names a user for whom that user acts.
 * @throws AuthenticationError if the process's user has no name
 */
export function currentUser(
  environment: Readonly<Record<string, string | undefined>>,
  loginName: () => string | undefined = osLoginName,
): User {
  const name = environment.HADOOP_USER_NAME || loginName();
  if (name === undefined) throw nameless();
  const proxied = environment.HADOOP_PROXY_USER;
  return proxied ? { name: proxied, realName: name } : { name };
}

function nameless(): AuthenticationError {
  return new AuthenticationError(
    `This process runs as user ${process.getuid?.()}, who has no name on this machine\n` +
      "  Set HADOOP_USER_NAME to the name that the cluster knows you by",
    { code: "USER_NAMELESS" },
  );
}
