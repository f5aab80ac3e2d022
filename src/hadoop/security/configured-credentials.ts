import type { Configuration } from "../conf/configuration.ts";
import { entryOf } from "../entry-of.ts";
import type { CredentialsProvider } from "./credentials-provider.ts";
import { AuthenticationError } from "./errors.ts";
import type { Protection } from "./sasl/digest-md5.ts";
import { authenticationKey, fallbackKey, protectionKey } from "./security-keys.ts";
import { simpleCredentials, tokenCredentials } from "./simple-credentials.ts";
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
 * @throws ConfigurationError for a value that Hadoop does not have
 */
export function configuredCredentials(configuration: Configuration, user: User): CredentialsProvider {
  const options = { protections: configuredProtections(configuration) };
  const authentication = configuration.get(authenticationKey)?.toLowerCase() ?? "simple";
  if (authentication === "simple") return simpleCredentials(user, options);
  if (authentication !== "kerberos") {
    throw configuration.invalid(authenticationKey, `must be simple or kerberos, not "${authentication}"`);
  }
  if (configuration.getBoolean(fallbackKey, false)) return simpleCredentials(user, options);
  const refused = () => Promise.reject(kerberosConfigured(configuration));
  const byToken = tokenCredentials(options);
  return {
    user: async () => user.name,
    forRpc: (service) => (service.token === undefined ? refused() : byToken.forRpc(service)),
    forHttp: refused,
  };
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

function kerberosConfigured(configuration: Configuration): AuthenticationError {
  const place = configuration.describe(authenticationKey);
  return new AuthenticationError(
    `${place} is kerberos, which is not supported yet; a cluster without it is used only where ${fallbackKey} is true`,
    { code: "KERBEROS_NEEDED" },
  );
}
