import { formatHostPort, type HostPort } from "../../src/hadoop/conf/values.ts";

/**
 * A job's address at the ResourceManagers' proxy, by way of the one that is active. One that took over names the first that its
 * configuration has (org.apache.hadoop.yarn.webapp.util.WebAppUtils#getResolvedRMWebAppURLWithoutScheme), which may be the one that is gone.
 *
 * @param url as a report has it; a proxy of its own, or none, stays as it is
 * @param webAddresses of all ResourceManagers, as far as they are known
 */
export function throughActive(
  url: string,
  webAddresses: readonly (HostPort | undefined)[],
  active: HostPort | undefined,
): string {
  if (active === undefined || !URL.canParse(url)) return url;
  const { host } = new URL(url);
  const isTheirs = webAddresses.some((address) => address !== undefined && formatHostPort(address) === host);
  return isTheirs ? url.replace(`//${host}/`, `//${formatHostPort(active)}/`) : url;
}
