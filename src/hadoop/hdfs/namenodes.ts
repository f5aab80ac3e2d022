import type { Configuration } from "../conf/configuration.ts";
import { formatHostPort, type HostPort, parseHostPort } from "../conf/values.ts";

/** Of hdfs-default.xml since 3.0, then before. A site that sets no port can run any release, so both are tried. */
const defaultPorts = { http: [9870, 50070], https: [9871, 50470] } as const;

type DefaultPorts = readonly [number, ...number[]];

/**
 * The web addresses of the NameNodes behind `hdfs://<authority>`: all those of an HA nameservice, or that of the single NameNode. Follows
 * org.apache.hadoop.hdfs.DFSUtilClient.getHaNnWebHdfsAddresses and DFSUtil.getInfoServer.
 *
 * @param authority a nameservice of `dfs.nameservices`, or `host[:port]` of a NameNode's RPC
 * @returns base URLs, `http://nn1:9870`, in the order in which to try them
 * @throws ConfigurationError naming the missing key
 */
export function nameNodeEndpoints(configuration: Configuration, authority: string): string[] {
  const protocol = configuration.get("dfs.http.policy")?.toUpperCase() === "HTTPS_ONLY" ? "https" : "http";
  const key = `dfs.namenode.${protocol}-address`;
  const ports: DefaultPorts = defaultPorts[protocol];
  const print = (address: HostPort) => `${protocol}://${formatHostPort(address)}`;
  const ofNameNode = (suffix: string) =>
    webAddresses(configuration, `${key}.${suffix}`, `dfs.namenode.rpc-address.${suffix}`, ports).map(print);

  if (configuration.getList("dfs.nameservices").includes(authority)) {
    return nameServiceKeys(configuration, authority).flatMap(ofNameNode);
  }

  const rpc = parseHostPort(authority, 8020);
  if (rpc === undefined) {
    throw configuration.invalid(
      "fs.defaultFS",
      `names "${authority}", which is neither host:port nor in dfs.nameservices`,
    );
  }
  const suffix = suffixOfRpcAddress(configuration, rpc);
  if (suffix !== undefined) return ofNameNode(suffix);
  const configured = configuration.has(key) ? configuration.getAddress(key, ports[0]) : undefined;
  if (configured === undefined) return ports.map((port) => print({ host: rpc.host, port }));
  // Without nameservices, the site's one web address belongs to its own NameNode; another cluster is addressed on its own host.
  const own = configuration.get("fs.defaultFS")?.replace(/^hdfs:\/\/|\/+$/g, "") === authority;
  const host = own && !isWildcard(configured.host) ? configured.host : rpc.host;
  return [print({ host, port: configured.port })];
}

/**
 * The service name of these NameNodes' tokens (org.apache.hadoop.hdfs.HAUtilClient#buildTokenServiceForLogicalUri): `ha-hdfs:nameservice`
 * if there are several, else `host:port` of the single NameNode's RPC, where the host may be its IP address.
 */
export function nameNodeTokenService(configuration: Configuration, authority: string): string {
  if (configuration.getList(`dfs.ha.namenodes.${authority}`).length > 0) return `ha-hdfs:${authority}`;
  const isNameService = configuration.getList("dfs.nameservices").includes(authority);
  const named = isNameService ? configuration.getAddress(`dfs.namenode.rpc-address.${authority}`, 8020) : undefined;
  const rpc = named ?? parseHostPort(authority, 8020);
  return rpc === undefined ? authority : formatHostPort(rpc);
}

/** `ns`, or `ns.nn1` and `ns.nn2`: the suffixes of a nameservice's keys. */
function nameServiceKeys(configuration: Configuration, nameService: string): string[] {
  const ids = configuration.getList(`dfs.ha.namenodes.${nameService}`);
  return ids.length === 0 ? [nameService] : ids.map((id) => `${nameService}.${id}`);
}

/** The web addresses of one NameNode of a nameservice. */
function webAddresses(configuration: Configuration, webKey: string, rpcKey: string, ports: DefaultPorts): HostPort[] {
  const web = configuration.getAddress(webKey, ports[0]);
  if (web !== undefined && !isWildcard(web.host)) return [web];
  const rpc = configuration.getAddress(rpcKey, 8020);
  if (rpc === undefined) throw configuration.invalid(webKey, `is not set, nor is ${rpcKey}`, "CONFIGURATION_MISSING");
  return (web === undefined ? ports : [web.port]).map((port) => ({ host: rpc.host, port }));
}

/** The key suffix of the nameservice (and NameNode) with this RPC address. */
function suffixOfRpcAddress(configuration: Configuration, rpc: HostPort): string | undefined {
  return configuration
    .getList("dfs.nameservices")
    .flatMap((nameService) => nameServiceKeys(configuration, nameService))
    .find((suffix) => {
      const address = configuration.getAddress(`dfs.namenode.rpc-address.${suffix}`, 8020);
      return address?.host === rpc.host && address.port === rpc.port;
    });
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}
