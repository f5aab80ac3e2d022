import type { KeytabLogin } from "../../src/hadoop/security/kerberos/gss-api.ts";
import { imageVariables } from "../../src/job/build/build-images.ts";
import { checkKeys } from "../../src/job/build/check-keys.ts";
import { type JobText, readJob } from "../../src/job/build/load-job.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import type { Prices } from "../../src/job/cost.ts";
import { costKeys } from "../../src/job/keys/cost.ts";
import { readSection } from "../../src/job/keys/section.ts";
import { hasErrors, inFileOrder, invalidJob, type Problem } from "../../src/job/problem.ts";
import type { Settings } from "../../src/job/settings.ts";
import type { ImageVariables, JobSpec } from "../../src/job/spec.ts";
import type { PortalDoorSettings, UpkeepSettings } from "../../src/portal-settings.ts";
import { type ClientContext, variablesOf } from "../context.ts";
import { keytabLogin } from "./keytab-login.ts";

/** Settings outside of a job: the site's, and those of the command line. */
export interface SiteSettings {
  /** The queue of jobs that name none. */
  readonly queue: string;
  readonly stagingDir: string | undefined;
  readonly cacheDir: string | undefined;
  /** Users, besides the submitter, whose files and folders are trusted. */
  readonly trustedOwners: readonly string[];
  readonly nodeBinary: string | undefined;
  readonly namedRuntimes: NamedRuntimes;
  readonly gateway: string | undefined;
  /** The resource types that count GPUs. */
  readonly gpuTypes: readonly string[];
  /** What the resources that jobs hold cost. */
  readonly prices: Prices;
  readonly caFile: string | undefined;
  readonly login: KeytabLogin | undefined;
  /** The image of ApplicationMasters' containers; undefined: they run in none. */
  readonly image: ImageVariables | undefined;
  readonly history: JobSpec["history"];
  /** Where `tony-ts portal` stores what it has read. */
  readonly portalState: string | undefined;
  /** Files with which people log in at the portal. */
  readonly portalDoor: PortalDoorFiles;
  /** What `tony-ts portal --maintain` does with the history. */
  readonly upkeep: Omit<UpkeepSettings, "isDryRun">;
  readonly hadoop: Readonly<Record<string, string>>;
  /**
   * What is wrong with these settings, for commands that depend on all of them and check no job that would report it; a wrong setting
   * counts as its default, or as nothing.
   */
  readonly problems: readonly Problem[];
}

export type PortalDoorFiles = Readonly<Record<Exclude<keyof PortalDoorSettings, "listen">, string | undefined>>;

/** A Node that is configured for one architecture, and where: `job.xml:12`. */
export interface NamedRuntime {
  readonly value: string;
  readonly at: string | undefined;
}

/** Runtimes that are configured for one architecture alone. */
export type NamedRuntimes = Readonly<Partial<Record<"x64" | "arm64", NamedRuntime>>>;

export function namedRuntimes(settings: Settings): NamedRuntimes {
  const named = (key: "tony.node.binary.x64" | "tony.node.binary.arm64") => {
    const value = readSetting(settings, key);
    return value === undefined ? undefined : { value, at: settings.get(key)?.at };
  };
  const [x64, arm64] = [named("tony.node.binary.x64"), named("tony.node.binary.arm64")];
  return { ...(x64 && { x64 }), ...(arm64 && { arm64 }) };
}

export function trustedOwners(settings: Settings): readonly string[] {
  return readSetting(settings, "tony.cache.trusted-owners") ?? [];
}

function historySettings(settings: Settings): JobSpec["history"] {
  const location = readSetting(settings, "tony.history.location");
  const intermediate = readSetting(settings, "tony.history.intermediate");
  const finished = readSetting(settings, "tony.history.finished");
  return {
    timeZone: readSetting(settings, "tony.history.finished-dir-timezone"),
    ...(location !== undefined && { location }),
    ...(intermediate !== undefined && { intermediate }),
    ...(finished !== undefined && { finished }),
  };
}

function upkeepSettings(settings: Settings): SiteSettings["upkeep"] {
  const maxJobs = readSetting(settings, "tony.history.max-jobs");
  const maxMiB = readSetting(settings, "tony.history.max-size");
  return {
    moverIntervalMs: readSetting(settings, "tony.history.mover-interval-ms"),
    purgerIntervalMs: readSetting(settings, "tony.history.purger-interval-ms"),
    keepMs: readSetting(settings, "tony.history.retention-sec"),
    keepFailedMs: readSetting(settings, "tony.history.retention-failed-sec"),
    ...(maxJobs !== undefined && { maxJobs }),
    ...(maxMiB !== undefined && { maxMiB }),
  };
}

function pricesOf(settings: Settings): Prices {
  return readSection(costKeys, "am", (name) => readSetting(settings, name));
}

/** Reads `tony-site.xml` and `KEY=VALUE` settings (or a job's file) for verbs that need no job. */
export function readSiteSettings(conf: readonly string[], context: ClientContext): SiteSettings {
  const text = readJob({ conf }, { variables: variablesOf(context) });
  if (hasErrors(text.problems)) throw invalidJob(text.problems);
  return {
    queue: readSetting(text.settings, "tony.yarn.queue"),
    stagingDir: readSetting(text.settings, "tony.staging-dir"),
    cacheDir: readSetting(text.settings, "tony.cache.dir"),
    trustedOwners: trustedOwners(text.settings),
    nodeBinary: readSetting(text.settings, "tony.node.binary"),
    namedRuntimes: namedRuntimes(text.settings),
    gateway: readSetting(text.settings, "tony.hdfs.endpoint"),
    gpuTypes: readSetting(text.settings, "tony.gpu-resource-types"),
    prices: pricesOf(text.settings),
    caFile: readSetting(text.settings, "tony.security.ca-file"),
    login: keytabLogin(text.settings),
    image: imageVariables({ read: (name, parameters) => readSetting(text.settings, name, parameters) }, "am"),
    history: historySettings(text.settings),
    portalState: readSetting(text.settings, "tony.portal.state-dir"),
    portalDoor: {
      certificate: readSetting(text.settings, "tony.portal.tls-certificate"),
      key: readSetting(text.settings, "tony.portal.tls-key"),
      clientAuthority: readSetting(text.settings, "tony.portal.client-ca"),
      keytab: readSetting(text.settings, "tony.portal.spnego-keytab"),
    },
    upkeep: upkeepSettings(text.settings),
    hadoop: text.hadoop,
    problems: problemsOf(text),
  };
}

/** As `validate` finds them, except that a missing site folder is an error: without it all of the site's settings are missing. */
function problemsOf({ settings, problems }: JobText): Problem[] {
  const read = problems.map((one): Problem => (one.at === "TONY_CONF_DIR" ? { ...one, severity: "error" } : one));
  return inFileOrder([...read, ...checkKeys(settings)]);
}
