/** What files hold, and so where they may be cut. */
export type Cut =
  /** Anywhere: a line is of the split that it begins in. */
  | { readonly format: "lines"; readonly splitBytes: number }
  /** Anywhere. */
  | { readonly format: "bytes"; readonly splitBytes: number }
  /** Anywhere: a block of an Avro file is of the split that the marker before it begins in; the program finds it. */
  | { readonly format: "avro"; readonly splitBytes: number }
  /** Anywhere: a row group of a Parquet file is of the split that its middle is in; the program finds it. */
  | { readonly format: "parquet"; readonly splitBytes: number }
  /** Between records, all of one length. */
  | { readonly format: "fixed"; readonly splitBytes: number; readonly recordBytes: number }
  /** Nowhere: what is in them has a form of its own. */
  | { readonly format: "file" }
  /** Nowhere: where a record of a TFRecord file begins is known only from those before it. */
  | { readonly format: "tfrecord" };

/** A last split may be longer by this part, as FileInputFormat.SPLIT_SLOP of Hadoop has it: no split is a few bytes. */
const LONGER_BY = 0.1;

/** Names of files that can be read from their beginning only. */
const COMPRESSED = /\.(bz2|deflate|gz|lz4|lzo|snappy|xz|zst)$/i;

/** Whether its splits are parts of the file. */
export function isCut(cut: Cut, file: string): boolean {
  return "splitBytes" in cut && !isPacked(cut, file);
}

/** Whether its rows are there only once the file is unpacked. */
export function isPacked({ format }: Cut, file: string): boolean {
  return (format === "lines" || format === "tfrecord") && COMPRESSED.test(file);
}

/** Whether its rows are not read, because the file has to be unpacked first. */
export function isPackedInVain({ format }: Cut, file: string): boolean {
  return (format === "fixed" || format === "avro" || format === "parquet") && COMPRESSED.test(file);
}

/** How long each split of that file is but the last, which has the rest; undefined: it is one split. */
export function splitLength(cut: Cut, file: string): number | undefined {
  if (!("splitBytes" in cut) || isPacked(cut, file)) return undefined;
  if (cut.format !== "fixed") return cut.splitBytes;
  return Math.max(1, Math.floor(cut.splitBytes / cut.recordBytes)) * cut.recordBytes;
}

/** How many splits a file has of that length. One that is empty has none. */
export function splitCount(length: number, splitBytes: number | undefined): number {
  if (length === 0) return 0;
  return splitBytes === undefined ? 1 : Math.max(1, Math.ceil(length / splitBytes - LONGER_BY));
}

/** Why rows of such a file cannot be handed out; undefined: they can. */
export function whyUnreadable(
  cut: Cut,
  { path, length }: { readonly path: string; readonly length: number },
): string | undefined {
  if (isPacked(cut, path) && !path.endsWith(".gz")) return `${path}: the only compressed files that are read are .gz`;
  if (isPackedInVain(cut, path))
    return `${path}: rows of format ${cut.format} are not read of what is compressed; unpack it`;
  if (cut.format === "fixed" && strayBytes(cut, length) > 0)
    return `${path}, whose ${length} bytes are not a whole number of rows of ${cut.recordBytes}`;
  return undefined;
}

/** Bytes behind the last whole record; the file is not what it is said to be, or was not written to its end. */
export function strayBytes(cut: Cut, length: number): number {
  return cut.format === "fixed" ? length % cut.recordBytes : 0;
}
