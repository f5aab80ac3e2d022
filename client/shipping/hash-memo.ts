import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import fs from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { isObject } from "../../src/hadoop/json.ts";

/** The content of a file or folder on this disk when it was last read. */
export interface KnownContent {
  /** Hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

interface Remembered extends KnownContent {
  readonly identity: string;
  readonly usedAtMs: number;
}

/** More files than a person submits from; each takes about 200 bytes. */
const maximumEntries = 1000;
/** A file that changed less than this ago may change again without a new time. */
const settledAfterMs = 2000;

/**
 * Remembers the SHA-256 of files sent before, so that a runtime of 95 MB is not read again for each submission. An entry is valid
 * as long as path, inode, size and times are the same. Losing the file costs only time, so failures to write it are not errors.
 */
export class HashMemo {
  readonly #file: string;
  readonly #entries: Map<string, Remembered>;
  readonly #now: () => number;
  #changed = false;

  private constructor(file: string, entries: Map<string, Remembered>, now: () => number) {
    this.#file = file;
    this.#entries = entries;
    this.#now = now;
  }

  static async open(folder: string, now: () => number = Date.now): Promise<HashMemo> {
    const file = path.join(folder, "hashes.json");
    const text = await fs.readFile(file, "utf8").catch(() => "{}");
    return new HashMemo(file, parseEntries(text), now);
  }

  /** @param key identifies the file, for example its path @param identity changes when the content may have changed */
  find(key: string, identity: string): KnownContent | undefined {
    const known = this.#entries.get(key);
    if (known?.identity !== identity) return undefined;
    this.#set(key, { ...known, usedAtMs: this.#now() });
    return { sha256: known.sha256, sizeBytes: known.sizeBytes };
  }

  /** @param changedAtMs when it last changed; content that has just changed is not remembered */
  remember(key: string, identity: string, content: KnownContent, changedAtMs: number): void {
    if (this.#now() - changedAtMs < settledAfterMs) return;
    this.#set(key, { identity, sha256: content.sha256, sizeBytes: content.sizeBytes, usedAtMs: this.#now() });
  }

  /** A local file's hash, from memory or by reading it. */
  async file(file: string): Promise<KnownContent> {
    const stats = await fs.stat(file, { bigint: true });
    const identity = `${stats.dev}.${stats.ino}.${stats.size}.${stats.mtimeNs}.${stats.ctimeNs}`;
    const known = this.find(file, identity);
    if (known !== undefined) return known;
    const content = await hashFile(file);
    this.remember(file, identity, content, Math.max(Number(stats.ctimeMs), Number(stats.mtimeMs)));
    return content;
  }

  /** Writes the memo for the next run, completely or not at all. */
  async save(): Promise<void> {
    if (!this.#changed) return;
    const newest = [...this.#entries]
      .sort(([, left], [, right]) => right.usedAtMs - left.usedAtMs)
      .slice(0, maximumEntries);
    const temporary = `${this.#file}.${process.pid}.tmp`;
    try {
      await fs.mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      await fs.writeFile(temporary, JSON.stringify(Object.fromEntries(newest)), { mode: 0o600 });
      await fs.rename(temporary, this.#file);
      this.#changed = false;
    } catch {
      await fs.rm(temporary, { force: true }).catch(() => undefined);
    }
  }

  #set(key: string, entry: Remembered): void {
    this.#entries.set(key, entry);
    this.#changed = true;
  }
}

/** Reads a file to get its hash and size. */
export async function hashFile(file: string): Promise<KnownContent> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      hash.update(chunk);
      sizeBytes += chunk.length;
    }
  });
  return { sha256: hash.digest("hex"), sizeBytes };
}

/** A damaged file counts as empty. */
function parseEntries(text: string): Map<string, Remembered> {
  const entries = new Map<string, Remembered>();
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return entries;
  }
  if (!isObject(document)) return entries;
  for (const [key, value] of Object.entries(document)) {
    if (!isObject(value)) continue;
    const { identity, sha256, sizeBytes, usedAtMs } = value;
    if (typeof identity !== "string" || typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) continue;
    if (typeof sizeBytes !== "number" || typeof usedAtMs !== "number") continue;
    entries.set(key, { identity, sha256, sizeBytes, usedAtMs });
  }
  return entries;
}
