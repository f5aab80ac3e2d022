import { arrayOf, count, literal, object, type Shape, string } from "../../src/job/shape.ts";
import type { LocalFile } from "./local-files.ts";

/** The files of an uploaded checkpoint. */
export interface Manifest {
  readonly manifestVersion: 1;
  /** As the program named it, relative to its folder of checkpoints. */
  readonly name: string;
  readonly step: number;
  readonly atMs: number;
  readonly files: readonly LocalFile[];
}

const manifest: Shape<Manifest> = object({
  required: {
    manifestVersion: literal(1),
    name: string,
    step: count,
    atMs: count,
    files: arrayOf(object<LocalFile>({ required: { path: string, sizeBytes: count }, optional: { stored: string } })),
  },
  optional: {},
});

/** @throws SyntaxError or ShapeError when it is none */
export function parseManifest(json: string): Manifest {
  return manifest(JSON.parse(json), "");
}
