/** Whether the work was done in that time. */
export async function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  return await Promise.race([work.then(() => true), limit]).finally(() => clearTimeout(timer));
}
