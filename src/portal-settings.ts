import type { Prices } from "./job/cost.ts";
import { amount, arrayOf, bool, count, object, recordOf, type Shape, string } from "./job/shape.ts";
import type { JobSpec } from "./job/spec.ts";

/** What `tony-ts portal` hands the program that serves it. */
export interface PortalSettings {
  readonly port: number;
  /** With the cluster's site files; see loadConfiguration. */
  readonly configurationFolder: string;
  /** Laid over them. */
  readonly hadoop: Readonly<Record<string, string>>;
  /** `tony.hdfs.endpoint` */
  readonly gateway?: string;
  /** Who logs in by a keytab; absent: whose tickets are there. */
  readonly login?: { readonly principal: string; readonly keytab: string };
  readonly history: JobSpec["history"];
  /** What jobs' holdings cost. */
  readonly prices: Prices;
  /** A folder of this machine for what it has read; absent: it is read anew by each start. */
  readonly stateFolder?: string;
  /** Who says who asks: absent, nobody. */
  readonly proxies?: PortalProxies;
  /** Where people log in at the portal itself; absent: nowhere. */
  readonly door?: PortalDoorSettings;
  /** What becomes of the history of jobs that have ended; absent: nothing. */
  readonly upkeep?: UpkeepSettings;
}

/** How long, and how much of it is kept. */
export interface Retention {
  readonly keepMs: number;
  /** Of jobs that did not succeed; never less than of the others. */
  readonly keepFailedMs: number;
  /** Absent: no limit. */
  readonly maxJobs?: number;
  readonly maxMiB?: number;
}

export interface UpkeepSettings extends Retention {
  readonly moverIntervalMs: number;
  readonly purgerIntervalMs: number;
  /** Says what it would do, and does nothing. */
  readonly isDryRun: boolean;
}

/** Files of its machine, and the address that it listens on. */
export interface PortalDoorSettings {
  readonly listen: string;
  readonly certificate: string;
  readonly key: string;
  /** Who signs certificates of clients. One of the two is there. */
  readonly clientAuthority?: string;
  /** With the keys of `HTTP/` and this host's name. */
  readonly keytab?: string;
}

/** Proxies that log people in, and name them in a header. */
export interface PortalProxies {
  /** The address that the portal listens on. */
  readonly listen: string;
  readonly addresses: readonly string[];
  readonly header: string;
}

export const readPortalSettings: Shape<PortalSettings> = object({
  required: {
    port: count,
    configurationFolder: string,
    hadoop: recordOf(string),
    history: object<JobSpec["history"]>({
      required: { timeZone: string },
      optional: { location: string, intermediate: string, finished: string },
    }),
    prices: object<Prices>({
      required: {},
      optional: { vcoreHourPrice: amount, gibHourPrice: amount, gpuHourPrice: amount, currency: string },
    }),
  },
  optional: {
    gateway: string,
    stateFolder: string,
    proxies: object<PortalProxies>({
      required: { listen: string, addresses: arrayOf(string), header: string },
      optional: {},
    }),
    door: object<PortalDoorSettings>({
      required: { listen: string, certificate: string, key: string },
      optional: { clientAuthority: string, keytab: string },
    }),
    upkeep: object<UpkeepSettings>({
      required: { keepMs: count, keepFailedMs: count, moverIntervalMs: count, purgerIntervalMs: count, isDryRun: bool },
      optional: { maxJobs: count, maxMiB: count },
    }),
    login: object<{ readonly principal: string; readonly keytab: string }>({
      required: { principal: string, keytab: string },
      optional: {},
    }),
  },
});
