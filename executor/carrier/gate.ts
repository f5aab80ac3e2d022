/**
 * Work runs only while the gate is open: closing it aborts running work, and opening it restarts that from the
 * beginning.
 */
export class Gate {
  #closing = new AbortController();
  #opened: Promise<void> = Promise.resolve();
  #open: () => void = () => {};

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  close(reason: string): void {
    if (this.isClosed) return;
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    this.#closing.abort(new Error(reason));
  }

  open(): void {
    if (!this.isClosed) return;
    this.#closing = new AbortController();
    this.#open();
  }

  /**
   * Runs the work once the gate is open. Throws what the work throws, and the signal's reason when that fires first.
   * @param stop ends the work for good
   */
  async through<Result>(work: (signal: AbortSignal) => Promise<Result>, stop: AbortSignal): Promise<Result> {
    for (;;) {
      await this.#passable(stop);
      const closing = this.#closing.signal;
      try {
        return await work(AbortSignal.any([closing, stop]));
      } catch (error) {
        if (stop.aborted || !closing.aborted) throw error;
      }
    }
  }

  async #passable(stop: AbortSignal): Promise<void> {
    while (this.isClosed && !stop.aborted) {
      const stopped = new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
      await Promise.race([this.#opened, stopped]);
    }
    stop.throwIfAborted();
  }
}
