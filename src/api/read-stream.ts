/** The part of a gRPC stream that is used. */
interface Source<Message> extends AsyncIterable<Message> {
  cancel(): void;
  on(event: "error", listener: () => void): unknown;
}

/** The messages that a server sends until it ends; fewer, without an error, if the signal aborts. Throws the error that `toError` makes. */
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
    // A stream that was left early may still report its cancellation, which is not an error.
    stream.on("error", () => undefined);
    stream.cancel();
  }
}
