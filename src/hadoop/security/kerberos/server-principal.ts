import type { Configuration } from "../../conf/configuration.ts";
import { errorMessage } from "../../errors.ts";
import { globExpression } from "../../glob.ts";
import { entryOf } from "../../json.ts";
import type { RpcService } from "../credentials-provider.ts";
import { AuthenticationError } from "../errors.ts";
import type { MechanismOffer } from "../sasl/mechanism.ts";

/** The configuration key of each service's principal, by its Java interface (from its KerberosInfo or SecurityInfo). */
const principalKeys: Readonly<Record<string, string>> = {
  "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB": "yarn.resourcemanager.principal",
  "org.apache.hadoop.yarn.server.api.ResourceManagerAdministrationProtocolPB": "yarn.resourcemanager.principal",
  "org.apache.hadoop.yarn.api.ApplicationHistoryProtocolPB": "yarn.timeline-service.principal",
  "org.apache.hadoop.hdfs.protocol.ClientProtocol": "dfs.namenode.kerberos.principal",
};

/** Look-ups of host names. */
export interface HostNames {
  /** The canonical name of the host's address. */
  canonicalName(host: string): Promise<string>;
  /** The Kerberos realm of a host. */
  realmOf(host: string): Promise<string>;
}

/**
 * The principal of an RPC server that offers Kerberos: the one that the server names, provided that the configuration accepts it for this
 * service. It must equal `<key>`, with `_HOST` replaced by the server's own host, or match the glob `<key>.pattern`
 * (org.apache.hadoop.security.SaslRpcClient#getServerPrincipal).
 * @returns `rm/host@REALM`
 * @throws AuthenticationError with code `KERBEROS_SERVER` for any other principal, which could be anyone's
 */
export async function serverPrincipal(
  configuration: Configuration,
  { protocol, endpoint }: Pick<RpcService, "protocol" | "endpoint">,
  offer: Pick<MechanismOffer, "protocol" | "serverId">,
  names: HostNames,
): Promise<string> {
  const key = entryOf(principalKeys, protocol);
  if (key === undefined) throw refused(`${protocol} is not called with Kerberos`);
  const offered = `${offer.protocol}/${offer.serverId}`;
  const pattern = configuration.get(`${key}.pattern`);
  if (pattern) {
    const principal = `${offered}@${await names.realmOf(offer.serverId)}`;
    if (matches(configuration, `${key}.pattern`, pattern, principal)) return principal;
    throw refused(`The server is ${principal}; ${configuration.describe(`${key}.pattern`)} wants ${pattern}`);
  }
  const configured = configuration.get(key);
  if (!configured) throw refused(`${key} is not set: whose server ${offered} is cannot be checked`);
  const [, service = "", host = "", realm] = /^([^/@]+)\/([^/@]+)(?:@(.+))?$/.exec(configured) ?? [];
  if (host === "") throw refused(`${configuration.describe(key)} is ${configured}; service/host@REALM is wanted`);
  const hosts = host === hostPlaceholder ? await hostsOf(endpoint.host, offer.serverId, names) : [host];
  if (offer.protocol === service && hosts.includes(offer.serverId)) {
    return `${offered}@${realm ?? (await names.realmOf(offer.serverId))}`;
  }
  throw refused(
    `The server is ${offered}; ${configuration.describe(key)} wants ${service}/${hosts.join(` or ${service}/`)}`,
  );
}

/** org.apache.hadoop.security.SecurityUtil#HOSTNAME_PATTERN */
const hostPlaceholder = "_HOST";

/** The hosts that `_HOST` may stand for: the configured host, else the name of its address, which is looked up only if needed. */
async function hostsOf(host: string, offered: string, names: HostNames): Promise<readonly string[]> {
  const asWritten = host.toLowerCase();
  return asWritten === offered ? [asWritten] : [asWritten, (await names.canonicalName(host)).toLowerCase()];
}

function matches(configuration: Configuration, key: string, glob: string, principal: string): boolean {
  try {
    return globExpression(glob).test(principal);
  } catch (error) {
    throw configuration.invalid(key, `is "${glob}", which is not a pattern: ${errorMessage(error)}`);
  }
}

function refused(message: string): AuthenticationError {
  return new AuthenticationError(message, { code: "KERBEROS_SERVER" });
}
