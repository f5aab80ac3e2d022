import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { parseHostPort } from "../../src/hadoop/conf/values.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { nameNodeEndpoints } from "../../src/hadoop/hdfs/namenodes.ts";
import { resourceManagerEndpoints } from "../../src/hadoop/yarn/endpoints.ts";
import type { Problem } from "../../src/job/problem.ts";
import { listWords } from "../../src/job/reasons/words.ts";
import type { Cluster } from "./cluster.ts";
import { schedulerWords } from "./hadoop-configuration.ts";
import { type Network, thisMachinesNetwork } from "./network.ts";

/** Finds wrong addresses that only a job's containers use, so that tony-ts's own calls to the cluster do not reveal them. */
export async function addressProblems(
  { configuration, gateway }: Pick<Cluster, "configuration" | "gateway">,
  network: Network = thisMachinesNetwork,
): Promise<Problem[]> {
  const troubles = await Promise.all([
    gateway === undefined ? unlessUnreadable(fileSystemTrouble(configuration, network)) : undefined,
    unlessUnreadable(schedulerTrouble(configuration, network)),
  ]);
  return troubles.flatMap((message) => (message === undefined ? [] : [{ severity: "warning", message }]));
}

/** An unreadable configuration is reported by the code that needs it. */
function unlessUnreadable(trouble: Promise<string | undefined>): Promise<string | undefined> {
  return trouble.catch(() => undefined);
}

const fileSystemKey = "fs.defaultFS";

/** Containers fetch files from the host in their URLs; tony-ts sends them to a web address, which may be configured separately. */
async function fileSystemTrouble(configuration: Configuration, network: Network): Promise<string | undefined> {
  const { scheme, authority = "" } = splitUri(configuration.get(fileSystemKey) ?? "")?.root ?? {};
  const host = parseHostPort(authority, 8020)?.host.toLowerCase();
  if (scheme !== "hdfs" || host === undefined) return undefined;
  if (configuration.getList("dfs.nameservices").includes(authority)) return undefined;
  const names = `${configuration.describe(fileSystemKey)} names the host ${host}`;
  // Hadoop parses it with java.net.URI, which accepts only RFC 2396 host names.
  if (host.includes("_")) {
    return `${names}: Java finds no host name with "_" in a URL, so that nodes cannot fetch the job's files; use its address, or a name without`;
  }
  const web = nameNodeEndpoints(configuration, authority).map((url) => new URL(url).hostname.replace(/^\[|\]$/g, ""));
  if (web.includes(host)) return undefined;
  const [named, ...sentTo] = await Promise.all([host, ...web].map((one) => network.addressesOf(one)));
  const sends = `while tony-ts sends them to ${listWords(web)} (dfs.namenode.http-address)`;
  if (named?.length === 0) {
    return `${names}, which this machine does not know: nodes that do not know it cannot fetch the job's files, ${sends}`;
  }
  if (!areApart(named, sentTo)) return undefined;
  return `${names}: nodes fetch the job's files from there, ${sends}, which has another address; unless both are the same NameNode, they find nothing`;
}

/** ApplicationMasters register with a port of the ResourceManager that only they use. */
async function schedulerTrouble(configuration: Configuration, network: Network): Promise<string | undefined> {
  const managers = resourceManagerEndpoints(configuration, "client");
  const schedulers = resourceManagerEndpoints(configuration, "scheduler");
  const pairs = schedulers.map(
    (scheduler, index) => [scheduler.host, managers[index]?.host ?? scheduler.host] as const,
  );
  // A node's own proxy (AMRMProxy), or a tunnel to the ResourceManager's other port.
  if (pairs.some(([one, other]) => isLocal(one) !== isLocal(other))) return undefined;
  const [refusals, ...elsewhere] = await Promise.all([
    Promise.all(schedulers.map((scheduler) => network.refuses(scheduler))),
    ...pairs.map(([scheduler, manager]) => elsewhereWords(scheduler, manager, network)),
  ]);
  // A standby refuses connections as well.
  const refused =
    "where connections from this machine are refused: if those from nodes are, too, the job stays ACCEPTED";
  const why = refusals.every(Boolean) ? refused : elsewhere.find((words) => words !== undefined);
  return why && `ApplicationMasters look for the ResourceManager at ${schedulerWords(configuration)}, ${why}; ${MEND}`;
}

const MEND = "copy the cluster's own yarn-site.xml, or set the key";

async function elsewhereWords(scheduler: string, manager: string, network: Network): Promise<string | undefined> {
  if (scheduler === manager) return undefined;
  const [named, own] = await Promise.all([network.addressesOf(scheduler), network.addressesOf(manager)]);
  if (named?.length === 0)
    return `but this machine does not know ${scheduler}: on nodes that do not, the job stays ACCEPTED`;
  if (!areApart(named, [own])) return undefined;
  return `but it answers tony-ts at ${manager}, another address: unless it is at both, the job stays ACCEPTED`;
}

function isLocal(host: string): boolean {
  return /^(?:localhost|127\.0\.0\.1|::1)$/.test(host);
}

/** Whether servers have no address in common. A loopback address is this machine, which has other addresses, or a tunnel that leads elsewhere. */
function areApart(one: readonly string[] | undefined, others: readonly (readonly string[] | undefined)[]): boolean {
  const mayBeAnywhere = [one, ...others].some((addresses) => addresses?.some(isLoopback) ?? true);
  return !mayBeAnywhere && !others.flat().some((address) => address !== undefined && one?.includes(address));
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}
