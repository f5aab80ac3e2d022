/** The sending half of a gRPC stream, as far as a writer needs it. */
export interface MessageSink<Message> {
  write(message: Message): boolean;
  once(event: "drain", listener: () => void): unknown;
}

/**
 * The only writer of a stream: it keeps the order, waits for the transport, and bounds its queue. A message that updates an earlier one (a
 * status, a heartbeat) replaces it while that is queued; no other message is dropped. If a peer stops reading, the queue overflows and the
 * stream is closed; what must not be lost is sent again on the next stream.
 */
export class StreamWriter<Message> {
  readonly #sink: MessageSink<Message>;
  readonly #limit: number;
  readonly #onOverflow: () => void;
  #waiting: { readonly message: Message; readonly replaces: string | undefined }[] = [];
  #whenDrained: (() => void)[] = [];
  #blocked = false;
  #closed = false;

  constructor(sink: MessageSink<Message>, options: { readonly limit: number; readonly onOverflow: () => void }) {
    this.#sink = sink;
    this.#limit = options.limit;
    this.#onOverflow = options.onOverflow;
  }

  /** @param replaces this message replaces queued ones of the same name, at the position of the first */
  send(message: Message, replaces?: string): void {
    if (this.#closed) return;
    const same = replaces === undefined ? -1 : this.#waiting.findIndex((entry) => entry.replaces === replaces);
    if (same >= 0) this.#waiting[same] = { message, replaces };
    else this.#waiting.push({ message, replaces });
    this.#flush();
    if (this.#waiting.length > this.#limit) {
      this.close();
      this.#onOverflow();
    }
  }

  /** How many messages the transport has not accepted yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves when the transport has accepted everything, or the writer is closed. */
  drained(): Promise<void> {
    if (this.#closed || (!this.#blocked && this.#waiting.length === 0)) return Promise.resolve();
    return new Promise((resolve) => this.#whenDrained.push(resolve));
  }

  /** Stops writing. */
  close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#release();
  }

  #flush(): void {
    while (!this.#blocked && !this.#closed) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      if (!this.#sink.write(next.message)) this.#awaitDrain();
    }
    if (!this.#blocked) this.#release();
  }

  #awaitDrain(): void {
    this.#blocked = true;
    this.#sink.once("drain", () => {
      this.#blocked = false;
      this.#flush();
    });
  }

  #release(): void {
    const resolvers = this.#whenDrained;
    this.#whenDrained = [];
    for (const resolve of resolvers) resolve();
  }
}
