export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** It does not fire any more. */
  readonly release: () => void;
}

/**
 * A signal of one's own that fires when another does, until it is released: who uses it may wait for as long as he likes, and leaves
 * nothing at a signal that many share. AbortSignal.any does not hold the signals that it follows, and Node collects an AbortSignal.timeout
 * that nobody else holds: it would never fire.
 */
export function linkedSignal(followed: AbortSignal | undefined): LinkedSignal {
  const own = new AbortController();
  const fire = () => own.abort(followed?.reason);
  if (followed?.aborted === true) fire();
  else followed?.addEventListener("abort", fire, { once: true });
  return { signal: own.signal, release: () => followed?.removeEventListener("abort", fire) };
}
