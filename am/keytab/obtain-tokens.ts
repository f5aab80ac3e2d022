import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import path from "node:path";
import { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { configuredCredentials } from "../../src/hadoop/security/configured-credentials.ts";
import type { NamedToken } from "../../src/hadoop/security/credentials.ts";
import type { GssApi } from "../../src/hadoop/security/kerberos/gss-api.ts";
import { kerberosCredentials } from "../../src/hadoop/security/kerberos/kerberos-credentials.ts";
import { KerberosLogin } from "../../src/hadoop/security/kerberos/login.ts";
import { resourceManagerEndpoints } from "../../src/hadoop/yarn/endpoints.ts";
import { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import { freshTokens } from "../../src/tokens/token-issuers.ts";
import type { LoginRequest } from "./login-request.ts";

/**
 * Logs in with a keytab and obtains the delegation tokens of a job.
 * @param load the Kerberos library
 * @throws AuthenticationError, or UserError (`TOKEN_NOT_OBTAINED`) naming the service that gives none
 */
export async function obtainTokens(request: LoginRequest, load: () => Promise<GssApi>): Promise<readonly NamedToken[]> {
  const file = await unnamedFile();
  try {
    await file.writeFile(Buffer.from(request.keytab, "base64"));
    const { principal } = request;
    return await tokensBy(new KerberosLogin({ principal, keytab: `/proc/self/fd/${file.fd}` }, load), request);
  } finally {
    await file.close();
  }
}

/**
 * The library reads keytabs from files. This file is unlinked before anything is written to it: however this process ends, the keytab is
 * not left behind.
 */
async function unnamedFile(): Promise<FileHandle> {
  const folder = await mkdtemp(path.resolve("login-"));
  try {
    return await open(path.join(folder, "keytab"), "wx+", 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function tokensBy(login: KerberosLogin, { hadoop, user, used }: LoginRequest): Promise<readonly NamedToken[]> {
  const configuration = new Configuration().withValues(hadoop);
  const own = configuredCredentials(configuration, { name: user }, (options) =>
    kerberosCredentials({ ...options, login }),
  );
  const fileSystems = new FileSystems({ configuration, credentials: own });
  const resourceManager = new ResourceManagerClient({
    endpoints: resourceManagerEndpoints(configuration, "client"),
    credentials: own,
  });
  try {
    await login.credential();
    return await freshTokens({ configuration, own, fileSystems, resourceManager }, used);
  } finally {
    resourceManager.close();
    fileSystems.close();
  }
}
