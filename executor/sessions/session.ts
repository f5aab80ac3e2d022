import type { SessionInput } from "../../src/api/session-messages.ts";

/** What runs for one caller. It sends what it has to say, its end too, on the session's stream. */
export interface Session {
  /** It has ended by itself, and says how. */
  readonly hasEnded: boolean;
  /** Resolves when the next message may come. */
  take(input: SessionInput): Promise<void>;
  /** Ends it, and resolves when nothing of it is left. */
  end(): Promise<void>;
}
