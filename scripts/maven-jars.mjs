import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { provideFolder } from "./cached-folder.mjs";
import { cacheFolder } from "./cluster/folders.mjs";
import { Problem, printedBy } from "./problem.mjs";

const run = promisify(execFile);
/** Maven's own default for years: later versions copy the same jars, but fetch three times as many bytes for themselves. */
const DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:2.8";

/**
 * Copies the jars that a pom.xml names, with their runtime dependencies, from Maven Central into a folder.
 * @param {{ what: string, pom: string, folder: string, javaHome: string, options?: readonly string[] }} wanted `what` for messages
 */
export async function copyJars({ what, pom, folder, javaHome, options = [] }) {
  const goal = `${DEPENDENCY_PLUGIN}:copy-dependencies`;
  const args = ["-B", "-q", "-f", pom, goal, ...options, `-DoutputDirectory=${folder}`, "-DincludeScope=runtime"];
  try {
    await run("mvn", args, { env: { ...process.env, JAVA_HOME: javaHome }, maxBuffer: 64 << 20 });
  } catch (cause) {
    const lines = printedBy(cause)
      .split("\n")
      .filter((line) => line.includes("ERROR"));
    throw new Problem(
      [
        `Maven could not fetch ${what}'s jars from Maven Central:`,
        ...lines.slice(0, 5).map((line) => `  ${line}`),
        "A proxy or mirror is set in ~/.m2/settings.xml. Then run the same command again.",
      ].join("\n"),
      { cause },
    );
  }
}

/**
 * The jars of a pom.xml, fetched once and kept in the cache; the folder's name includes a hash of the file.
 * @param {{ what: string, pom: string, javaHome: string }} wanted
 * @returns {Promise<string>} their folder
 */
export async function provideJars({ what, pom, javaHome }) {
  const hash = createHash("sha256")
    .update(await readFile(pom))
    .digest("hex")
    .slice(0, 8);
  const folder = join(cacheFolder(), `${what.toLowerCase()}-${hash}`);
  await provideFolder(folder, (draft) => copyJars({ what, pom, folder: draft, javaHome }));
  return folder;
}
