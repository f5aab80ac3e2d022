import type { Pause } from "./read-split.ts";

/** Shorter splits are read before they are asked for: opening them takes longer than reading them. */
const SMALL_BYTES = 128 << 10;
/** For a compressed split, its uncompressed size. */
const MOST_KEPT_BYTES = 512 << 10;
const AT_A_TIME = 8;

/** No retry while nobody waits for the split. */
const inVain: Pause = () => Promise.reject(new Error("it is read again when it is asked for"));

interface Small {
  readonly start: number;
  readonly end: number;
}

/**
 * Splits that a program has been given and will ask for: small ones are read a few at a time, so that it waits for none.
 */
export class ReadAhead<Split extends Small> {
  readonly #read: (split: Split, pause?: Pause) => AsyncIterable<Buffer>;
  /** Undefined: it is read when it is asked for. */
  readonly #found = new Map<Split, Promise<readonly Buffer[] | undefined>>();
  readonly #waiting: (() => void)[] = [];
  #reading = 0;

  constructor(read: (split: Split, pause?: Pause) => AsyncIterable<Buffer>) {
    this.#read = read;
  }

  begin(splits: Iterable<Split>): void {
    for (const split of splits)
      if (split.end - split.start <= SMALL_BYTES && !this.#found.has(split)) this.#found.set(split, this.#begun(split));
  }

  /** What was read ahead, once; otherwise the split is read now. */
  async *take(split: Split): AsyncGenerator<Buffer, void> {
    yield* (await this.#found.get(split)) ?? this.#read(split);
  }

  /** It is used, or another task's. */
  drop(split: Split): void {
    this.#found.delete(split);
  }

  async #begun(split: Split): Promise<readonly Buffer[] | undefined> {
    if (this.#reading >= AT_A_TIME) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#reading += 1;
    try {
      return await collected(this.#read(split, inVain));
    } catch {
      return undefined;
    } finally {
      this.#reading -= 1;
      this.#waiting.shift()?.();
    }
  }
}

/** Undefined: too large to keep. */
async function collected(source: AsyncIterable<Buffer>): Promise<readonly Buffer[] | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > MOST_KEPT_BYTES) return undefined;
    chunks.push(chunk);
  }
  return chunks;
}
