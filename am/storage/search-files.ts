import path from "node:path";
import type { FileSystems, LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";

/**
 * Stores what a search leaves: in its folder below `tony.output.dir`, and with the local scheduler in the job's own folder. A reader sees whole files
 * only.
 */
export async function storeSearchFiles(
  files: Readonly<Record<string, string>>,
  folders: readonly string[],
  fileSystems: Pick<FileSystems, "locate">,
): Promise<void> {
  await Promise.all(folders.map((folder) => storeIn(fileSystems.locate(folder), files)));
}

async function storeIn(
  { fileSystem, path: folder }: LocatedPath,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const target = path.posix.join(folder, name);
    const draft = `${target}.tmp`;
    await fileSystem.create(draft, Buffer.from(text), { permission: 0o640, overwrite: true });
    await fileSystem.rename(draft, target, { overwrite: true });
  }
}
