import { readFileSync } from "node:fs";
import { loginCookie } from "../../scripts/cluster/secure/web-login.mjs";
import { loadConfiguration } from "../../src/hadoop/conf/site-files.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import type { CredentialsProvider } from "../../src/hadoop/security/credentials-provider.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import type { ClusterStatus } from "./cluster.ts";

/** The cluster's file systems as that user sees them, for tests that look at what a job left. */
export function fileSystemsOf(cluster: ClusterStatus, user: string): FileSystems {
  return new FileSystems({
    configuration: loadConfiguration(cluster.confDir),
    credentials: cluster.security === undefined ? simpleCredentials({ name: user }) : webLogin(cluster, user),
  });
}

/** A login for web servers only that needs no ticket, because the test's own process has none. */
function webLogin(cluster: ClusterStatus, user: string): CredentialsProvider {
  return {
    trustedCertificates: readFileSync(cluster.security?.certificateAuthority ?? "", "utf8"),
    user: async () => user,
    forRpc: async () => [],
    forHttp: async ({ url }) => ({ begin: () => ({ headers: { cookie: loginCookie(cluster, user, url.href) } }) }),
  };
}
