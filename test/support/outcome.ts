/** The outcome of a call that may fail: `returned`, or its error's code. */
export function outcomeOf(call: () => unknown): string {
  try {
    call();
    return "returned";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}
