import { createReadStream, readdirSync } from "node:fs";
import path from "node:path";
import { sizeOf } from "../../src/local-files.ts";
import type { LogStore, StoredLog } from "../../src/logs/log-store.ts";
import { localMasterContainerId } from "./local-folder.ts";

/** The log folders of a local application: first the AM's, then those of its containers, in the order of their ids. */
export class LocalLogStore implements LogStore {
  readonly pending = undefined;
  readonly isAtHand = true;
  readonly #id: string;
  readonly #folder: string;

  constructor(id: string, folder: string) {
    this.#id = id;
    this.#folder = folder;
  }

  async *logs(wanted: (containerId: string) => boolean): AsyncGenerator<StoredLog> {
    const containers = path.join(this.#folder, "containers");
    const folders = [
      [localMasterContainerId(this.#id), path.join(this.#folder, "am", "logs")] as const,
      ...entries(containers).map((name) => [name, path.join(containers, name, "logs")] as const),
    ];
    for (const [containerId, folder] of folders) {
      if (!wanted(containerId)) continue;
      for (const name of entries(folder)) {
        const file = path.join(folder, name);
        yield { containerId, name, lengthBytes: sizeOf(file), content: contentOf(file) };
      }
    }
  }
}

/** Opened on the first read: most logs are skipped. */
async function* contentOf(file: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file);
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
