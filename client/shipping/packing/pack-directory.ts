import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import type { Tree, TreeEntry } from "./directory-tree.ts";
import { type PackedEntry, writeTarGz } from "./tar-gz.ts";

/**
 * Writes a folder as `.tar.gz`: the same tree gives the same bytes. Not as a zip, because a NodeManager unpacks zips without modes
 * and links (org.apache.hadoop.fs.FileUtil.unZip reads them as a stream, which does not contain these), and tar files by the
 * system's `tar`.
 * @throws UserError when a file changes while it is read
 */
export async function packDirectory({ entries }: Tree, archive: string): Promise<void> {
  await writeTarGz(entries.map(packedEntry), archive);
}

function packedEntry({ entry, source, content }: TreeEntry): PackedEntry {
  if (content !== undefined) return { entry, source, open: () => Readable.from([content]) };
  const end = entry.type === "file" ? entry.sizeBytes - 1 : 0;
  return { entry, source, open: () => createReadStream(source, { end, highWaterMark: 1024 * 1024 }) };
}
