import path from "node:path/posix";
import { UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { type FileSystems, type LocatedPath, splitUri } from "../../src/hadoop/hdfs/file-systems.ts";

/** A file that a job left, and where it goes. */
export interface LeftFile {
  /** Relative to the folder that it goes to: the name that the program gave it. */
  readonly path: string;
  readonly fileSystem: FileSystem;
  /** Where it lies there. */
  readonly source: string;
  readonly sizeBytes: number;
}

export interface LeftFiles {
  readonly files: readonly LeftFile[];
  /** What a person should know of them: what is missing, and why. */
  readonly remarks: readonly string[];
}

export type Places = Pick<FileSystems, "locate">;
export type HomePlaces = Pick<FileSystems, "locate" | "home">;

/** Where an address of a job's status is. A plain path is what its program saw: one of the machines' own files. */
export function placeOf(address: string, places: Places): LocatedPath {
  return places.locate(splitUri(address) === undefined ? `file://${address}` : address);
}

/** All files below a folder, named relative to it. */
export async function filesIn({ fileSystem, path: folder }: LocatedPath, below = ""): Promise<LeftFile[]> {
  const files: LeftFile[] = [];
  for (const entry of await fileSystem.list(path.join(folder, below))) {
    const name = path.join(below, path.basename(entry.path));
    if (entry.type === "DIRECTORY") files.push(...(await filesIn({ fileSystem, path: folder }, name)));
    else files.push({ path: name, fileSystem, source: entry.path, sizeBytes: entry.lengthBytes });
  }
  return files;
}

/** A small list that an executor left. @throws UserError (`LIST_UNREADABLE`) where it is none */
export async function readList<List>(
  { fileSystem, path: file }: LocatedPath,
  parse: (json: string) => List,
): Promise<List> {
  const chunks: Buffer[] = [];
  for await (const chunk of await fileSystem.open(file)) chunks.push(Buffer.from(chunk));
  try {
    return parse(Buffer.concat(chunks).toString("utf8"));
  } catch (cause) {
    const message = `${fileSystem.uri}${file} cannot be understood: ${errorMessage(cause)}`;
    throw new UserError(message, { code: "LIST_UNREADABLE", cause });
  }
}
