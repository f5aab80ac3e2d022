import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { type Entry, fromRandomAccessReaderPromise, openPromise, RandomAccessReader, type ZipFile } from "yauzl";

/** One entry of a zip's directory. */
export type ZipEntry = {
  /** Relative, with `/` between its parts and none at the end. */
  readonly path: string;
  /** The nine permission bits. */
  readonly mode: number;
  readonly modificationTimeMs: number;
} & (
  | { readonly type: "directory" }
  | { readonly type: "symlink"; readonly target: () => Promise<string> }
  | { readonly type: "file"; readonly sizeBytes: number; readonly open: () => Promise<Readable> }
);

/** The bytes of a zip that is not on this machine's disk, read on demand. */
export interface RangeSource {
  readonly lengthBytes: number;
  /** Exactly these bytes. */
  readonly read: (offset: number, lengthBytes: number) => Promise<Buffer>;
}

/** The file type bits of a unix mode. */
const typeMask = 0o170000;
const symbolicLink = 0o120000;
/** Linux's PATH_MAX. */
const longestTargetBytes = 4096;
/** The directory is read record by record; one request for each would take minutes for a virtual environment. */
const chunkBytes = 1024 * 1024;

/**
 * The entries of a zip, in the order of its directory (PKWARE APPNOTE 6.3, section 4.3.12). Contents are read only when opened.
 * @param source a local path, or where to read from
 * @throws Error from yauzl for a file that is not a zip, and for names that are absolute or contain `..`
 */
export async function* zipEntries(source: string | RangeSource): AsyncGenerator<ZipEntry, void> {
  const options = { lazyEntries: true } as const;
  const zip =
    typeof source === "string"
      ? await openPromise(source, options)
      : await fromRandomAccessReaderPromise(new RangeReader(source), source.lengthBytes, options);
  for await (const entry of zip.eachEntry()) yield zipEntry(zip, entry);
}

function zipEntry(zip: ZipFile, entry: Entry): ZipEntry {
  // The upper half of the external attributes is the unix mode if the archive was made on unix.
  const unixMode = entry.externalFileAttributes >>> 16;
  const mode = unixMode & 0o777;
  const modificationTimeMs = entry.getLastModDate().getTime();
  const open = () => zip.openReadStreamPromise(entry);
  if (entry.fileName.endsWith("/")) {
    return { path: entry.fileName.replace(/\/+$/, ""), type: "directory", mode: mode || 0o755, modificationTimeMs };
  }
  const common = { path: entry.fileName, mode: mode || 0o644, modificationTimeMs };
  if ((unixMode & typeMask) === symbolicLink) {
    const target = async () => {
      if (entry.uncompressedSize > longestTargetBytes)
        throw new Error(`${entry.fileName} is too long for a link's target`);
      return await text(await open());
    };
    return { ...common, type: "symlink", target };
  }
  return { ...common, type: "file", sizeBytes: entry.uncompressedSize, open };
}

/** Reads a chunk at a time, and serves later reads from it. */
class RangeReader extends RandomAccessReader {
  readonly #source: RangeSource;
  #chunk: { readonly offset: number; readonly bytes: Buffer } = { offset: 0, bytes: Buffer.alloc(0) };

  constructor(source: RangeSource) {
    super();
    this.#source = source;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#range(start, end));
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    this.#bytes(position, length).then(
      (bytes) => {
        bytes.copy(buffer, offset);
        callback(null);
      },
      (error: Error) => callback(error),
    );
  }

  async *#range(start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at < end; at += chunkBytes) yield await this.#bytes(at, Math.min(chunkBytes, end - at));
  }

  async #bytes(position: number, length: number): Promise<Buffer> {
    const { offset, bytes } = this.#chunk;
    if (position < offset || position + length > offset + bytes.length) {
      const wanted = Math.max(length, Math.min(chunkBytes, this.#source.lengthBytes - position));
      this.#chunk = { offset: position, bytes: await this.#source.read(position, wanted) };
      return this.#bytes(position, length);
    }
    return bytes.subarray(position - offset, position - offset + length);
  }
}
