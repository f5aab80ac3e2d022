import { existsSync } from "node:fs";
import path from "node:path";
import { ExitCode, UserError } from "../../src/errors.ts";
import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { configurationFolders, findSiteFile, loadConfiguration } from "../../src/hadoop/conf/site-files.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { type ClientContext, variablesOf } from "../context.ts";

/** Where distributions put it when nobody says. */
const usualFolder = "/etc/hadoop/conf";

const folderVariables = ["HADOOP_CONF_DIR", "YARN_CONF_DIR"] as const;

/** Where Hadoop, or the part of it that a client needs, is installed: of Hadoop 2 and 3, and of distributions. */
const homeVariables = ["HADOOP_HOME", "HADOOP_PREFIX", "HADOOP_COMMON_HOME", "HADOOP_YARN_HOME", "YARN_HOME"] as const;

/** The folders with a cluster's site files. */
export interface ConfigurationFolder {
  /** One, or several joined by ":"; a file is taken from the first that has it. */
  readonly path: string;
  /** The variables that name them; none where it was found in a usual place. */
  readonly namedBy: readonly (typeof folderVariables)[number][];
}

/** Where Hadoop's own commands find it; undefined when nothing says where. */
export function configurationFolder(
  environment: ClientContext["environment"],
  exists: (path: string) => boolean = existsSync,
): ConfigurationFolder | undefined {
  const namedBy = folderVariables.filter((variable) => configurationFolders(environment[variable] ?? "").length > 0);
  if (namedBy.length > 0) {
    const folders = namedBy.flatMap((variable) => configurationFolders(environment[variable] ?? ""));
    return { path: [...new Set(folders)].join(":"), namedBy };
  }
  const found = usualFolders(environment).find((folder) => exists(path.join(folder, "core-site.xml")));
  return found === undefined ? undefined : { path: found, namedBy };
}

/** Where it came from, for messages: `HADOOP_CONF_DIR is /etc/hadoop`. */
export function describeFolder({ path: folder, namedBy }: ConfigurationFolder): string {
  return namedBy.length === 0
    ? `HADOOP_CONF_DIR is not set; ${folder} is used`
    : `${namedBy.join(" and ")} ${namedBy.length === 1 ? "is" : "are"} ${folder}`;
}

function usualFolders(environment: ClientContext["environment"]): string[] {
  const ofHomes = homeVariables.flatMap((variable) => {
    const home = environment[variable];
    return home ? [path.join(home, "etc", "hadoop"), path.join(home, "conf")] : [];
  });
  return [...new Set([...ofHomes, usualFolder])];
}

/**
 * The configuration of the cluster that the environment names, with a job's own Hadoop settings on top. What is missing in it for
 * reaching a cluster at all is a UserError (`NO_CLUSTER`, exit code 3) that says what to set.
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
    // The message says how to mend it.
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

/** `/etc/hadoop/yarn-site.xml does not say`, or that there is no such file, which so does not say it. */
function siteFileWords(folder: string, name: string): string {
  const file = findSiteFile(folder, name);
  return file === undefined
    ? `There is no ${name} in ${configurationFolders(folder).join(" or ")}, so nothing says`
    : `${file} does not say`;
}

/** What to say where `configurationFolder` finds none. */
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

const elsewhere = "  Or run the job on this machine alone: tony-ts submit job.xml --scheduler local";

function noCluster(what: string): UserError {
  const mend = "  Set HADOOP_CONF_DIR to the folder with the cluster's core-site.xml, hdfs-site.xml and yarn-site.xml.";
  return new UserError([what, mend, elsewhere].join("\n"), { code: "NO_CLUSTER", exitCode: ExitCode.cluster });
}
