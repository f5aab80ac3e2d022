import { createWriteStream } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { type Entry, open, type ZipFile } from "yauzl";
import { TonyError } from "../../../src/errors.ts";

/** The file type bits of a unix mode. */
const typeMask = 0o170000;
const symbolicLink = 0o120000;

/**
 * Unpacks a zip file with the permissions and symbolic links that it records; names that would leave the target are refused.
 * Throws a TonyError with code `LOCALIZATION`.
 */
export async function unzip(archive: string, target: string): Promise<void> {
  try {
    const zip = await openZip(archive);
    await eachEntry(zip, (entry) => unpackEntry(zip, entry, target));
  } catch (cause) {
    throw new TonyError(`${archive} could not be unpacked`, { code: "LOCALIZATION", cause });
  }
}

async function unpackEntry(zip: ZipFile, entry: Entry, target: string): Promise<void> {
  const place = path.join(target, entry.fileName);
  if (entry.fileName.endsWith("/")) {
    await mkdir(place, { recursive: true });
    return;
  }
  await mkdir(path.dirname(place), { recursive: true });
  // The upper half of the external attributes is the unix mode, where the archive was made on unix.
  const mode = entry.externalFileAttributes >>> 16;
  const content = await openEntry(zip, entry);
  if ((mode & typeMask) === symbolicLink) await symlink(await text(content), place);
  else await pipeline(content, createWriteStream(place, { mode: mode & 0o777 || 0o644 }));
}

/** yauzl checks names itself: absolute ones and those with `..` are errors. */
function openZip(archive: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    open(archive, { lazyEntries: true }, (error, zip) => (error ? reject(error) : resolve(zip)));
  });
}

function openEntry(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
  });
}

function eachEntry(zip: ZipFile, unpack: (entry: Entry) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    zip.on("end", resolve).on("error", reject);
    zip.on("entry", (entry: Entry) => {
      unpack(entry).then(
        () => zip.readEntry(),
        (error: unknown) => {
          zip.close();
          reject(error);
        },
      );
    });
    zip.readEntry();
  });
}
