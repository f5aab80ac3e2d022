import { type HostPort, parseHostPort, parseList } from "../conf/values.ts";
import { HadoopError } from "../errors.ts";

/** Hadoop's configuration, as far as it is read here. */
export interface Settings {
  /** The value of a key. Configuration implements this. */
  get(key: string): string | undefined;
}

/** The port's users: clients (8032), ApplicationMasters (8030) or administrators (8033). */
export type ResourceManagerService = "client" | "scheduler" | "admin";

const addressKeys = {
  client: { key: "yarn.resourcemanager.address", port: 8032 },
  scheduler: { key: "yarn.resourcemanager.scheduler.address", port: 8030 },
  admin: { key: "yarn.resourcemanager.admin.address", port: 8033 },
} as const satisfies Record<ResourceManagerService, { key: string; port: number }>;

const webKeys = {
  http: { key: "yarn.resourcemanager.webapp.address", port: 8088 },
  https: { key: "yarn.resourcemanager.webapp.https.address", port: 8090 },
} as const;
const hostKey = "yarn.resourcemanager.hostname";
/** The wildcard address that a server listens on, and the default in yarn-default.xml: nobody can be reached there. */
const everyAddress = "0.0.0.0";

/**
 * The addresses of the ResourceManagers: of the single one, or of each in `yarn.resourcemanager.ha.rm-ids`, in that order
 * (org.apache.hadoop.yarn.conf.HAUtil). A service without an address of its own is looked for on the host of the client address, at its
 * default port, because one process serves them all. Throws a HadoopError with code `CONFIGURATION` that names the key to set.
 */
export function resourceManagerEndpoints(settings: Settings, service: ResourceManagerService): readonly HostPort[] {
  return suffixes(settings).map((suffix) => {
    const endpoint = addressOf(settings, addressKeys[service], suffix) ?? besideClients(settings, service, suffix);
    if (endpoint !== undefined) return endpoint;
    const keys = `${addressKeys[service].key}${suffix} nor ${hostKey}${suffix}`;
    throw new HadoopError(
      `Where is the ResourceManager? In yarn-site.xml neither ${keys} is set to a host (${everyAddress} is none)`,
      {
        code: "CONFIGURATION",
      },
    );
  });
}

/** Whether the settings themselves give a service's address, for every ResourceManager. */
export function namesService(settings: Settings, service: ResourceManagerService): boolean {
  return suffixes(settings).every((suffix) => addressOf(settings, addressKeys[service], suffix) !== undefined);
}

function besideClients(settings: Settings, service: ResourceManagerService, suffix: string): HostPort | undefined {
  const clients = addressOf(settings, addressKeys.client, suffix);
  return clients && { host: clients.host, port: addressKeys[service].port };
}

/**
 * The ResourceManagers' web addresses, in the same order; undefined where none is set. `yarn.http.policy` decides which of two keys applies
 * (org.apache.hadoop.yarn.webapp.util.WebAppUtils).
 */
export function resourceManagerWebAddresses(settings: Settings): readonly (HostPort | undefined)[] {
  return suffixes(settings).map((suffix) => addressOf(settings, webKeys[webScheme(settings)], suffix));
}

/** How YARN's daemons serve their pages (`yarn.http.policy`). */
export function webScheme(settings: Settings): "http" | "https" {
  return settings.get("yarn.http.policy")?.trim().toUpperCase() === "HTTPS_ONLY" ? "https" : "http";
}

function suffixes(settings: Settings): readonly string[] {
  const ids = parseList(settings.get("yarn.resourcemanager.ha.rm-ids") ?? "");
  const highAvailability = settings.get("yarn.resourcemanager.ha.enabled")?.trim().toLowerCase() === "true";
  return highAvailability && ids.length > 0 ? ids.map((id) => `.${id}`) : [""];
}

function addressOf(
  settings: Settings,
  { key, port }: { readonly key: string; readonly port: number },
  suffix: string,
): HostPort | undefined {
  const address = settings.get(`${key}${suffix}`)?.trim();
  const endpoint = address ? checked(address, port, `${key}${suffix}`) : undefined;
  if (endpoint !== undefined && endpoint.host !== everyAddress) return endpoint;
  const host = settings.get(`${hostKey}${suffix}`)?.trim();
  return host && host !== everyAddress ? { host, port } : undefined;
}

function checked(address: string, defaultPort: number, key: string): HostPort {
  const endpoint = parseHostPort(address, defaultPort);
  if (endpoint !== undefined) return endpoint;
  throw new HadoopError(`${key} in yarn-site.xml is "${address}"; host:port is wanted`, { code: "CONFIGURATION" });
}
