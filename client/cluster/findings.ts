import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { isObject } from "../../src/hadoop/json.ts";
import type { KerberosLogin } from "../../src/hadoop/security/kerberos/login.ts";
import { type LogFormat, logFormats, logsAreAggregated, userLogFolder } from "../../src/hadoop/yarn/aggregated-logs.ts";
import type { NodeLabel, NodeReport, QueueInfo, Resource, ResourceType } from "../../src/hadoop/yarn/records.ts";
import type { NodeSnapshot } from "../../src/job/cluster-nodes.ts";
import { gpuTypesAmong } from "../../src/job/gpus.ts";
import { amountWords, durationWords, listWords, memoryWords, nodeWords } from "../../src/job/reasons/words.ts";
import { isFairScheduler, leaves } from "./cluster-facts.ts";

/** One finding about the cluster. */
export interface Finding {
  readonly subject: string;
  readonly state: "well" | "remark" | "wrong";
  readonly found: string;
  readonly remedy?: string;
}

/** One ResourceManager or NameNode, as its web server describes it. */
export interface Master {
  /** `host:port` of its web server. */
  readonly address: string;
  /** `active`, `standby`; absent while it does not answer. */
  readonly state?: string;
  /** Why it told us nothing, though a server answers at that address. */
  readonly trouble?: string;
  /** The release of Hadoop. */
  readonly release?: string;
}

/** Where a ResourceManager and a NameNode describe themselves; a standby answers, too. */
export const masterPaths = {
  /** org.apache.hadoop.yarn.server.resourcemanager.webapp.dao.ClusterInfo */
  resourceManager: "/ws/v1/cluster/info",
  /** org.apache.hadoop.yarn.server.resourcemanager.webapp.dao.SchedulerTypeInfo */
  scheduler: "/ws/v1/cluster/scheduler",
  /** org.apache.hadoop.hdfs.server.namenode.NameNodeStatusMXBean */
  nameNode: "/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus",
} as const;

export function resourceManagerOf(address: string, document: unknown): Master {
  const info = isObject(document) ? document.clusterInfo : undefined;
  if (!isObject(info) || typeof info.haState !== "string") return { address };
  const release = typeof info.hadoopVersion === "string" ? { release: info.hadoopVersion } : {};
  return { address, state: info.haState.toLowerCase(), ...release };
}

export function nameNodeOf(address: string, document: unknown): Master {
  const [bean] = isObject(document) && Array.isArray(document.beans) ? document.beans : [];
  return isObject(bean) && typeof bean.State === "string" ? { address, state: bean.State } : { address };
}

/** `CapacityScheduler`; undefined where the document does not name it. */
export function schedulerOf(document: unknown): string | undefined {
  const scheduler = isObject(document) ? document.scheduler : undefined;
  const info = isObject(scheduler) ? scheduler.schedulerInfo : undefined;
  const type = isObject(info) ? info.type : undefined;
  return typeof type === "string" ? type.charAt(0).toUpperCase() + type.slice(1) : undefined;
}

/** The state of the masters of a kind. Where there are several, each one that is silent leaves the others without a replacement. */
export function mastersFinding(kind: string, masters: readonly Master[], scheduler?: string): Finding {
  const states = masters.map(({ address, state, trouble }) => `${address} ${state ?? trouble ?? "does not answer"}`);
  const releases = new Set(masters.flatMap(({ release }) => release ?? []));
  const hadoop = releases.size === 0 ? [] : [`Hadoop ${listWords([...releases])}`];
  const found = [`${kind} ${states.join(", ")}`, ...hadoop, ...(scheduler === undefined ? [] : [scheduler])].join("; ");
  const subject = "masters";
  const silent = masters.filter(({ state }) => state === undefined);
  if (silent.length === 0) return { subject, state: "well", found };
  const isRefusal = silent.some(({ trouble }) => trouble !== undefined);
  const remedy = isRefusal
    ? "jobs run without its web pages; HDFS refuses the same, and its line says how to mend it"
    : masters.length > 1
      ? `start ${listWords(silent.map(({ address }) => address))}: nothing takes over from the other one`
      : "jobs run without its web pages, and links to them do not open from here";
  return { subject, state: "remark", found, remedy };
}

/** The ResourceManager's queues; what it does not know or show is absent. */
export interface QueueFacts {
  readonly queue: QueueInfo | undefined;
  readonly root: QueueInfo | undefined;
  readonly acls: ReadonlyMap<string, readonly string[]>;
}

/** Whether the queue of that name takes jobs. */
export function queueFinding(name: string, { queue, root, acls }: QueueFacts): Finding {
  if (root !== undefined && isFairScheduler(root)) return fairFinding(name, queue);
  const all =
    root === undefined
      ? ""
      : leaves(root)
          .map((leaf) => leaf.name)
          .join(", ");
  const remedy = `choose another with tony.yarn.queue: ${all}`;
  const wrong = (found: string): Finding => ({ subject: "queue", state: "wrong", found, remedy });
  if (queue === undefined) return wrong(`there is no queue ${name}`);
  if (queue.children.length > 0) return wrong(`${name} takes no applications itself`);
  if (queue.state !== "RUNNING") return wrong(`${name} is ${queue.state}`);
  if (!mayBeSubmittedTo(queue, acls)) return wrong(`you may not submit to ${name}`);
  const share = `${percent(queue.capacity)} of its parent, up to ${percent(queue.maximumCapacity)}`;
  return { subject: "queue", state: "well", found: `${name}: ${share}, now ${percent(queue.currentCapacity)} used` };
}

/** FairScheduler decides at the submission where a job goes, and reports no shares for a parent queue. */
function fairFinding(name: string, queue: QueueInfo | undefined): Finding {
  if (queue !== undefined && queue.children.length === 0) {
    return { subject: "queue", state: "well", found: `${name} is there (FairScheduler)` };
  }
  const state = queue === undefined ? `there is no queue ${name} yet` : `${name} holds other queues`;
  const found = `${state}: FairScheduler makes queues, or places jobs, by its rules`;
  return { subject: "queue", state: "remark", found, remedy: "if it refuses a job, name a queue with tony.yarn.queue" };
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Lists name queues by path or by the last part of it, depending on the ResourceManager's release. */
function mayBeSubmittedTo(queue: QueueInfo, acls: ReadonlyMap<string, readonly string[]>): boolean {
  const entry = acls.get(queue.path) ?? acls.get(queue.name);
  return entry === undefined || entry.some((acl) => acl.startsWith("SUBMIT"));
}

const gpuTypesKey = "tony.gpu-resource-types";

/** What containers may ask for, and whether the site's GPUs have the resource types that the settings name. */
export function resourcesFinding(
  types: readonly ResourceType[],
  nodes: readonly NodeReport[],
  { maximum, gpuTypes }: { readonly maximum: Resource; readonly gpuTypes: readonly string[] },
): Finding {
  const names = types.map(({ name }) => name);
  const freeMiB = nodes.map(({ capability, used }) => capability.memoryMiB - used.memoryMiB);
  const largest = `largest container ${amountWords(maximum)}; largest free space ${memoryWords(Math.max(0, ...freeMiB))}`;
  const found = `${names.join(", ")}; ${largest}`;
  const [asked] = gpuTypes;
  const others = gpuTypesAmong(names);
  if (asked === undefined || names.includes(asked) || others.length === 0) {
    return { subject: "resources", state: "well", found };
  }
  return {
    subject: "resources",
    state: "remark",
    found: `${found}; tony.<role>.gpus asks for ${asked}, which this cluster does not have`,
    remedy: `set ${gpuTypesKey} to ${others.join(",")} in tony-site.xml`,
  };
}

interface LabelFacts {
  readonly labels: readonly NodeLabel[];
  readonly queue: QueueInfo | undefined;
  /** Nodes that do not run and whose label no running node has. */
  readonly away: readonly NodeSnapshot[];
}

/** The cluster's labels, and which of them the queue can use. */
export function labelsFinding(queueName: string, { labels, queue, away }: LabelFacts): Finding {
  const subject = "labels";
  if (labels.length === 0) return { subject, state: "well", found: "the cluster has no node labels" };
  const described = labels.map(({ name, exclusive }) => `${name}${exclusive ? "" : " (shared)"}`).join(", ");
  const reach = queue?.accessibleNodeLabels.filter((label) => label !== "").join(", ") ?? "";
  const found = `${described}; queue ${queueName} reaches ${reach === "" ? "none" : reach}`;
  const idle = labels.flatMap(({ name }) => {
    const nodes = away.filter((node) => node.labels.includes(name)).map(nodeWords);
    return nodes.length === 0 ? [] : [`no node with label ${name} runs: ${listWords(nodes)}`];
  });
  if (idle.length === 0) return { subject, state: "well", found };
  const remedy = "jobs that ask for it wait until such a node runs again: ask whoever operates the cluster";
  return { subject, state: "remark", found: [found, ...idle].join("; "), remedy };
}

/** Where `tony-ts logs` finds the output of an ended job, and in which format. */
export function logsFinding(configuration: Configuration, user: string): Finding {
  const subject = "logs";
  if (!logsAreAggregated(configuration)) {
    return {
      subject,
      state: "remark",
      found: "the cluster does not keep logs after a job ends (yarn.log-aggregation-enable is false)",
      remedy: "to read them then, set yarn.log-aggregation-enable to true on the cluster and here",
    };
  }
  const formats = logFormats(configuration);
  const found = `kept in ${userLogFolder(configuration, user)} as ${formats.map(formatWords).join(", ")}`;
  const [written] = formats;
  if (written?.kind !== "unknown") return { subject, state: "well", found };
  return {
    subject,
    state: "remark",
    found,
    remedy: `tony-ts reads TFile and indexed files only; for ${written.name} use: yarn logs -applicationId ID`,
  };
}

function formatWords({ name, kind, className }: LogFormat): string {
  if (kind === "TFile") return name;
  return `${name} (${kind === "unknown" ? (className ?? "no class is configured for it") : "indexed files"})`;
}

/** When clocks differ by more than this, Kerberos refuses, and times in logs are confusing. */
const largestSkewMs = 30_000;

/** When a request was sent and when its answer arrived, by this machine's clock. */
export interface RequestTime {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * By how much the clocks differ, from the time that HDFS gave a file during a request. Only a time outside the request's duration is a
 * difference, so that a slow request does not count as one.
 */
export function clockFinding(modificationTimeMs: number, { startMs, endMs }: RequestTime): Finding {
  const skewMs = Math.max(startMs - modificationTimeMs, modificationTimeMs - endMs, 0);
  if (skewMs === 0) return { subject: "clock", state: "well", found: "agrees with HDFS's" };
  const found = `differs from HDFS's by ${(skewMs / 1000).toFixed(1)} s`;
  if (skewMs <= largestSkewMs) return { subject: "clock", state: "well", found };
  return { subject: "clock", state: "remark", found, remedy: "set this machine's clock, or the cluster's, by NTP" };
}

/** The part of a Cluster that is needed. */
interface Loggable {
  readonly login: Pick<KerberosLogin, "keytab" | "credential"> | undefined;
}

/** A ticket that expires sooner is of little use for following a job. */
const soonSeconds = 3_600;

/** Who is logged in by Kerberos, and until when; nothing where Kerberos is not used. */
export async function kerberosFindings({ login }: Loggable): Promise<Finding[]> {
  if (login === undefined) return [];
  const { principal, remainingSeconds } = await login.credential();
  const left = `for another ${durationWords(remainingSeconds * 1_000)}`;
  if (login.keytab !== undefined) {
    return [
      { subject: "Kerberos", state: "well", found: `${principal} by ${login.keytab.keytab}, renewed before it ends` },
    ];
  }
  const found = `the ticket of ${principal} is valid ${left}`;
  if (remainingSeconds >= soonSeconds) return [{ subject: "Kerberos", state: "well", found }];
  return [{ subject: "Kerberos", state: "remark", found, remedy: "kinit, or kinit -R where it may be renewed" }];
}
