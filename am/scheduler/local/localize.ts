import { mkdir, stat, symlink } from "node:fs/promises";
import path from "node:path";
import { untar } from "../../../src/archives/untar.ts";
import { TonyError } from "../../../src/errors.ts";
import { parseFileUrl } from "../../../src/job/file-url.ts";
import type { ShippedFile } from "../../../src/job/stored/job-file.ts";
import { unzip } from "./unzip.ts";

/**
 * Places files in containers' working directories as a NodeManager does: each under its link name, archives unpacked. An archive is
 * unpacked once and shared.
 */
export class Localizer {
  readonly #cacheFolder: string;
  readonly #unpacked = new Map<string, Promise<string>>();

  /** @param cacheFolder where archives are unpacked */
  constructor(cacheFolder: string) {
    this.#cacheFolder = cacheFolder;
  }

  /** Throws a TonyError with code `LOCALIZATION` naming the file that is missing, changed or unreadable. */
  async place(files: readonly ShippedFile[], workingDirectory: string): Promise<void> {
    for (const file of files) {
      const link = path.join(workingDirectory, file.link);
      await mkdir(path.dirname(link), { recursive: true });
      const source = await this.#verified(file);
      await symlink(file.type === "ARCHIVE" ? await this.#unpack(source) : source, link);
    }
  }

  /**
   * A file that changed since the submission would run another program than the one submitted: YARN refuses it, and so does this.
   */
  async #verified(file: ShippedFile): Promise<string> {
    const source = parseFileUrl(file.url).path;
    const found = await stat(source).catch((cause: unknown) => {
      throw new TonyError(`${file.link}: ${source} cannot be read`, { code: "LOCALIZATION", cause });
    });
    if (found.size !== file.sizeBytes || Math.floor(found.mtimeMs) !== file.modificationTimeMs) {
      throw new TonyError(`${file.link}: ${source} has changed since the job was submitted`, { code: "LOCALIZATION" });
    }
    return source;
  }

  #unpack(archive: string): Promise<string> {
    const known = this.#unpacked.get(archive);
    if (known !== undefined) return known;
    const target = path.join(this.#cacheFolder, String(this.#unpacked.size), path.basename(archive));
    const unpacking = unpackInto(archive, target).then(() => target);
    this.#unpacked.set(archive, unpacking);
    return unpacking;
  }
}

/** By the name's ending, as org.apache.hadoop.yarn.util.FSDownload#unpack decides. */
async function unpackInto(archive: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  if (/\.(zip|jar)$/i.test(archive)) return unzip(archive, target);
  if (/\.(tar|tgz|tar\.gz)$/i.test(archive)) return untar(archive, target);
  throw new TonyError(`${archive} is not an archive that YARN unpacks: .zip, .jar, .tar, .tar.gz or .tgz`, {
    code: "LOCALIZATION",
  });
}
