import { lookupService } from "node:dns/promises";
import { isIP } from "node:net";
import type { Configuration } from "../conf/configuration.ts";
import { formatHostPort, type HostPort, parseHostPort } from "../conf/values.ts";
import { httpDelegationToken, type TokenRequestOptions } from "../http/delegation-token.ts";
import type { Token } from "../security/token.ts";
import { type LookUp, systemLookUp, tokenServiceOf } from "../security/token-service.ts";
import { resourceManagerEndpoints, webScheme } from "./endpoints.ts";

const principalKey = "yarn.resourcemanager.principal";

/**
 * The ResourceManager's principal, which renews the delegation tokens of applications
 * (org.apache.hadoop.yarn.client.util.YarnClientUtils#getRmPrincipal): `_HOST` in it is the first ResourceManager's host.
 * @param nameOf looks up the name of an IP address
 * @throws ConfigurationError when none is configured
 */
export async function tokenRenewer(
  configuration: Configuration,
  nameOf: (address: string) => Promise<string> = nameOfAddress,
): Promise<string> {
  const principal = configuration.get(principalKey);
  if (!principal) {
    throw configuration.invalid(
      principalKey,
      "is not set: nobody could renew the delegation tokens of a job; the ResourceManager's own yarn-site.xml has it",
      "CONFIGURATION_MISSING",
    );
  }
  if (!principal.includes("/_HOST")) return principal;
  const [{ host } = { host: "" }] = resourceManagerEndpoints(configuration, "client");
  const name = isIP(host) === 0 ? host : await nameOf(host);
  return principal.replace("_HOST", name.toLowerCase());
}

/** The service name of the ResourceManagers' delegation token, which is valid for all of them (ClientRMProxy#getRMDelegationTokenService). */
export async function resourceManagerTokenService(
  configuration: Configuration,
  lookUp: LookUp = systemLookUp,
): Promise<string> {
  const endpoints = resourceManagerEndpoints(configuration, "client");
  const services = await Promise.all(endpoints.map((endpoint) => tokenServiceOf(endpoint, configuration, lookUp)));
  return services.join(",");
}

async function nameOfAddress(address: string): Promise<string> {
  return (await lookupService(address, 0)).hostname;
}

const enabledKey = "yarn.timeline-service.enabled";
const versionKeys = ["yarn.timeline-service.versions", "yarn.timeline-service.version"];
const webKeys = {
  http: { key: "yarn.timeline-service.webapp.address", port: 8188 },
  https: { key: "yarn.timeline-service.webapp.https.address", port: 8190 },
} as const;

/** The timeline server of a cluster that has one. */
interface TimelineServer {
  readonly endpoint: HostPort;
  readonly scheme: "http" | "https";
  /** `yarn.timeline-service.client.best-effort`: jobs run even without the server. */
  readonly isOptional: boolean;
}

/**
 * The address of a timeline server of version 1 or 1.5; undefined where there is none. One of version 2 gives its tokens to an
 * ApplicationMaster itself (org.apache.hadoop.yarn.conf.YarnConfiguration#timelineServiceV1Enabled).
 * @throws ConfigurationError for a malformed address
 */
export function timelineServer(configuration: Configuration): TimelineServer | undefined {
  if (!configuration.getBoolean(enabledKey, false)) return undefined;
  const versions = versionKeys.map((key) => configuration.getList(key)).find((found) => found.length > 0) ?? ["1.0"];
  if (!versions.some((version) => Math.trunc(Number.parseFloat(version)) === 1)) return undefined;
  const scheme = webScheme(configuration);
  const isOptional = configuration.getBoolean("yarn.timeline-service.client.best-effort", false);
  return { endpoint: addressOf(configuration, webKeys[scheme]), scheme, isOptional };
}

/**
 * Fetches a delegation token of a timeline server (org.apache.hadoop.yarn.client.api.impl.TimelineClientImpl). @throws as
 * httpDelegationToken
 */
export async function timelineDelegationToken(
  { endpoint, scheme }: TimelineServer,
  options: TokenRequestOptions,
): Promise<Token> {
  return await httpDelegationToken(`${scheme}://${formatHostPort(endpoint)}/ws/v1/timeline/`, options);
}

function addressOf(
  configuration: Configuration,
  { key, port }: { readonly key: string; readonly port: number },
): HostPort {
  const address = configuration.get(key);
  if (!address) return { host: configuration.get("yarn.timeline-service.hostname") || "0.0.0.0", port };
  const endpoint = parseHostPort(address, port);
  if (endpoint === undefined) throw configuration.invalid(key, `must be host:port, not "${address}"`);
  return endpoint;
}
