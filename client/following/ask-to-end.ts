import { createInterface } from "node:readline";
import type { Output } from "../output/output.ts";

/** The terminal that a person sits at; undefined where nobody can answer a question. */
export function ownTerminal(): NodeJS.ReadableStream | undefined {
  return process.stdin.isTTY && process.stderr.isTTY ? process.stdin : undefined;
}

/** Asks on a terminal whether to end the job. Anything but a clear yes, the end of the input included, leaves it running. */
export async function askToEnd(id: string, output: Output, terminal: NodeJS.ReadableStream): Promise<boolean> {
  output.problem(`${id} was not submitted here. Type y and Enter to end it; Enter alone leaves it running.`);
  // The terminal keeps its own line editing, so that another Ctrl-C still sends a signal.
  const lines = createInterface({ input: terminal, terminal: false });
  try {
    return await new Promise<boolean>((resolve) => {
      lines.once("line", (line) => {
        output.typed(line);
        resolve(/^\s*y(es)?\s*$/i.test(line));
      });
      lines.once("close", () => resolve(false));
    });
  } finally {
    lines.close();
  }
}
