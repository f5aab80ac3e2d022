/** One call of a client, as the client saw it: when it began and was answered, its input and its output. */
export interface Call<Input, Output> {
  readonly calledAt: number;
  /** Absent: it was never answered, so that it may have happened at any time since, or not at all. */
  readonly answeredAt?: number;
  readonly input: Input;
  readonly output?: Output;
}

/** How one object behaves when calls come one after the other. */
export interface Model<State extends string | number, Input, Output> {
  readonly initial: State;
  /** @returns the state after the call; undefined: it cannot answer in this way. Without an output any answer will do */
  step(state: State, input: Input, output: Output | undefined): State | undefined;
}

/**
 * Whether there is an order in which all calls could have happened one by one, each between its beginning and its answer: the search of Wing and
 * Gong, with Lowe's memory of what was tried, as in porcupine (github.com/anishathalye/porcupine).
 */
export function isLinearizable<State extends string | number, Input, Output>(
  model: Model<State, Input, Output>,
  calls: readonly Call<Input, Output>[],
): boolean {
  const tried = new Set<string>();
  const answered = calls.flatMap(({ answeredAt }, index) => (answeredAt === undefined ? [] : [index]));
  const search = (state: State, done: ReadonlySet<number>): boolean => {
    if (answered.every((index) => done.has(index))) return true;
    const name = `${state} ${[...done].sort((left, right) => left - right).join()}`;
    if (tried.has(name)) return false;
    tried.add(name);
    const open = calls.map((call, index) => ({ ...call, index })).filter(({ index }) => !done.has(index));
    // No call can have happened before one that had been answered when it began.
    const firstAnswer = Math.min(...open.map(({ answeredAt = Number.POSITIVE_INFINITY }) => answeredAt));
    return open.some(({ calledAt, index, input, output }) => {
      if (calledAt > firstAnswer) return false;
      const next = model.step(state, input, output);
      return next !== undefined && search(next, new Set([...done, index]));
    });
  };
  return search(model.initial, new Set());
}
