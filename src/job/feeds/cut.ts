/** The format of files, which decides where they can be cut. */
export type Cut =
  /** Anywhere: a line belongs to the split that it begins in. */
  | { readonly format: "lines"; readonly splitBytes: number }
  /** Anywhere. */
  | { readonly format: "bytes"; readonly splitBytes: number }
  /** Anywhere: a block of an Avro file belongs to the split that contains the marker before it; the program finds it. */
  | { readonly format: "avro"; readonly splitBytes: number }
  /** Anywhere: a row group of a Parquet file belongs to the split that contains its middle; the program finds it. */
  | { readonly format: "parquet"; readonly splitBytes: number }
  /** Between records, which all have the same length. */
  | { readonly format: "fixed"; readonly splitBytes: number; readonly recordBytes: number }
  /** Nowhere: the content has a format of its own. */
  | { readonly format: "file" }
  /** Nowhere: the beginning of a TFRecord record is only known from the records before it. */
  | { readonly format: "tfrecord" };

/** The last split may be longer by this fraction, as with Hadoop's FileInputFormat.SPLIT_SLOP: no split is only a few bytes long. */
const LONGER_BY = 0.1;

/** Names of files that can only be read from their beginning. */
const COMPRESSED = /\.(bz2|deflate|gz|lz4|lzo|snappy|xz|zst)$/i;

/** Whether its splits are parts of the file. */
export function isCut(cut: Cut, file: string): boolean {
  return "splitBytes" in cut && !isPacked(cut, file);
}

/** Whether its rows only exist once the file is decompressed. */
export function isPacked({ format }: Cut, file: string): boolean {
  return (format === "lines" || format === "tfrecord") && COMPRESSED.test(file);
}

/** Whether its rows cannot be read, because the file has to be decompressed first. */
export function isPackedInVain({ format }: Cut, file: string): boolean {
  return (format === "fixed" || format === "avro" || format === "parquet") && COMPRESSED.test(file);
}

/** The length of each of a file's splits except the last, which has the rest; undefined: the file is one split. */
export function splitLength(cut: Cut, file: string): number | undefined {
  if (!("splitBytes" in cut) || isPacked(cut, file)) return undefined;
  if (cut.format !== "fixed") return cut.splitBytes;
  return Math.max(1, Math.floor(cut.splitBytes / cut.recordBytes)) * cut.recordBytes;
}

/** How many splits of that length a file has. An empty file has none. */
export function splitCount(length: number, splitBytes: number | undefined): number {
  if (length === 0) return 0;
  return splitBytes === undefined ? 1 : Math.max(1, Math.ceil(length / splitBytes - LONGER_BY));
}

/** Why the rows of such a file cannot be handed out; undefined: they can. */
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

/** The number of bytes after the last whole record; if any, the file has another format, or was not written completely. */
export function strayBytes(cut: Cut, length: number): number {
  return cut.format === "fixed" ? length % cut.recordBytes : 0;
}
