import { ExitCode, UserError } from "../../src/errors.ts";
import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { trustedCertificatesKey } from "../../src/hadoop/security/security-keys.ts";
import { certificatesIn, siteCertificates } from "../../src/hadoop/security/tls/trusted-certificates.ts";

const caFileKey = "tony.security.ca-file";
/** Containers get them in an environment variable, which Linux limits to 128 KiB. */
const mostBytes = 64 * 1024;

/**
 * The configuration with the certificates that may sign those of the cluster's web servers: from `tony.security.ca-file`, else from the trust
 * store in ssl-client.xml. Unchanged where neither exists: Node's own trusted certificates count then.
 * @param path of folders with the cluster's site files
 * @throws UserError (exit code 3) for a file that cannot be read
 */
export function withTrustedCertificates(
  configuration: Configuration,
  path: string,
  caFile: string | undefined,
): Configuration {
  try {
    const all =
      caFile === undefined ? siteCertificates(configuration, path) : certificatesIn(caFile, undefined, caFileKey);
    if (all === undefined) return configuration;
    if (all.length > mostBytes) throw tooMany(all.length);
    return configuration.withValues({ [trustedCertificatesKey]: all });
  } catch (error) {
    if (error instanceof UserError || errorCode(error) !== "TRUST_STORE") throw error;
    throw new UserError(errorMessage(error), { code: "TRUST_STORE", exitCode: ExitCode.cluster, cause: error });
  }
}

function tooMany(bytes: number): UserError {
  return new UserError(
    `The trusted certificates have ${bytes} bytes as PEM; containers take ${mostBytes}\n` +
      `  ${caFileKey} may name a PEM file with those alone that sign the cluster's`,
    { code: "TRUST_STORE", exitCode: ExitCode.cluster },
  );
}
