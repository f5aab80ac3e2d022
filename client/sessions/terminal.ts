import type { TerminalSize } from "../../src/api/session-messages.ts";
import type { CallingSession } from "../../src/api/session-stream.ts";

/** This process's terminal, as far as a session on another one needs it. */
export interface OwnTerminal {
  readonly stdin: { setRawMode(mode: boolean): unknown };
  readonly stdout: Pick<NodeJS.EventEmitter, "on" | "off"> & TerminalSize;
}

/**
 * Leaves what is typed to the session's terminal, as it is, and tells that of each new size of this one.
 * @returns brings this terminal back to what it was
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
