import type { Prices } from "./job/cost.ts";
import { amount, arrayOf, bool, count, object, recordOf, type Shape, string } from "./job/shape.ts";
import type { JobSpec } from "./job/spec.ts";

/** The settings that `tony-ts portal` passes to the program that serves the portal. */
export interface PortalSettings {
  readonly port: number;
  /** The folder with the cluster's site files; see loadConfiguration. */
  readonly configurationFolder: string;
  /** Settings that override the site files. */
  readonly hadoop: Readonly<Record<string, string>>;
  /** `tony.hdfs.endpoint` */
  readonly gateway?: string;
  /** The keytab login; absent: the portal uses the tickets it finds. */
  readonly login?: { readonly principal: string; readonly keytab: string };
  readonly history: JobSpec["history"];
  /** Prices of what jobs hold. */
  readonly prices: Prices;
  /** A folder on this machine in which the portal caches what it has read; absent: each start reads it again. */
  readonly stateFolder?: string;
  /** The proxies that tell the portal who is asking; absent: none does. */
  readonly proxies?: PortalProxies;
  /** How people log in at the portal itself; absent: they cannot. */
  readonly door?: PortalDoorSettings;
  /** How the history of ended jobs is cleaned up; absent: it is not. */
  readonly upkeep?: UpkeepSettings;
}

/** How long history is kept, and how much of it. */
export interface Retention {
  readonly keepMs: number;
  /** For jobs that did not succeed; never less than for the others. */
  readonly keepFailedMs: number;
  /** Absent: no limit. */
  readonly maxJobs?: number;
  readonly maxMiB?: number;
}

export interface UpkeepSettings extends Retention {
  readonly moverIntervalMs: number;
  readonly purgerIntervalMs: number;
  /** The upkeep reports what it would do, and does nothing. */
  readonly isDryRun: boolean;
}

/** Files on the portal's machine, and the address that it listens on. */
export interface PortalDoorSettings {
  readonly listen: string;
  readonly certificate: string;
  readonly key: string;
  /** The authority that signs client certificates. Either this or `keytab` is set. */
  readonly clientAuthority?: string;
  /** With the keys of `HTTP/<this host's name>`. */
  readonly keytab?: string;
}

/** Proxies that log people in and pass their names in a header. */
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
