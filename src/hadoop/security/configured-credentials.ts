import type { Configuration } from "../conf/configuration.ts";
import { entryOf } from "../json.ts";
import type { CredentialsProvider } from "./credentials-provider.ts";
import { AuthenticationError } from "./errors.ts";
import type { KerberosOptions } from "./kerberos/kerberos-credentials.ts";
import type { Protection } from "./sasl/digest-md5.ts";
import { authenticationKey, fallbackKey, protectionKey, trustedCertificatesKey } from "./security-keys.ts";
import { simpleCredentials, type TokenOptions, tokenCredentials } from "./simple-credentials.ts";
import type { User } from "./user.ts";

/** By their names in `hadoop.rpc.protection` (org.apache.hadoop.security.SaslRpcServer.QualityOfProtection), weakest first. */
const protectionNames: Readonly<Record<string, Protection>> = {
  authentication: "auth",
  integrity: "auth-int",
  privacy: "auth-conf",
};
const weakestFirst = Object.values(protectionNames);

/**
 * Credentials as the configuration demands them (`hadoop.security.authentication`). Where it is `kerberos`, a server that
 * asks for no proof is not called, unless `ipc.client.fallback-to-simple-auth-allowed` is true: whoever pretends to be one would be sent
 * the job's secrets. What YARN gave a token for is opened by that in any case.
 * @param user who acts where names are believed; with Kerberos it says only whom a proxy user acts for
 * @param kerberos kerberosCredentials; without it there are tokens only, as in a container, which has no ticket
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

/** What a process has that no Kerberos is given to. */
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

/** How the cluster knows who calls. @throws ConfigurationError for a value that Hadoop does not have */
export function configuredAuthentication(configuration: Configuration): "simple" | "kerberos" {
  const authentication = configuration.get(authenticationKey)?.toLowerCase() ?? "simple";
  if (authentication === "simple" || authentication === "kerberos") return authentication;
  throw configuration.invalid(authenticationKey, `must be simple or kerberos, not "${authentication}"`);
}

/** What a configuration says for every kind of credentials. @throws ConfigurationError for a value that Hadoop does not have */
export function configuredOptions(configuration: Configuration): TokenOptions {
  const trustedCertificates = configuration.get(trustedCertificatesKey);
  return { protections: configuredProtections(configuration), trustedCertificates };
}

/**
 * The protections of traffic that are acceptable, best first: those that `hadoop.rpc.protection` lists in its order, then any that is
 * stronger than the weakest of them. Undefined where it is not set: all are.
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
