import "./command-line/require-node.ts";
import "./command-line/require-folder.ts";

import { type ExitCode, ExitCode as ExitCodes } from "../src/errors.ts";
import { parseArguments, verbOf } from "./command-line/arguments.ts";
import type { CommandExit } from "./command-line/command.ts";
import { completions } from "./command-line/completion.ts";
import { reportError } from "./command-line/handle-errors.ts";
import { ignoreErrors, leaveWithReader, watchForDefects, written } from "./command-line/process.ts";
import { commands } from "./commands/commands.ts";
import type { ClientContext } from "./context.ts";
import { printEvent } from "./logs/print-event.ts";
import { Output } from "./output/output.ts";
import type { ErrorJson } from "./printed-json.ts";

const { env: environment } = process;
const words = process.argv.slice(2);
const output = new Output({ out: process.stdout, err: process.stderr, environment, now: Date.now });
// Even when the command line cannot be parsed, it asked for JSON.
let json = words.includes("--json");

leaveWithReader(process.stdout);
ignoreErrors(process.stderr);
watchForDefects((error) => void leave(told(error)));
void run({ environment, workingDirectory: process.cwd(), output, streams: process, now: Date.now })
  .catch(told)
  .then(leave);

/** Runs the command line. */
async function run(context: ClientContext): Promise<ExitCode | CommandExit> {
  const completed = await completions(words, context);
  if (completed !== undefined) {
    output.preformatted(completed.join("\n"));
    return ExitCodes.succeeded;
  }
  const parsed = await parseArguments(words, commands, output.columns);
  if ("text" in parsed) {
    output.preformatted(parsed.text);
    return ExitCodes.succeeded;
  }
  ({ json } = parsed);
  return await parsed.run(context);
}

/** Whatever was thrown becomes a message and an exit code. */
function told(error: unknown): ExitCode {
  const { message, code, retryable, exitCode } = reportError(
    error,
    words.includes("-debug") || words.includes("--debug"),
  );
  output.endWait();
  if (json) tellProgram({ error: { code, message, retryable }, exitCode });
  output.problem(`tony-ts: ${message}`);
  return exitCode;
}

/** A reader of events reads until the last of them. */
function tellProgram(problem: ErrorJson): void {
  const verb = verbOf(words);
  const isStream = commands.some((command) => command.verb === verb && command.printsEvents);
  if (isStream) printEvent(output, { event: "end", outcome: null, ...problem });
  else output.jsonLine(problem);
}

async function leave(exitCode: ExitCode | CommandExit): Promise<void> {
  process.exitCode = exitCode;
  await Promise.all([process.stdout, process.stderr].map(written));
  // Open handles do not delay the exit: gRPC goes on connecting to a frozen AM even after its channel was closed.
  process.exit(exitCode);
}
