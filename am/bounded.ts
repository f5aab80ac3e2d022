import { TonyError } from "../src/errors.ts";

/** Waits for the work, but not longer than that. Rejects with a TonyError with code `TIMEOUT`; the work itself goes on. */
export async function within<T>(limitMs: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new TonyError(`${what} took longer than ${limitMs} ms`, { code: "TIMEOUT", retryable: true }));
    }, limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
