import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../errors.ts";
import { Configuration, type ExpansionVariables, processVariables } from "./configuration.ts";
import { ConfigurationError } from "./errors.ts";
import { readPropertiesFile } from "./xml.ts";

/** The files a Hadoop client reads from its configuration folder, in this order. */
const siteFiles = ["core-site.xml", "hdfs-site.xml", "yarn-site.xml", "mapred-site.xml"] as const;

/**
 * Reads the site files of a configuration folder (`HADOOP_CONF_DIR`).
 * @throws ConfigurationError when the folder is missing or holds none of the files, or a file is malformed
 */
export function loadConfiguration(
  directory: string,
  variables: ExpansionVariables = processVariables(),
): Configuration {
  const present = siteFiles.filter((name) => listDirectory(directory).includes(name));
  if (present.length === 0) {
    throw new ConfigurationError(
      `${directory} holds no ${siteFiles.join(", ")}; set HADOOP_CONF_DIR to the folder of the cluster's site files`,
      { code: "CONFIGURATION_MISSING" },
    );
  }
  return present.reduce(
    (configuration, name) => configuration.with(readPropertiesFile(join(directory, name))),
    new Configuration(variables),
  );
}

function listDirectory(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    throw new ConfigurationError(
      `the Hadoop configuration folder ${directory} cannot be read: ${errorMessage(error)}; set HADOOP_CONF_DIR`,
      { code: "CONFIGURATION_UNREADABLE", cause: error },
    );
  }
}
