/** What is read of a stream of gRPC. */
interface Source<Message> extends AsyncIterable<Message> {
  cancel(): void;
  on(event: "error", listener: () => void): unknown;
}

/** What a server sends until it ends; less, without an error, once the signal aborts. Throws what `toError` makes. */
export async function* readStream<Message>(
  open: () => Source<Message>,
  toError: (error: unknown) => Error,
  signal?: AbortSignal,
): AsyncGenerator<Message, void> {
  if (signal?.aborted) return;
  const stream = open();
  const cancel = () => stream.cancel();
  signal?.addEventListener("abort", cancel);
  try {
    for await (const message of stream) yield message;
  } catch (error) {
    if (!signal?.aborted) throw toError(error);
  } finally {
    signal?.removeEventListener("abort", cancel);
    // A stream that was left early may still report its cancellation, which is no error.
    stream.on("error", () => undefined);
    stream.cancel();
  }
}
