/** Steps in a second between two spans in which one was told. A program that started again has none there. */
export function ratesOf(steps: readonly (number | null)[], spanMs: number): (number | null)[] {
  let [before, spans] = [steps[0] ?? 0, 0];
  return steps.slice(1).map((step) => {
    spans += 1;
    if (step === null) return null;
    const rate = step < before ? null : ((step - before) / (spans * spanMs)) * 1000;
    [before, spans] = [step, 0];
    return rate;
  });
}
