import { formatHostPort, type HostPort } from "../../src/hadoop/conf/values.ts";

/**
 * A job's address at the ResourceManagers' proxy, at the one that is active. A ResourceManager that took over names the first of its
 * configuration (org.apache.hadoop.yarn.webapp.util.WebAppUtils#getResolvedRMWebAppURLWithoutScheme), which may be the one that is gone.
 *
 * @param url from the report; the address of a separate proxy, or an empty one, stays as it is
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
