import type { SessionInput } from "../../src/api/session-messages.ts";

/** What runs for one caller. It sends its output and its end on the session's stream. */
export interface Session {
  /** Whether it has ended by itself, and reports how. */
  readonly hasEnded: boolean;
  /** Resolves when the next message may come. */
  take(input: SessionInput): Promise<void>;
  /** Ends it, and resolves when nothing of it is left. */
  end(): Promise<void>;
}
