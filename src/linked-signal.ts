export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Unlinks the signal: it no longer fires. */
  readonly release: () => void;
}

/**
 * A signal of the caller's own that fires when `followed` does, until it is released. The caller may wait on it for as long as it likes and
 * leaves no listener on a signal that many share. AbortSignal.any keeps no reference to the signals that it follows, and Node collects an
 * AbortSignal.timeout that nothing else references: it would never fire.
 */
export function linkedSignal(followed: AbortSignal | undefined): LinkedSignal {
  const own = new AbortController();
  const fire = () => own.abort(followed?.reason);
  if (followed?.aborted === true) fire();
  else followed?.addEventListener("abort", fire, { once: true });
  return { signal: own.signal, release: () => followed?.removeEventListener("abort", fire) };
}
