import { fileURLToPath } from "node:url";
import { provideJars } from "../../scripts/maven-jars.mjs";
import type { ClusterStatus } from "./cluster.ts";

/** TonY as LinkedIn published it, with its dependencies. @returns the folder of the jars */
export async function tonyJars({ javaHome }: Pick<ClusterStatus, "javaHome">): Promise<string> {
  return await provideJars({ what: "TonY", pom: javaSource("tony/pom.xml"), javaHome });
}

/** Azkaban's executor. @returns the folder of the jars */
export async function azkabanJars({ javaHome }: Pick<ClusterStatus, "javaHome">): Promise<string> {
  return await provideJars({ what: "Azkaban", pom: javaSource("azkaban/pom.xml"), javaHome });
}

/**
 * What Azkaban's executor needs for fetching delegation tokens, beside the cluster's own Hadoop. @returns the folder of the
 * jars
 */
export async function azkabanHadoopJars({ javaHome }: Pick<ClusterStatus, "javaHome">): Promise<string> {
  return await provideJars({ what: "Azkaban-on-Hadoop", pom: javaSource("azkaban/hadoop/pom.xml"), javaHome });
}

/** The path of a file, given relative to test/java. */
export function javaSource(file: string): string {
  return fileURLToPath(new URL(`../java/${file}`, import.meta.url));
}
