/** The processes that a program's command left behind. */
export interface Leftovers {
  /** Which, for the report; empty: none. */
  readonly words: string;
  /** Resolves when they have ended, or cannot be ended. */
  readonly cleared: Promise<unknown>;
}

export const noLeftovers: Leftovers = { words: "", cleared: Promise.resolve() };

const MOST_NAMED = 3;

/** What they would still have written is missing, and nothing else says so. */
export function leftoverWords(names: readonly string[]): string {
  if (names.length === 0) return "";
  const which = [...new Set(names)].slice(0, MOST_NAMED).join(", ");
  const them = names.length === 1 ? "1 process" : `${names.length} processes`;
  return `its command ended before ${them} of it (${which}), which ended with it: let it wait for them`;
}
