import { posix } from "node:path";
import type { KeyName } from "../keys.ts";
import { ownerOf, YARN_TEMPORARY } from "../launch/container-names.ts";
import type { CarrierSpec } from "../spec.ts";
import { firstOfSearch } from "./build-search.ts";
import { clashesAsWritten } from "./folder-clashes.ts";
import type { JobReader } from "./job-reader.ts";

/** What executors copy from and to containers; undefined when no key requests it. Each local folder needs a destination. */
export function buildCarrier(reader: JobReader): CarrierSpec | undefined {
  const checkpoints = localFolder(reader, "tony.checkpoint.local-dir", "tony.application.checkpoint-dir");
  const output = localFolder(reader, "tony.output.local-dir", "tony.output.dir");
  const outputDir = reader.read("tony.output.dir");
  if (checkpoints !== undefined && output !== undefined) requireTwoFolders(reader, checkpoints, output);
  if (output === undefined && outputDir !== undefined) {
    // A search stores its trials there itself.
    if (firstOfSearch(reader) !== undefined) requireScheme(reader, "tony.output.dir", outputDir);
    else
      reader.error("tony.output.dir", "needs tony.output.local-dir: the folder in which programs leave their results");
  }
  for (const { key, why } of clashesAsWritten(reader, checkpoints !== undefined)) reader.error(key, why);
  if (checkpoints === undefined && output === undefined) return undefined;
  const mebibytes = reader.read("tony.carrier.bandwidth");
  return {
    ...reader.section("carrier"),
    ...(checkpoints === undefined
      ? {}
      : { checkpoints: { localDir: checkpoints, keep: reader.read("tony.checkpoint.keep") } }),
    ...(output === undefined || outputDir === undefined ? {} : { output: { localDir: output, dir: outputDir } }),
    ...(mebibytes === undefined ? {} : { bytesPerSecond: mebibytes * 1_048_576 }),
  };
}

/** Both replace the content of their folder: a restored checkpoint, and the results of a later run. */
function requireTwoFolders(reader: JobReader, checkpoints: string, output: string): void {
  if (checkpoints === output) {
    reader.error("tony.output.local-dir", `is the folder of checkpoints too (${output}): give each its own`);
  } else if (output.startsWith(`${checkpoints}/`)) {
    const why = "which is emptied when a checkpoint is brought back";
    reader.error(
      "tony.output.local-dir",
      `is in the folder of checkpoints (${checkpoints}), ${why}: give each its own`,
    );
  }
}

function localFolder(
  reader: JobReader,
  name: "tony.checkpoint.local-dir" | "tony.output.local-dir",
  target: "tony.application.checkpoint-dir" | "tony.output.dir",
): string | undefined {
  const given = reader.read(name);
  if (given === undefined) return undefined;
  const folder = posix.normalize(given).replace(/\/+$/, "");
  if (folder === "." || folder.startsWith("..") || posix.isAbsolute(folder) || folder.includes(":")) {
    reader.error(name, `must be a folder inside the container's working directory, such as results, not "${given}"`);
  }
  const [top = ""] = folder.split("/");
  const owner = top === YARN_TEMPORARY ? undefined : ownerOf(top);
  if (owner !== undefined) {
    reader.error(name, `is ${folder}, and ${owner} has ${top} in every container: name another folder`);
  }
  const place = reader.read(target);
  if (place === undefined) {
    reader.error(name, `needs ${target}: where to copy its content, such as hdfs:///user/ada/bert`);
  } else requireScheme(reader, target, place);
  return folder;
}

function requireScheme(reader: JobReader, key: KeyName, place: string): void {
  if (!place.startsWith("/")) return;
  reader.error(
    key,
    `= ${place} has no scheme: write hdfs://${place} on a cluster, file://${place} on one machine or where all machines share it`,
  );
}
