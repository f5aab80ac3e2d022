import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { configuredProtections } from "../../src/hadoop/security/configured-credentials.ts";
import { protectionKey } from "../../src/hadoop/security/security-keys.ts";
import type { Problem } from "../../src/job/problem.ts";
import type { Cluster } from "./cluster.ts";
import type { Finding } from "./findings.ts";

const webPolicyKey = "dfs.http.policy";
export const clearTextKey = "tony.security.allow-cleartext";

/**
 * Whether a job's key and tokens could be read on the network of a secured cluster: they travel by RPC, in the submission and in the start of
 * each container. An error, or a warning where the job accepts that.
 */
export function clearTextProblems(configuration: Configuration, isAccepted: boolean): Problem[] {
  if (isPrivate(configuration)) return [];
  const at = configuration.describe(protectionKey);
  return isAccepted
    ? [{ severity: "warning", message: consequence, at }]
    : [{ severity: "error", message: `${consequence}: ${mend}`, at }];
}

/** The same for a keytab that goes to the staging folder by WebHDFS. */
export function keytabProblems(
  { configuration, gateway }: Pick<Cluster, "configuration" | "gateway">,
  isAccepted: boolean,
): Problem[] {
  const byTls =
    gateway === undefined
      ? configuration.get(webPolicyKey)?.toUpperCase() === "HTTPS_ONLY"
      : gateway.startsWith("https:");
  if (byTls) return [];
  const at = gateway === undefined ? configuration.describe(webPolicyKey) : `tony.hdfs.endpoint=${gateway}`;
  const message = "lets WebHDFS travel unencrypted, and with it the keytab that tony.kerberos.ship-keytab sends";
  const instead = `use HTTPS there, or accept that with ${clearTextKey}=true`;
  return isAccepted
    ? [{ severity: "warning", message, at }]
    : [{ severity: "error", message: `${message}: ${instead}`, at }];
}

/** The same for doctor, where there is no job that could accept it. */
export function clearTextFindings({
  isSecured,
  configuration,
}: Pick<Cluster, "isSecured" | "configuration">): Finding[] {
  if (!isSecured || isPrivate(configuration)) return [];
  const found = `${configuration.describe(protectionKey)} ${consequence}`;
  return [{ subject: "protection", state: "remark", found, remedy: mend }];
}

const consequence = "lets RPC travel unencrypted, and with it the job's key and your delegation tokens";
const mend = `set it to privacy, or accept that with ${clearTextKey}=true`;

function isPrivate(configuration: Configuration): boolean {
  const protections = configuredProtections(configuration) ?? ["auth"];
  return protections.every((protection) => protection === "auth-conf");
}
