import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { copyJars } from "../maven-jars.mjs";
import { cacheFolder, HADOOP_FILES } from "./folders.mjs";
import { withLock } from "./lock.mjs";
import { profilesOf } from "./releases.mjs";

const POM = join(HADOOP_FILES, "pom.xml");

/**
 * The folder for the jars of a release. Its name includes a hash of their sources, so that a folder never changes.
 * @param {string} release
 * @returns {Promise<{ folder: string, cached: boolean }>}
 */
export async function jarsFolder(release) {
  const sourceHash = createHash("sha256")
    .update(await readFile(POM))
    .update(profilesOf(release).join())
    .digest("hex")
    .slice(0, 8);
  const folder = join(cacheFolder(), `hadoop-${release}-${sourceHash}`);
  return { folder, cached: existsSync(folder) };
}

/**
 * Fills the folder of a release's jars from Maven Central, unless it exists; it appears complete, by a rename.
 * @param {{ release: string, java: { home: string } }} options
 * @returns {Promise<{ folder: string, downloaded: boolean }>}
 */
export async function provideJars({ release, java }) {
  const { folder, cached } = await jarsFolder(release);
  if (cached) return { folder, downloaded: false };
  await mkdir(cacheFolder(), { recursive: true });
  return await withLock(`jars ${folder}`, async () => {
    if (existsSync(folder)) return { folder, downloaded: false };
    const partial = `${folder}.${process.pid}.partial`;
    try {
      await copyDependencies(partial, release, java);
      await rename(partial, folder);
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
    return { folder, downloaded: true };
  });
}

/** @param {string} folder @param {string} release @param {{ home: string }} java */
async function copyDependencies(folder, release, java) {
  const options = [`-Dhadoop.version=${release}`, ...profilesOf(release).map((profile) => `-P${profile}`)];
  await copyJars({ what: "Hadoop", pom: POM, folder, javaHome: java.home, options });
}

/** @param {string} folder @returns {Promise<number>} the size of all files directly in it */
export async function folderBytes(folder) {
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
