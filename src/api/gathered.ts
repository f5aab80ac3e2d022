/** In one message. */
export const MOST_TOGETHER = 32;
/** By `bytesOf`, which counts a third of what some texts take: no message that holds several is longer than one may be (MOST_REQUEST_BYTES). */
const MOST_BYTES_TOGETHER = 64 << 10;

/** Sends together what comes within one turn of the event loop, in its order: a message costs many times what its content does. */
export class Gathered<Item> {
  readonly #send: (together: readonly Item[]) => void;
  #together: Item[] = [];
  #bytes = 0;

  constructor(send: (together: readonly Item[]) => void) {
    this.#send = send;
  }

  add(item: Item): void {
    const bytes = bytesOf(item);
    if (this.#together.length === MOST_TOGETHER || this.#bytes + bytes > MOST_BYTES_TOGETHER) this.#flush();
    if (this.#together.length === 0) setImmediate(() => this.#flush());
    this.#together.push(item);
    this.#bytes += bytes;
  }

  #flush(): void {
    const together = this.#together;
    if (together.length === 0) return;
    this.#together = [];
    this.#bytes = 0;
    this.#send(together);
  }
}

/** About what plain data takes in a message. */
function bytesOf(data: unknown): number {
  if (typeof data === "string") return data.length + 4;
  if (typeof data !== "object" || data === null) return 10;
  return Object.values(data).reduce<number>((bytes, part) => bytes + bytesOf(part), 4);
}
