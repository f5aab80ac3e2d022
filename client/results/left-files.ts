import path from "node:path/posix";
import { UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { FileStatus, FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { type FileSystems, type LocatedPath, splitUri } from "../../src/hadoop/hdfs/file-systems.ts";

/** A file that a job left, and the name that it gets here. */
export interface LeftFile {
  /** Relative to the target folder: the name that the program gave it. */
  readonly path: string;
  readonly fileSystem: FileSystem;
  /** Its path on the file system. */
  readonly source: string;
  readonly sizeBytes: number;
  readonly executable: boolean;
}

/** The content of a folder. */
export interface LeftTree {
  readonly files: readonly LeftFile[];
  /** The empty folders, relative to the same folder. */
  readonly folders: readonly string[];
}

export interface LeftFiles extends LeftTree {
  /** Remarks for people: what is missing, and why. */
  readonly remarks: readonly string[];
  /** Some of it was never stored, or is gone. */
  readonly isIncomplete?: boolean;
}

export type Places = Pick<FileSystems, "locate">;
export type HomePlaces = Pick<FileSystems, "locate" | "home">;

/** The place of an address in a job's status. A plain path is what the program saw: a file of the machines themselves. */
export function placeOf(address: string, places: Places): LocatedPath {
  return places.locate(splitUri(address) === undefined ? `file://${address}` : address);
}

/** All files and empty folders below a folder, named relative to it. */
export async function filesIn({ fileSystem, path: folder }: LocatedPath, below = ""): Promise<LeftTree> {
  const [files, folders]: [LeftFile[], string[]] = [[], []];
  const entries = await fileSystem.list(path.join(folder, below));
  if (entries.length === 0 && below !== "") folders.push(below);
  for (const entry of entries) {
    const name = path.join(below, path.basename(entry.path));
    if (entry.type === "DIRECTORY") {
      const inside = await filesIn({ fileSystem, path: folder }, name);
      files.push(...inside.files);
      folders.push(...inside.folders);
    } else files.push(leftFile(name, fileSystem, entry));
  }
  return { files, folders };
}

export function leftFile(name: string, fileSystem: FileSystem, entry: FileStatus): LeftFile {
  const { path: source, lengthBytes: sizeBytes, permission } = entry;
  return { path: name, fileSystem, source, sizeBytes, executable: (permission & 0o100) !== 0 };
}

/** A small list that an executor left. @throws UserError (`LIST_UNREADABLE`) where the content is no such list */
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
