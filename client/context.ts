import type { Readable, Writable } from "node:stream";
import type { TerminalSize } from "../src/api/session-messages.ts";
import { processVariables } from "../src/hadoop/conf/configuration.ts";
import type { Output } from "./output/output.ts";

/** A process's own streams, for commands that connect them with something else. */
export interface OwnStreams {
  readonly stdin: Readable & { readonly isTTY: boolean; setRawMode(mode: boolean): unknown };
  readonly stdout: Writable & TerminalSize & { readonly isTTY: boolean };
  readonly stderr: Writable;
}

/** What a command may know of the process that it runs in: everything that a test wants to choose. */
export interface ClientContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly output: Output;
  readonly streams: OwnStreams;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The variables that `${…}` in a configuration may refer to. */
export function variablesOf({ environment }: ClientContext): ReturnType<typeof processVariables> {
  return processVariables({ ...environment });
}
