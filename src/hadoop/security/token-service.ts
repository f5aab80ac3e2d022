import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Configuration } from "../conf/configuration.ts";
import { formatHostPort, type HostPort, parseHostPort } from "../conf/values.ts";

/** The addresses of a host from the system's resolver; rejects if there are none. */
export type LookUp = (host: string) => Promise<readonly string[]>;

export const systemLookUp: LookUp = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** Whether services are named by their IP addresses. */
const byAddressKey = "hadoop.security.token.service.use_ip";

/**
 * The service name of a new token for a server, `ip:port` or `host:port` (org.apache.hadoop.security.SecurityUtil#buildTokenService).
 * Rejects when the host has no address.
 */
export async function tokenServiceOf(
  { host, port }: HostPort,
  configuration: Configuration,
  lookUp: LookUp = systemLookUp,
): Promise<string> {
  if (!configuration.getBoolean(byAddressKey, true)) return formatHostPort({ host: host.toLowerCase(), port });
  const [address = host] = isIP(host) === 0 ? await lookUp(host) : [host];
  return formatHostPort({ host: address, port });
}

/**
 * Whether a token with this service name is for the given server. A token for several servers lists them, separated by commas
 * (org.apache.hadoop.yarn.security.client.RMDelegationTokenSelector).
 * @param name `host:port`, several of them separated by commas, or the name of a nameservice, `ha-hdfs:…`
 */
export async function isServiceOf(service: string, name: string, lookUp: LookUp = systemLookUp): Promise<boolean> {
  const filed = service.toLowerCase().split(",");
  const servers = name.toLowerCase().split(",");
  const found = await Promise.all(servers.map((server) => isAmong(filed, server, lookUp)));
  return found.every(Boolean);
}

async function isAmong(filed: readonly string[], name: string, lookUp: LookUp): Promise<boolean> {
  if (filed.includes(name)) return true;
  const server = parseHostPort(name);
  if (server === undefined || isIP(server.host) !== 0) return false;
  // A host without an address cannot be connected to either, and that error is the clearer one.
  const addresses = await lookUp(server.host).catch(() => []);
  return addresses.some((host) => filed.includes(formatHostPort({ host, port: server.port })));
}
