import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { open, statfs } from "node:fs/promises";
import { PassThrough, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { TonyError } from "../errors.ts";
import { errorCode, errorMessage } from "../hadoop/errors.ts";
import { sizeWords } from "../job/reasons/words.ts";

/** How much of `tar`'s output is quoted. */
const mostWords = 4_096;

export interface UntarOptions {
  /** How many bytes may be unpacked in total; default: the free space on the target's disk. */
  readonly mostBytes?: number;
}

/**
 * Unpacks a tar archive, uncompressed or compressed by gzip, into a folder with the system's `tar`.
 * Throws a TonyError with code `LOCALIZATION`, also for an archive that is too large.
 */
export async function untar(archive: string, target: string, options: UntarOptions = {}): Promise<void> {
  try {
    await unpack(archive, target, options.mostBytes ?? (await freeBytes(target)));
  } catch (cause) {
    throw new TonyError(`${archive} could not be unpacked: ${errorMessage(cause)}`, { code: "LOCALIZATION", cause });
  }
}

async function unpack(archive: string, target: string, mostBytes: number): Promise<void> {
  const unpacked = (await isGzip(archive)) ? createGunzip() : new PassThrough();
  const tar = spawn("tar", ["-xf", "-", "-C", target], { stdio: ["pipe", "ignore", "pipe"] });
  let complaint = "";
  tar.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = `${complaint}${text}`.slice(0, mostWords);
  });
  const exited = new Promise<number | null>((resolve, reject) => {
    tar.on("error", (cause) => reject(new Error(`tar could not be run: ${errorMessage(cause)}`)));
    tar.on("close", resolve);
  });
  const fed = feed(archive, unpacked, mostBytes, tar.stdin);
  const [code, fault] = await Promise.all([exited, fed]);
  if (fault !== undefined) throw fault;
  if (code !== 0) throw new Error(complaint.trim());
}

/** @returns what is wrong with the archive; also undefined if `tar` has exited, which reports the reason itself */
async function feed(
  archive: string,
  unpacked: Transform,
  mostBytes: number,
  to: NodeJS.WritableStream,
): Promise<unknown> {
  try {
    await pipeline(
      createReadStream(archive),
      unpacked,
      (chunks: AsyncIterable<Buffer>) => counted(chunks, mostBytes),
      to,
    );
    return undefined;
  } catch (error) {
    return errorCode(error) === "EPIPE" || errorCode(error) === "ERR_STREAM_PREMATURE_CLOSE" ? undefined : error;
  }
}

async function* counted(chunks: AsyncIterable<Buffer>, mostBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error(`it holds more than the ${sizeWords(mostBytes)} that there is room for`);
    yield chunk;
  }
}

async function isGzip(archive: string): Promise<boolean> {
  const file = await open(archive);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16BE(0) === 0x1f8b;
  } finally {
    await file.close();
  }
}

/** The free space on a folder's disk. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
