import { isObject } from "../../src/hadoop/json.ts";
import { listWords } from "../../src/job/reasons/words.ts";
import type { Finding } from "./finding.ts";

/** One ResourceManager or NameNode, as its web server tells of it. */
export interface Master {
  /** `host:port` of its web server. */
  readonly address: string;
  /** `active`, `standby`; absent while it does not answer. */
  readonly state?: string;
  /** Why it says nothing to us, though something answers there. */
  readonly trouble?: string;
  /** Of Hadoop. */
  readonly release?: string;
}

/** Where a ResourceManager and a NameNode say what they are; a standby answers, too. */
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

/** `CapacityScheduler`; undefined where the document does not say it. */
export function schedulerOf(document: unknown): string | undefined {
  const scheduler = isObject(document) ? document.scheduler : undefined;
  const info = isObject(scheduler) ? scheduler.schedulerInfo : undefined;
  const type = isObject(info) ? info.type : undefined;
  return typeof type === "string" ? type.charAt(0).toUpperCase() + type.slice(1) : undefined;
}

/** What the masters of a kind are. Of several, each that is silent leaves the others without a replacement. */
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
