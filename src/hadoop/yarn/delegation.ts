import { lookupService } from "node:dns/promises";
import { isIP } from "node:net";
import type { Configuration } from "../conf/configuration.ts";
import { type LookUp, systemLookUp, tokenServiceOf } from "../security/token-service.ts";
import { resourceManagerEndpoints } from "./endpoints.ts";

const principalKey = "yarn.resourcemanager.principal";

/**
 * The ResourceManager's principal, which renews the delegation tokens of applications
 * (org.apache.hadoop.yarn.client.util.YarnClientUtils#getRmPrincipal): `_HOST` in it is the first one's host.
 * @param nameOf the name that an IP address has
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

/** What a delegation token of the ResourceManagers is filed under, which is for all of them (ClientRMProxy#getRMDelegationTokenService). */
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
