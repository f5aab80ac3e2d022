import { type RangeSource, type ZipEntry, zipEntries } from "../../../src/archives/zip.ts";
import { UserError } from "../../../src/errors.ts";
import { errorCode, errorMessage } from "../../../src/hadoop/errors.ts";
import { type PackedEntry, writeTarGz } from "./tar-gz.ts";

/**
 * The number of symbolic links in a zip. A NodeManager reads zips as a stream, which does not mark links, and creates a text file for
 * each (org.apache.hadoop.fs.FileUtil.unZip).
 * @param name the zip's name in messages
 * @throws UserError for a file that is not a zip
 */
export async function countLinks(name: string, source: string | RangeSource): Promise<number> {
  let links = 0;
  for await (const { type } of readable(name, source)) if (type === "symlink") links += 1;
  return links;
}

/** Writes the same tree as `.tar.gz`, which a NodeManager unpacks completely by `tar`. Works on one entry at a time; nothing is unpacked here. */
export async function repackZip(zip: string, archive: string): Promise<void> {
  await writeTarGz(packedEntries(zip), archive);
}

async function* packedEntries(zip: string): AsyncGenerator<PackedEntry> {
  for await (const found of readable(zip, zip)) {
    const { path, mode, modificationTimeMs, type } = found;
    const common = { path, mode, modificationTimeSeconds: Math.floor(modificationTimeMs / 1000) };
    const source = `${zip}: ${path}`;
    if (type === "directory") yield { entry: { ...common, type }, source };
    else if (type === "symlink") yield { entry: { ...common, type, target: await found.target() }, source };
    else yield { entry: { ...common, type, sizeBytes: found.sizeBytes }, source, open: found.open };
  }
}

async function* readable(name: string, source: string | RangeSource): AsyncGenerator<ZipEntry> {
  try {
    yield* zipEntries(source);
  } catch (error) {
    // An error of the file system is not a fault of the archive's.
    if (errorCode(error) !== undefined) throw error;
    throw new UserError(`${name} cannot be unpacked: ${errorMessage(error)}. Make the archive again`, {
      code: "NOT_AN_ARCHIVE",
      cause: error,
    });
  }
}
