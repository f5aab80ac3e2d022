import { statSync } from "node:fs";
import path from "node:path";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import type { FileToShip } from "../../src/job/spec.ts";
import type { ShippedFile } from "../../src/job/stored/job-file.ts";
import { uploadRemark } from "../shipping/upload-lines.ts";
import { localFile } from "./local-master.ts";

/** The job's files, used in place. A directory to unpack is first packed into the application's folder, once for all roles. */
export class LocalShipping {
  readonly #folder: string;
  readonly #uploaded: (line: string) => void;
  readonly #packed = new Map<string, Promise<ShippedFile>>();

  constructor(folder: string, uploaded: (line: string) => void) {
    this.#folder = folder;
    this.#uploaded = uploaded;
  }

  /** Rejects with the file system's error where a file no longer exists. */
  localized(files: readonly FileToShip[]): Promise<ShippedFile[]> {
    const beside = files.map(({ source }) => pathOf(source));
    return Promise.all(files.map((file) => this.#localizedOne(file, beside)));
  }

  async #localizedOne({ name, source, as }: FileToShip, beside: readonly string[]): Promise<ShippedFile> {
    const file = pathOf(source);
    if (as === "file") return localFile(name, file, "FILE");
    if (!statSync(file).isDirectory()) return localFile(name, file, "ARCHIVE");
    const known = `${as} ${file}`;
    const packed = this.#packed.get(known) ?? this.#pack(name, file, as, beside);
    this.#packed.set(known, packed);
    return { ...(await packed), link: name };
  }

  async #pack(
    name: string,
    directory: string,
    as: "archive" | "working-directory",
    beside: readonly string[],
  ): Promise<ShippedFile> {
    // Roles may have directories of the same name.
    const archive = path.join(this.#folder, `${this.#packed.size}-${name}.tar.gz`);
    const { packingOfFolder } = await import("../shipping/packing/packing.ts");
    const { type, write, remarks } = await packingOfFolder(directory, as, beside);
    for (const remark of remarks) this.#uploaded(uploadRemark(name, remark));
    await write(archive);
    return localFile(name, archive, type);
  }
}

function pathOf(source: string): string {
  return splitUri(source)?.path ?? source;
}
