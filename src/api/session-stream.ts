import type { ApiError } from "./errors.ts";
import type { SessionInput, SessionOutput } from "./session-messages.ts";

/** The caller's side of a session. */
export type CallingSession = SessionStream<SessionInput, SessionOutput>;
/** The side of the executor that serves the session. */
export type ServedSession = SessionStream<SessionOutput, SessionInput>;

/** Larger pieces of data are split into several messages, none of which may exceed MOST_REQUEST_BYTES. */
const MOST_DATA_BYTES = 65_536;

/** The part of a gRPC stream that a session needs. */
interface Carrier<Sent, Received> extends AsyncIterable<Received> {
  write(message: Sent): boolean;
  end(): unknown;
  cancel(): void;
  on(event: "error" | "end" | "close", listener: (error: unknown) => void): unknown;
  once(event: "drain", listener: () => void): unknown;
}

/** One side of a session, over a connection to the ApplicationMaster. Neither side is sent more than it accepts. */
export class SessionStream<Sent extends object, Received> {
  readonly #stream: Carrier<Sent, Received>;
  #isOver = false;
  #isFinished = false;
  /** Resolves when the other side has ended the stream and everything was received, or at once, with the error, when it breaks. */
  readonly over: Promise<ApiError | undefined>;

  constructor(stream: Carrier<Sent, Received>, toError: (error: unknown) => ApiError) {
    this.#stream = stream;
    this.over = new Promise((resolve) => {
      const end = (error?: ApiError) => {
        this.#isOver = true;
        resolve(error);
      };
      stream.on("error", (error) => end(toError(error)));
      stream.on("end", () => end());
      stream.on("close", () => end());
    });
  }

  /** Resolves when the next message may be sent. Once the session is over or finished, nothing is sent. */
  async send(message: Sent): Promise<void> {
    for (const part of parts(message)) await this.#sendPart(part);
  }

  async #sendPart(message: Sent): Promise<void> {
    if (this.#isOver || this.#isFinished || this.#stream.write(message)) return;
    const drained = new Promise<void>((resolve) => this.#stream.once("drain", resolve));
    await Promise.race([drained, this.over]);
  }

  /** Passes each message on after the previous one was taken; `take` may not throw. */
  async receive(take: (message: Received) => Promise<void>): Promise<void> {
    try {
      for await (const message of this.#stream) await take(message);
    } catch (error) {
      // `over` reports a broken stream.
      if (!this.#isOver) throw error;
    }
  }

  /** Ends the session cleanly, after a last message; once. */
  finish(last?: Sent): void {
    if (this.#isOver || this.#isFinished) return;
    this.#isFinished = true;
    if (last !== undefined) this.#stream.write(last);
    this.#stream.end();
  }

  /** Ends the session at once. */
  cancel(): void {
    this.#stream.cancel();
  }
}

function* parts<Message extends object>(message: Message): Generator<Message> {
  const data = "data" in message && message.data instanceof Uint8Array ? message.data : new Uint8Array();
  yield data.length <= MOST_DATA_BYTES ? message : { ...message, data: data.subarray(0, MOST_DATA_BYTES) };
  for (let at = MOST_DATA_BYTES; at < data.length; at += MOST_DATA_BYTES) {
    yield { ...message, data: data.subarray(at, at + MOST_DATA_BYTES) };
  }
}
