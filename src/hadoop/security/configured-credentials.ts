import type { Configuration } from "../conf/configuration.ts";
import { entryOf } from "../json.ts";
import type { CredentialsProvider } from "./credentials-provider.ts";
import { AuthenticationError } from "./errors.ts";
import type { KerberosOptions } from "./kerberos/kerberos-credentials.ts";
import type { Protection } from "./sasl/digest-md5.ts";
import { authenticationKey, fallbackKey, protectionKey, trustedCertificatesKey } from "./security-keys.ts";
import { simpleCredentials, type TokenOptions, tokenCredentials } from "./simple-credentials.ts";
import type { User } from "./user.ts";

/** Keyed by their names in `hadoop.rpc.protection` (org.apache.hadoop.security.SaslRpcServer.QualityOfProtection), weakest first. */
const protectionNames: Readonly<Record<string, Protection>> = {
  authentication: "auth",
  integrity: "auth-int",
  privacy: "auth-conf",
};
const weakestFirst = Object.values(protectionNames);

/**
 * The credentials that the configuration requires (`hadoop.security.authentication`). With `kerberos`, a server that demands no
 * authentication is not called, unless `ipc.client.fallback-to-simple-auth-allowed` is true: an impostor would receive the job's secrets. A
 * service for which YARN issued a token is always called with that token.
 * @param user the acting user where names are believed; with Kerberos it only says whom a proxy user acts for
 * @param kerberos kerberosCredentials; without it only tokens are used, as in a container, which has no ticket
 * @throws ConfigurationError for a value that Hadoop does not have
 */
export function configuredCredentials(
  configuration: Configuration,
  user: User,
  kerberos: (options: KerberosOptions) => CredentialsProvider = onlyTokens,
): CredentialsProvider {
  const options = configuredOptions(configuration);
  if (configuredAuthentication(configuration) === "simple") return simpleCredentials(user, options);
  return kerberos({ ...options, configuration, user, fallback: configuration.getBoolean(fallbackKey, false) });
}

/** The credentials of a process without Kerberos. */
function onlyTokens({ configuration, user, fallback, ...options }: KerberosOptions): CredentialsProvider {
  if (fallback) return simpleCredentials(user, options);
  const byToken = tokenCredentials(options);
  const refused = () => Promise.reject(tokenNeeded(configuration));
  return {
    ...byToken,
    user: async () => user.name,
    forRpc: (service) => (service.token === undefined ? refused() : byToken.forRpc(service)),
    forHttp: refused,
  };
}

/** How the cluster identifies callers. @throws ConfigurationError for a value that Hadoop does not have */
export function configuredAuthentication(configuration: Configuration): "simple" | "kerberos" {
  const authentication = configuration.get(authenticationKey)?.toLowerCase() ?? "simple";
  if (authentication === "simple" || authentication === "kerberos") return authentication;
  throw configuration.invalid(authenticationKey, `must be simple or kerberos, not "${authentication}"`);
}

/** The options that apply to every kind of credentials. @throws ConfigurationError for a value that Hadoop does not have */
export function configuredOptions(configuration: Configuration): TokenOptions {
  const trustedCertificates = configuration.get(trustedCertificatesKey);
  return { protections: configuredProtections(configuration), trustedCertificates };
}

/**
 * The acceptable protections of traffic, best first: those that `hadoop.rpc.protection` lists, in its order, then any others that are
 * stronger than the weakest of them. Undefined where it is not set: all are acceptable.
 * @throws ConfigurationError for a value that Hadoop does not have
 */
export function configuredProtections(configuration: Configuration): readonly Protection[] | undefined {
  if (!configuration.has(protectionKey)) return undefined;
  const listed = configuration.getList(protectionKey).map((name) => {
    const protection = entryOf(protectionNames, name.toLowerCase());
    if (protection !== undefined) return protection;
    const known = Object.keys(protectionNames).join(", ");
    throw configuration.invalid(protectionKey, `must be one or more of ${known}, not "${name}"`);
  });
  const weakest = Math.min(...listed.map((protection) => weakestFirst.indexOf(protection)));
  return [...new Set([...listed, ...weakestFirst.slice(weakest)])];
}

function tokenNeeded(configuration: Configuration): AuthenticationError {
  const place = configuration.describe(authenticationKey);
  return new AuthenticationError(`${place} is kerberos, and there is no token for this server`, {
    code: "KERBEROS_NEEDED",
  });
}
