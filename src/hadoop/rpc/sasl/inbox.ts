/** A queue of messages in order of arrival, for one reader. */
export class Inbox<Message> {
  readonly #messages: Message[] = [];
  #waiting: { readonly resolve: (message: Message) => void; readonly reject: (cause: unknown) => void } | undefined;
  #failure: { readonly cause: unknown } | undefined;

  put(message: Message): void {
    if (this.#waiting === undefined) this.#messages.push(message);
    else this.#waiting.resolve(message);
    this.#waiting = undefined;
  }

  /** The reader, current or next, gets this instead of a message. @returns whether one was waiting */
  fail(cause: unknown): boolean {
    const reader = this.#waiting;
    this.#failure ??= { cause };
    this.#waiting = undefined;
    reader?.reject(cause);
    return reader !== undefined;
  }

  receive(): Promise<Message> {
    return new Promise((resolve, reject) => {
      const message = this.#messages.shift();
      if (message !== undefined) resolve(message);
      else if (this.#failure !== undefined) reject(this.#failure.cause);
      else this.#waiting = { resolve, reject };
    });
  }
}
