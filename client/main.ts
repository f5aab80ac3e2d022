import "./command-line/require-node.ts";

import { type ExitCode, ExitCode as ExitCodes } from "../src/errors.ts";
import { parseArguments } from "./command-line/arguments.ts";
import { ignoreErrors, leaveWithReader, written } from "./command-line/closed-output.ts";
import { completions } from "./command-line/completion.ts";
import { reportError } from "./command-line/handle-errors.ts";
import { commands } from "./commands/commands.ts";
import type { ClientContext } from "./context.ts";
import { Output } from "./output/output.ts";
import type { ErrorJson } from "./printed-json.ts";

const { env: environment } = process;
const output = new Output({ out: process.stdout, err: process.stderr, environment, now: Date.now });

leaveWithReader(process.stdout);
ignoreErrors(process.stderr);
void main();

async function main(): Promise<void> {
  const context = { environment, workingDirectory: process.cwd(), output, now: Date.now };
  const exitCode = await run(process.argv.slice(2), context);
  await Promise.all([process.stdout, process.stderr].map(written));
  // What is open still holds nothing up: gRPC goes on connecting to an AM that is frozen, although its channel was closed.
  process.exit(exitCode);
}

/** Runs one command line; whatever is thrown becomes a message and an exit code. */
async function run(words: readonly string[], context: ClientContext): Promise<ExitCode> {
  // A command line that cannot be parsed was asked for JSON all the same.
  let json = words.includes("--json");
  try {
    const completed = await completions(words, context);
    if (completed !== undefined) {
      context.output.verbatim(completed.join("\n"));
      return ExitCodes.succeeded;
    }
    const parsed = await parseArguments(words, commands, context.output.columns);
    if ("text" in parsed) {
      context.output.verbatim(parsed.text);
      return ExitCodes.succeeded;
    }
    ({ json } = parsed);
    return await parsed.run(context);
  } catch (error) {
    const { message, code, exitCode } = reportError(error, words.includes("-debug") || words.includes("--debug"));
    context.output.endWait();
    if (json) context.output.jsonLine({ error: { code, message }, exitCode } satisfies ErrorJson);
    context.output.problem(`tony-ts: ${message}`);
    return exitCode;
  }
}
