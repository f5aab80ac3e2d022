import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { errorCode, errorMessage } from "../errors.ts";
import { Configuration, type ExpansionVariables, processVariables } from "./configuration.ts";
import { ConfigurationError } from "./errors.ts";
import { readPropertiesFile } from "./xml.ts";

/** The files a Hadoop client reads from its configuration folder, in this order. */
const siteFiles = ["core-site.xml", "hdfs-site.xml", "yarn-site.xml", "mapred-site.xml"] as const;

/** The folders of a HADOOP_CONF_DIR. Hadoop's scripts put it on Java's class path, so people list several: `/etc/hadoop/conf:/etc/hive/conf`. */
export function configurationFolders(path: string): string[] {
  return path.split(":").filter((folder) => folder !== "");
}

/** The file in the first of those folders that has it, as Java searches its class path. */
export function findSiteFile(path: string, name: string): string | undefined {
  return configurationFolders(path)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}

/**
 * Reads the site files of a configuration folder, or of several separated as in `HADOOP_CONF_DIR`.
 * @throws ConfigurationError when no folder exists, none contains any of the files, or a file is malformed
 */
export function loadConfiguration(path: string, variables: ExpansionVariables = processVariables()): Configuration {
  requireReadable(configurationFolders(path));
  const present = siteFiles.map((name) => findSiteFile(path, name)).filter((file) => file !== undefined);
  if (present.length === 0) {
    throw new ConfigurationError(
      `${path} holds no ${siteFiles.join(", ")}; set HADOOP_CONF_DIR to the folder of the cluster's site files`,
      { code: "CONFIGURATION_MISSING" },
    );
  }
  return present.reduce(
    (configuration, file) => configuration.with(readPropertiesFile(file)),
    new Configuration(variables),
  );
}

/** One of several folders may be missing. */
function requireReadable(folders: readonly string[]): void {
  const problems = folders.flatMap((folder) => {
    try {
      readdirSync(folder);
      return [];
    } catch (error) {
      return [{ folder, error }];
    }
  });
  const [first] = problems;
  if (first === undefined || problems.length < folders.length) return;
  const { folder, error } = first;
  const problem =
    errorCode(error) === "ENOTDIR"
      ? `the Hadoop configuration folder ${folder} is a file; set HADOOP_CONF_DIR to the folder with it`
      : `the Hadoop configuration folder ${folder} cannot be read: ${errorMessage(error)}; set HADOOP_CONF_DIR`;
  throw new ConfigurationError(problem, { code: "CONFIGURATION_UNREADABLE", cause: error });
}
