/** Hadoop's are signed 32-bit numbers of which those below 0 are kept for the protocol (org.apache.hadoop.ipc.RpcConstants). */
const largestCallId = 2 ** 31 - 1;

/** Numbers the calls of one connection. */
export class CallIds {
  #last: number;

  /** @param last the one before the first that is given */
  constructor(last = 0) {
    this.#last = last;
  }

  /** The next one that no call has whose answer is still out; after the largest it begins again at 0. */
  next(isOut: (callId: number) => boolean): number {
    do {
      this.#last = this.#last === largestCallId ? 0 : this.#last + 1;
    } while (isOut(this.#last));
    return this.#last;
  }
}
