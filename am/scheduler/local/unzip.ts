import { createWriteStream } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { freeBytes } from "../../../src/archives/untar.ts";
import { zipEntries } from "../../../src/archives/zip.ts";
import { TonyError } from "../../../src/errors.ts";
import { errorMessage } from "../../../src/hadoop/errors.ts";
import { sizeWords } from "../../../src/job/reasons/words.ts";

/** More than any program's archive has: a virtual environment has some ten thousand. */
export const mostEntries = 1_000_000;

export interface UnzipOptions {
  /** The most to unpack in all; default: the free space on the target's disk. */
  readonly mostBytes?: number;
  readonly mostEntries?: number;
}

/**
 * Unpacks a zip file, with the permissions and symbolic links that it records, into an empty folder. Nothing is written outside of that
 * folder: names that would leave it are refused, links are made last, so that no name leads through one, and nothing is written twice.
 * Throws a TonyError with code `LOCALIZATION`, also for an archive that is too large.
 */
export async function unzip(archive: string, target: string, options: UnzipOptions = {}): Promise<void> {
  try {
    await unpackFiles(archive, target, options);
    await makeLinks(archive, target);
  } catch (cause) {
    throw new TonyError(`${archive} could not be unpacked: ${errorMessage(cause)}`, { code: "LOCALIZATION", cause });
  }
}

/** Creates all files and all folders, including those of links: no link's path can lead through another link then. */
async function unpackFiles(archive: string, target: string, options: UnzipOptions): Promise<void> {
  const most = options.mostEntries ?? mostEntries;
  const mostBytes = options.mostBytes ?? (await freeBytes(target));
  let entries = 0;
  let bytes = 0;
  for await (const entry of zipEntries(archive)) {
    if (++entries > most) throw new Error(`it has more than ${most} entries`);
    const place = path.join(target, entry.path);
    await mkdir(entry.type === "directory" ? place : path.dirname(place), { recursive: true });
    if (entry.type !== "file") continue;
    // yauzl ends a stream that yields another number of bytes than its recorded size.
    bytes += entry.sizeBytes;
    if (bytes > mostBytes) throw new Error(`it holds more than the ${sizeWords(mostBytes)} that there is room for`);
    await pipeline(await entry.open(), createWriteStream(place, { mode: entry.mode, flags: "wx" }));
  }
}

async function makeLinks(archive: string, target: string): Promise<void> {
  for await (const entry of zipEntries(archive)) {
    if (entry.type === "symlink") await symlink(await entry.target(), path.join(target, entry.path));
  }
}
