import path from "node:path";
import type { FileSystems, LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";

/** So many files are written side by side. */
const AT_ONCE = 8;

/**
 * Stores what a search leaves: in its folder below `tony.output.dir`, and with the local scheduler in the job's own folder. A reader sees whole files
 * only.
 */
export async function storeSearchFiles(
  files: Readonly<Record<string, string | Uint8Array>>,
  folders: readonly string[],
  fileSystems: Pick<FileSystems, "locate">,
): Promise<void> {
  await Promise.all(folders.map((folder) => storeIn(fileSystems.locate(folder), files)));
}

async function storeIn(
  { fileSystem, path: folder }: LocatedPath,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  const left = Object.entries(files);
  const storeNext = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [name, content] = next;
      const target = path.posix.join(folder, name);
      const draft = path.posix.join(path.posix.dirname(target), `.${path.posix.basename(target)}.tmp`);
      await fileSystem.create(draft, Buffer.from(content), { permission: 0o640, overwrite: true });
      await fileSystem.rename(draft, target, { overwrite: true });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, storeNext));
}
