import { existsSync } from "node:fs";
import path from "node:path";
import { ExitCode, UserError } from "../../src/errors.ts";
import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { configurationFolders, findSiteFile, loadConfiguration } from "../../src/hadoop/conf/site-files.ts";
import { formatHostPort } from "../../src/hadoop/conf/values.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { namesService, resourceManagerEndpoints } from "../../src/hadoop/yarn/endpoints.ts";
import { type ClientContext, variablesOf } from "../context.ts";

/** Where distributions put it; used when nothing else says where it is. */
const usualFolder = "/etc/hadoop/conf";

/** The folders with a cluster's site files. */
export interface ConfigurationFolder {
  /** One folder, or several joined by ":"; a file is taken from the first folder that has it. */
  readonly path: string;
  /** The variables that name them; none where the configuration was found in a usual place. */
  readonly namedBy: readonly string[];
}

/** Where Hadoop's own commands find it; undefined when nothing says where. */
export function configurationFolder(
  environment: ClientContext["environment"],
  exists: (path: string) => boolean = existsSync,
): ConfigurationFolder | undefined {
  const { HADOOP_CONF_DIR = "", YARN_CONF_DIR = "" } = environment;
  const named = Object.entries({ HADOOP_CONF_DIR, YARN_CONF_DIR })
    .map(([variable, value]) => ({ variable, folders: configurationFolders(value) }))
    .filter(({ folders }) => folders.length > 0);
  if (named.length > 0) {
    const folders = new Set(named.flatMap((one) => one.folders));
    return { path: [...folders].join(":"), namedBy: named.map(({ variable }) => variable) };
  }
  const found = usualFolders(environment).find((folder) => exists(path.join(folder, "core-site.xml")));
  return found === undefined ? undefined : { path: found, namedBy: [] };
}

/** Where the configuration came from, for messages: `HADOOP_CONF_DIR is /etc/hadoop`. */
export function describeFolder({ path: folder, namedBy }: ConfigurationFolder): string {
  return namedBy.length === 0
    ? `HADOOP_CONF_DIR is not set; ${folder} is used`
    : `${namedBy.join(" and ")} ${namedBy.length === 1 ? "is" : "are"} ${folder}`;
}

/** Variables of Hadoop 3 and 2, and of distributions, which install Hadoop's parts separately. */
function usualFolders(environment: ClientContext["environment"]): string[] {
  const { HADOOP_HOME, HADOOP_PREFIX, HADOOP_COMMON_HOME, HADOOP_YARN_HOME, YARN_HOME } = environment;
  const homes = [HADOOP_HOME, HADOOP_PREFIX, HADOOP_COMMON_HOME, HADOOP_YARN_HOME, YARN_HOME];
  const ofHomes = homes.flatMap((home) => (home ? [path.join(home, "etc", "hadoop"), path.join(home, "conf")] : []));
  return [...new Set([...ofHomes, usualFolder])];
}

/**
 * The configuration of the cluster that the environment names, with a job's own Hadoop settings on top. Where it lacks what is
 * needed to reach a cluster at all, a UserError (`NO_CLUSTER`, exit code 3) says what to set.
 */
export function readClusterConfiguration(
  context: ClientContext,
  overrides: Readonly<Record<string, string>> = {},
): Configuration {
  const folder = configurationFolder(context.environment)?.path;
  if (folder === undefined) throw noConfiguration(context.environment);
  const folders = configurationFolders(folder);
  if (!folders.some((one) => existsSync(one))) {
    const [none, exist] = folders.length === 1 ? ["The", "does not exist"] : ["None of the", "exists"];
    throw noCluster(
      `${none} Hadoop configuration folder${folders.length === 1 ? "" : "s"} ${folders.join(", ")} ${exist}.`,
    );
  }
  let configuration: Configuration;
  try {
    configuration = loadConfiguration(folder, variablesOf(context)).withValues(overrides);
  } catch (error) {
    // The message already says how to fix it.
    throw new UserError(`The cluster's configuration cannot be used: ${errorMessage(error)}\n${elsewhere}`, {
      code: "NO_CLUSTER",
      exitCode: ExitCode.cluster,
      cause: error,
    });
  }
  if (!resourceManagerKeys.some((key) => configuration.has(key))) {
    throw noCluster(
      `${siteFileWords(folder, "yarn-site.xml")} where the ResourceManager is: ` +
        `set ${resourceManagerKeys.slice(0, -1).join(", ")} or ${resourceManagerKeys.at(-1)}.`,
    );
  }
  const fileSystem = configuration.get("fs.defaultFS");
  if (fileSystem === undefined || fileSystem.startsWith("file:")) {
    throw noCluster(
      `${siteFileWords(folder, "core-site.xml")} which file system the cluster has: fs.defaultFS is ${fileSystem}.`,
    );
  }
  return configuration;
}

/** `/etc/hadoop/yarn-site.xml does not say`, or that this file does not exist. */
function siteFileWords(folder: string, name: string): string {
  const file = findSiteFile(folder, name);
  return file === undefined
    ? `There is no ${name} in ${configurationFolders(folder).join(" or ")}, so nothing says`
    : `${file} does not say`;
}

/** The message where `configurationFolder` finds none. */
export function noConfiguration(environment: ClientContext["environment"]): UserError {
  const places = usualFolders(environment).join(" or ");
  return noCluster(
    `HADOOP_CONF_DIR is not set, so there is no cluster to talk to. There is no core-site.xml in ${places} either.`,
  );
}

const resourceManagerKeys = [
  "yarn.resourcemanager.hostname",
  "yarn.resourcemanager.address",
  "yarn.resourcemanager.ha.rm-ids",
] as const;

const schedulerKey = "yarn.resourcemanager.scheduler.address";

/** Where jobs' ApplicationMasters will look for the ResourceManager, and what says so. */
export function schedulerWords(configuration: Configuration): string {
  const addresses = resourceManagerEndpoints(configuration, "scheduler").map(formatHostPort).join(", ");
  return namesService(configuration, "scheduler")
    ? `${configuration.describe(schedulerKey)} = ${addresses}`
    : `${addresses}, from the host in yarn.resourcemanager.address, because ${schedulerKey} is not set`;
}

/** The warning before a job is sent whose ApplicationMaster can only guess that address; undefined where there is no need. */
export function schedulerGuess(configuration: Configuration): string | undefined {
  if (namesService(configuration, "scheduler")) return undefined;
  return `ApplicationMasters look for the ResourceManager at ${schedulerWords(configuration)}`;
}

const elsewhere =
  "  Or run the job on this machine alone: tony-ts submit job.xml --scheduler local (a search: tony-ts search job.xml --scheduler local)";

function noCluster(what: string): UserError {
  const mend = "  Set HADOOP_CONF_DIR to the folder with the cluster's core-site.xml, hdfs-site.xml and yarn-site.xml.";
  return new UserError([what, mend, elsewhere].join("\n"), { code: "NO_CLUSTER", exitCode: ExitCode.cluster });
}
