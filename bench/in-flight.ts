/** Calls `work` `count` times, at most `limit` calls at once; it gets the numbers from 0. */
export async function inFlight(limit: number, count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
