import type { OpenSessionWanted } from "./generated/types.ts";
import type { Hello } from "./messages.ts";

/**
 * A session: a command, a terminal or a connection in the container of a running task, for a caller that may run programs there. The
 * ApplicationMaster forwards messages between the caller and the task's executor (docs/makers/decisions/0090-sessions.md). The stdout of a
 * `stacks` session is JSON: a list of ProcessStacks (src/job/stacks.ts).
 */
export type { SessionInput, Terminal, TerminalSize } from "./generated/types.ts";
export interface OpenSession {
  readonly hello: Hello;
  readonly task: string;
  readonly wanted: SessionWanted;
}

export type SessionWanted = Exclude<OpenSessionWanted, { type: "unknown" }>;

/** From the executor. */
export type SessionOutput =
  /** The first message and only that one: which session is served. It is not forwarded. */
  | { readonly type: "accept"; readonly sessionId: number }
  /** The command runs, or the connection is open. A node may have nothing that can create a terminal. */
  | { readonly type: "started"; readonly terminal: boolean }
  /** All data of a terminal or a connection is `stdout`. */
  | { readonly type: "data"; readonly stream: "stdout" | "stderr"; readonly data: Uint8Array }
  /** No data follows. */
  | { readonly type: "end" }
  /** The command has ended: the last message. */
  | SessionExit
  /** The session could not begin, or was ended: the last message. */
  | SessionFailure
  | { readonly type: "unknown" };

export interface SessionFailure {
  readonly type: "failed";
  readonly reason: string;
  /** The job has no task of that name. */
  readonly noSuchTask?: true;
}

export interface SessionExit {
  readonly type: "exited";
  /** Valid if `signal` is empty. */
  readonly exitCode: number;
  readonly signal: string;
}
