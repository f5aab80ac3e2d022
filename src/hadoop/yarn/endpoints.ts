import { type HostPort, parseHostPort, parseList } from "../conf/values.ts";
import { HadoopError } from "../errors.ts";

/** What is read of Hadoop's configuration. */
export interface Settings {
  /** The value of a key; a Configuration is one such. */
  get(key: string): string | undefined;
}

/** Who asks: a client (8032), an ApplicationMaster (8030) or an administrator (8033). */
export type ResourceManagerService = "client" | "scheduler" | "admin";

const addressKeys = {
  client: { key: "yarn.resourcemanager.address", port: 8032 },
  scheduler: { key: "yarn.resourcemanager.scheduler.address", port: 8030 },
  admin: { key: "yarn.resourcemanager.admin.address", port: 8033 },
} as const satisfies Record<ResourceManagerService, { key: string; port: number }>;

/**
 * Where the ResourceManagers listen: one, or each of `yarn.resourcemanager.ha.rm-ids` in that order
 * (org.apache.hadoop.yarn.conf.HAUtil). Throws a HadoopError with code `CONFIGURATION` that names the key to set.
 */
export function resourceManagerEndpoints(settings: Settings, service: ResourceManagerService): readonly HostPort[] {
  const ids = parseList(settings.get("yarn.resourcemanager.ha.rm-ids") ?? "");
  const highAvailability = settings.get("yarn.resourcemanager.ha.enabled")?.trim().toLowerCase() === "true";
  if (!highAvailability || ids.length === 0) return [endpointOf(settings, service, "")];
  return ids.map((id) => endpointOf(settings, service, `.${id}`));
}

function endpointOf(settings: Settings, service: ResourceManagerService, suffix: string): HostPort {
  const { key, port } = addressKeys[service];
  const address = settings.get(`${key}${suffix}`)?.trim();
  if (address) return checked(address, port, `${key}${suffix}`);
  const hostKey = `yarn.resourcemanager.hostname${suffix}`;
  const host = settings.get(hostKey)?.trim();
  if (host && host !== "0.0.0.0") return { host, port };
  throw new HadoopError(
    `Where is the ResourceManager? Neither ${key}${suffix} nor ${hostKey} is set in yarn-site.xml`,
    { code: "CONFIGURATION" },
  );
}

function checked(address: string, defaultPort: number, key: string): HostPort {
  const endpoint = parseHostPort(address, defaultPort);
  if (endpoint !== undefined) return endpoint;
  throw new HadoopError(`${key} in yarn-site.xml is "${address}"; host:port is wanted`, { code: "CONFIGURATION" });
}
