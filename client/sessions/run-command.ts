import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import type { ApiError } from "../../src/api/errors.ts";
import type { SessionExit, SessionFailure, SessionOutput } from "../../src/api/session-messages.ts";
import type { CallingSession } from "../../src/api/session-stream.ts";
import { ExitCode, UserError } from "../../src/errors.ts";
import { SIGNALLED } from "./pass-signals.ts";

/** The sources of a command's input, and the targets of its output. */
export interface CommandStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/**
 * Connects a session's command with these streams until it has ended.
 * @param started is called when it runs, and whether it has a terminal
 * @returns its exit code; 128 + the signal's number where one ended it
 * @throws UserError `NO_SUCH_TASK`; `SESSION_FAILED`: it could not begin, or was ended; ApiError: the AM refuses it, or the connection broke
 */
export async function runCommand(
  session: CallingSession,
  { stdin, stdout, stderr }: CommandStreams,
  started: (isTerminal: boolean) => void,
): Promise<number> {
  let exit: SessionExit | undefined;
  let failure: SessionFailure | undefined;
  let hasStarted = false;
  const stopInput = sendInput(stdin, session);
  const take = async (message: SessionOutput) => {
    if (message.type === "started") {
      hasStarted = true;
      started(message.terminal);
    } else if (message.type === "data") await write(message.stream === "stdout" ? stdout : stderr, message.data);
    else if (message.type === "exited") exit = message;
    else if (message.type === "failed") failure = message;
  };
  try {
    const [error] = await Promise.all([session.over, session.receive(take)]);
    if (exit !== undefined) return exitCodeOf(exit);
    if (failure === undefined && error !== undefined) throw hasStarted ? error : unheard(error);
    throw sessionFailed(failure ?? { type: "failed", reason: "the ApplicationMaster ended it" });
  } finally {
    stopInput();
  }
}

/** The connection may have broken before the command began, or before its start was reported. */
function unheard(error: ApiError): Error {
  if (error.code !== "API_UNREACHABLE") return error;
  const message = `${error.message}\n  Whether the command began is not known; it ends with the connection: run it again`;
  return new UserError(message, { code: "SESSION_FAILED", exitCode: ExitCode.unknown, cause: error });
}

/** The error for a session that could not do what it was opened for. */
function sessionFailed({ reason, noSuchTask }: SessionFailure): UserError {
  if (noSuchTask === true) return new UserError(reason, { code: "NO_SUCH_TASK" });
  return new UserError(reason, { code: "SESSION_FAILED", exitCode: ExitCode.unknown });
}

/** Sends input as fast as the session accepts it. @returns a function that stops it */
function sendInput(input: Readable, session: CallingSession): () => void {
  const data = (chunk: Uint8Array) => {
    input.pause();
    void session.send({ type: "data", data: chunk }).then(() => input.resume());
  };
  const end = () => void session.send({ type: "end" });
  input.on("data", data);
  input.once("end", end);
  return () => {
    input.off("data", data);
    input.off("end", end);
    input.pause();
  };
}

function write(to: Writable, data: Uint8Array): Promise<void> {
  return new Promise((resolve) => to.write(data, () => resolve()));
}

/** The exit code as a shell would report it. */
function exitCodeOf({ exitCode, signal }: SessionExit): number {
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
  return number === undefined ? exitCode : SIGNALLED + number;
}
