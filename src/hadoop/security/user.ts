import { userInfo } from "node:os";

/** Who acts, on a cluster that believes names. */
export interface User {
  readonly name: string;
  /** Who logged in, where `name` is another that may be acted for (a proxy user). */
  readonly realName?: string;
}

/**
 * The user by Hadoop's rules (org.apache.hadoop.security.UserGroupInformation): HADOOP_USER_NAME, or the login name of the process;
 * HADOOP_PROXY_USER is then whom that user acts for.
 */
export function currentUser(
  environment: Readonly<Record<string, string | undefined>>,
  loginName: () => string = () => userInfo().username,
): User {
  const name = environment.HADOOP_USER_NAME || loginName();
  const proxied = environment.HADOOP_PROXY_USER;
  return proxied ? { name: proxied, realName: name } : { name };
}
