import type { TerminalSize } from "../../src/api/session-messages.ts";
import type { CallingSession } from "../../src/api/session-stream.ts";

/** This process's terminal, as far as a session on another one needs it. */
export interface OwnTerminal {
  readonly stdin: { setRawMode(mode: boolean): unknown };
  readonly stdout: Pick<NodeJS.EventEmitter, "on" | "off"> & TerminalSize;
}

/**
 * Passes typed keys to the session's terminal unchanged, and tells it each new size of this one.
 * @returns a function that restores this terminal
 */
export function connectTerminal({ stdin, stdout }: OwnTerminal, session: CallingSession): () => void {
  const resized = () => void session.send({ type: "resize", size: sizeOf(stdout) });
  stdin.setRawMode(true);
  stdout.on("resize", resized);
  return () => {
    stdin.setRawMode(false);
    stdout.off("resize", resized);
  };
}

export function sizeOf({ columns, rows }: TerminalSize): TerminalSize {
  return { columns, rows };
}
