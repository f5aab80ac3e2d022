import { arrayOf, count, object, recordOf, type Shape, string } from "./job/shape.ts";
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
  /** Who says who asks: absent, nobody. */
  readonly proxies?: PortalProxies;
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
  },
  optional: {
    gateway: string,
    proxies: object<PortalProxies>({
      required: { listen: string, addresses: arrayOf(string), header: string },
      optional: {},
    }),
    login: object<{ readonly principal: string; readonly keytab: string }>({
      required: { principal: string, keytab: string },
      optional: {},
    }),
  },
});
