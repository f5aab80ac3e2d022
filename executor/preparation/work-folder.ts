import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { TonyError } from "../../src/errors.ts";

/**
 * The working directory as a container's first process finds it: the files of its node and links to the shipped files.
 */
export class WorkFolder {
  readonly #folder: string;
  readonly #names: ReadonlySet<string>;

  private constructor(folder: string, names: ReadonlySet<string>) {
    this.#folder = folder;
    this.#names = names;
  }

  /** As it is now. */
  static async of(folder: string): Promise<WorkFolder> {
    return new WorkFolder(folder, new Set(await namesIn(folder)));
  }

  /** Removes what has been added since. Throws a TonyError with code `WORK_FOLDER_CHANGED` when something is gone. */
  async restore(): Promise<void> {
    const left = await this.#clear("");
    const gone = [...this.#names].find((name) => !left.has(name));
    if (gone === undefined) return;
    throw new TonyError(`${gone} is gone from the working directory`, { code: "WORK_FOLDER_CHANGED" });
  }

  /** @returns what has stayed */
  async #clear(within: string): Promise<Set<string>> {
    const left = new Set<string>();
    for (const entry of await readdir(path.join(this.#folder, within), { withFileTypes: true })) {
      const name = path.join(within, entry.name);
      if (!this.#names.has(name)) {
        await rm(path.join(this.#folder, name), { recursive: true, force: true });
        continue;
      }
      left.add(name);
      if (entry.isDirectory()) for (const inner of await this.#clear(name)) left.add(inner);
    }
    return left;
  }
}

/** Relative to the folder; links are not followed. */
async function namesIn(folder: string, within = ""): Promise<string[]> {
  const entries = await readdir(path.join(folder, within), { withFileTypes: true });
  const inner = await Promise.all(
    entries.map(async (entry) => {
      const name = path.join(within, entry.name);
      return entry.isDirectory() ? [name, ...(await namesIn(folder, name))] : [name];
    }),
  );
  return inner.flat();
}
