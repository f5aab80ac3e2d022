import path from "node:path";
import { arrayOf, bool, count, literal, object, type Shape, ShapeError, string } from "../shape.ts";

/** A file that an executor uploads or has uploaded. */
export interface CarriedFile {
  /** Relative to the folder that is uploaded. */
  readonly path: string;
  /** The path where it is stored; absent where that is `path`. */
  readonly stored?: string;
  readonly sizeBytes: number;
  /** Absent: it is not executable. Nothing else of a file's mode is kept. */
  readonly executable?: boolean;
}

/** An entry of a folder that is not uploaded. */
export interface LeftOut {
  readonly path: string;
  readonly why: string;
  /** Whether its content is lost: links to nothing, and sockets, have none. */
  readonly isLoss: boolean;
}

/** The files of an uploaded checkpoint. */
export interface Manifest {
  readonly manifestVersion: 1;
  /** The program's name for it, relative to its folder of checkpoints. */
  readonly name: string;
  readonly step: number;
  readonly atMs: number;
  readonly files: readonly CarriedFile[];
  /** The empty folders. */
  readonly folders?: readonly string[];
}

/** The files of a task's results that are stored under another name, or not stored. */
export interface NamesList {
  readonly namesVersion: 1;
  readonly renamed: readonly CarriedFile[];
  readonly leftOut: readonly LeftOut[];
}

/** A checkpoint may come from another user: its paths must stay within its own folder, and within the one that it is restored to. */
const pathWithin: Shape<string> = (value, where) => {
  const text = string(value, where);
  if (path.isAbsolute(text) || text.split("/").includes("..")) throw new ShapeError(`${where} leads out of its folder`);
  return text;
};

const carriedFile = (name: Shape<string>): Shape<CarriedFile> =>
  object({ required: { path: name, sizeBytes: count }, optional: { stored: name, executable: bool } });

const manifest: Shape<Manifest> = object({
  required: {
    manifestVersion: literal(1),
    name: pathWithin,
    step: count,
    atMs: count,
    files: arrayOf(carriedFile(pathWithin)),
  },
  optional: { folders: arrayOf(pathWithin) },
});

const namesList: Shape<NamesList> = object({
  required: {
    namesVersion: literal(1),
    renamed: arrayOf(carriedFile(string)),
    leftOut: arrayOf(object<LeftOut>({ required: { path: string, why: string, isLoss: bool }, optional: {} })),
  },
  optional: {},
});

/** @throws SyntaxError or ShapeError when the text is not a manifest */
export function parseManifest(json: string): Manifest {
  return manifest(JSON.parse(json), "");
}

/** @throws SyntaxError or ShapeError when the text is not such a list */
export function parseNamesList(json: string): NamesList {
  return namesList(JSON.parse(json), "");
}
