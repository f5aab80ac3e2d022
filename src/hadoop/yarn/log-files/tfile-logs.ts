import type { ContainerId } from "../records.ts";
import { type ByteReader, decodeJavaUtf, readJavaUtf } from "./byte-reader.ts";
import { LogFormatError, namingDamage } from "./errors.ts";
import type { AggregatedLog, NodeLogFile } from "./node-log-file.ts";
import { readTFile } from "./tfile.ts";

/** Keys of records that do not belong to a container (AggregatedLogFormat.RESERVED_KEYS). */
const reservedKeys: ReadonlySet<string> = new Set(["APPLICATION_ACL", "APPLICATION_OWNER", "VERSION"]);

/** The logs of a TFile, in the order they were written (org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat). */
export async function* tfileLogs(
  file: NodeLogFile,
  tail: Buffer,
  wanted: (containerId: ContainerId) => boolean,
): AsyncGenerator<AggregatedLog> {
  const containerOf = (key: Buffer) => decodeJavaUtf(key.subarray(2));
  const isWanted = (containerId: string) => !reservedKeys.has(containerId) && wanted(containerId);
  for await (const { key, value } of readTFile(file, tail, (key) => isWanted(containerOf(key)))) {
    const containerId = containerOf(key);
    if (!isWanted(containerId)) continue;
    // AggregatedLogFormat.LogValue.write: name, length as text, content; once for each file.
    while (!(await value.atEnd())) {
      const name = await readJavaUtf(value);
      const lengthText = await readJavaUtf(value);
      const lengthBytes = Number(lengthText);
      if (!/^\d+$/.test(lengthText) || !Number.isSafeInteger(lengthBytes)) {
        throw new LogFormatError(`${file.path}: "${lengthText}" is not a valid length of ${name} of ${containerId}`);
      }
      const content = new LogContent(file.path, value, lengthBytes);
      yield { containerId, name, lengthBytes, node: file.node, content };
      // The caller may already have found what it wanted.
      if (!wanted(containerId)) break;
      await content.skipRest();
    }
  }
}

/** Extracts one log's bytes from the record's. */
class LogContent implements AsyncIterable<Uint8Array> {
  readonly #path: string;
  readonly #value: ByteReader;
  #left: number;

  constructor(path: string, value: ByteReader, lengthBytes: number) {
    this.#path = path;
    this.#value = value;
    this.#left = lengthBytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const piece of namingDamage(this.#path, this.#value.take(this.#left))) {
      this.#left -= piece.length;
      yield piece;
    }
  }

  skipRest(): Promise<void> {
    const left = this.#left;
    this.#left = 0;
    return this.#value.skip(left);
  }
}
