import { existsSync } from "node:fs";
import path from "node:path";
import { ExitCode, UserError } from "../../src/errors.ts";
import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { loadConfiguration } from "../../src/hadoop/conf/site-files.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { type ClientContext, variablesOf } from "../context.ts";

/** Where distributions put it when nobody says. */
const usualFolder = "/etc/hadoop/conf";

/** The folder with a cluster's site files. */
export interface ConfigurationFolder {
  readonly path: string;
  /** The variable that names it; undefined where it was found in a usual place. */
  readonly namedBy: "HADOOP_CONF_DIR" | "YARN_CONF_DIR" | undefined;
}

/** Where Hadoop's own commands find it; undefined when nothing says where. */
export function configurationFolder(
  environment: ClientContext["environment"],
  exists: (path: string) => boolean = existsSync,
): ConfigurationFolder | undefined {
  const { HADOOP_CONF_DIR, YARN_CONF_DIR } = environment;
  if (HADOOP_CONF_DIR) return { path: HADOOP_CONF_DIR, namedBy: "HADOOP_CONF_DIR" };
  if (YARN_CONF_DIR) return { path: YARN_CONF_DIR, namedBy: "YARN_CONF_DIR" };
  const found = usualFolders(environment).find((folder) => exists(path.join(folder, "core-site.xml")));
  return found === undefined ? undefined : { path: found, namedBy: undefined };
}

/** Where it came from, for messages: `HADOOP_CONF_DIR is /etc/hadoop`. */
export function describeFolder({ path: folder, namedBy }: ConfigurationFolder): string {
  return namedBy === undefined ? `HADOOP_CONF_DIR is not set; ${folder} is used` : `${namedBy} is ${folder}`;
}

function usualFolders({ HADOOP_HOME }: ClientContext["environment"]): string[] {
  return HADOOP_HOME ? [path.join(HADOOP_HOME, "etc", "hadoop"), usualFolder] : [usualFolder];
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
  if (!existsSync(folder)) throw noCluster(`The Hadoop configuration folder ${folder} does not exist.`);
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
  const file = path.join(folder, "yarn-site.xml");
  if (!resourceManagerKeys.some((key) => configuration.has(key))) {
    throw noCluster(
      `${file} does not say where the ResourceManager is: neither ${resourceManagerKeys.join(" nor ")} is set.`,
    );
  }
  const fileSystem = configuration.get("fs.defaultFS");
  if (fileSystem === undefined || fileSystem.startsWith("file:")) {
    throw noCluster(
      `${path.join(folder, "core-site.xml")} names no cluster file system: fs.defaultFS is ${fileSystem}.`,
    );
  }
  return configuration;
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
