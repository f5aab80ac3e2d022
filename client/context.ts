import { processVariables } from "../src/hadoop/conf/configuration.ts";
import type { Output } from "./output/output.ts";

/** What a command may know of the process it runs in: everything that a test wants to choose. */
export interface ClientContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly output: Output;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What `${…}` in a configuration may refer to. */
export function variablesOf({ environment }: ClientContext): ReturnType<typeof processVariables> {
  return processVariables({ ...environment });
}
