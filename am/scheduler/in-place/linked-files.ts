import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import type { ShippedFile } from "../../../src/job/stored/job-file.ts";

/** Files that the ApplicationMaster's own container has been given, for a task within it. */
export class LinkedFiles {
  readonly #folder: string;

  /** @param folder the working directory of the ApplicationMaster */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async place(files: readonly ShippedFile[], workingDirectory: string): Promise<void> {
    for (const { link } of files) {
      const target = path.join(workingDirectory, link);
      await mkdir(path.dirname(target), { recursive: true });
      await symlink(path.join(this.#folder, link), target);
    }
  }
}
