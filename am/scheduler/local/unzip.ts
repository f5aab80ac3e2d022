import { createWriteStream } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { type ZipEntry, zipEntries } from "../../../src/archives/zip.ts";
import { TonyError } from "../../../src/errors.ts";

/**
 * Unpacks a zip file with the permissions and symbolic links that it records; names that would leave the target are refused.
 * Throws a TonyError with code `LOCALIZATION`.
 */
export async function unzip(archive: string, target: string): Promise<void> {
  try {
    for await (const entry of zipEntries(archive)) await unpackEntry(entry, path.join(target, entry.path));
  } catch (cause) {
    throw new TonyError(`${archive} could not be unpacked`, { code: "LOCALIZATION", cause });
  }
}

async function unpackEntry(entry: ZipEntry, place: string): Promise<void> {
  if (entry.type === "directory") {
    await mkdir(place, { recursive: true });
    return;
  }
  await mkdir(path.dirname(place), { recursive: true });
  if (entry.type === "symlink") await symlink(await entry.target(), place);
  else await pipeline(await entry.open(), createWriteStream(place, { mode: entry.mode }));
}
