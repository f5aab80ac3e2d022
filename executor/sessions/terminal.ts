import { spawn } from "node:child_process";
import { accessSync, constants, readlinkSync } from "node:fs";
import path from "node:path";
import type { Terminal, TerminalSize } from "../../src/api/session-messages.ts";
import { shellWords } from "../../src/job/shell-words.ts";

/** A program with its arguments, and additional environment variables. */
export interface TerminalCommand {
  readonly words: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the command has a pseudo-terminal. */
  readonly isTerminal: boolean;
}

/** Runs its arguments on a pseudo-terminal, and exits as they do, with 128 + the signal where one ended them. */
const PYTHON_TERMINAL = "import pty,sys; s=pty.spawn(sys.argv[1:]); sys.exit(s>>8 if s&127==0 else 128+(s&127))";

/**
 * How a command is run on a pseudo-terminal with what nodes have: util-linux's script, else Python's module pty; without both it runs on
 * pipes. Either reads and writes its own stdin and stdout.
 * @param searchPath the PATH in which they are looked for
 */
export function terminalCommand(
  words: readonly string[],
  { size, type }: Terminal,
  searchPath: string,
): TerminalCommand {
  // script and terminal programs start SHELL: that of a service user may be one that refuses.
  const environment = { TERM: type, SHELL: "/bin/bash" };
  const prepared = `stty sane; stty ${sizeWords(size)}; exec ${shellWords(words)}`;
  if (isOn(searchPath, "script"))
    return { words: ["script", "-qefc", prepared, "/dev/null"], environment, isTerminal: true };
  if (isOn(searchPath, "python3"))
    return { words: ["python3", "-c", PYTHON_TERMINAL, "sh", "-c", prepared], environment, isTerminal: true };
  return { words: ["sh", "-c", `exec ${shellWords(words)}`], environment, isTerminal: false };
}

/** Changes the size of the terminal that one of the processes has; the kernel notifies those on it by SIGWINCH. */
export function resizeTerminal(pids: readonly number[], size: TerminalSize): void {
  const terminal = pids.map(terminalOf).find((file) => file !== undefined);
  if (terminal === undefined) return;
  const stty = spawn("stty", ["-F", terminal, ...sizeWords(size).split(" ")], { stdio: "ignore" });
  // Without stty the size stays as it is.
  stty.on("error", () => undefined);
}

function sizeWords({ columns, rows }: TerminalSize): string {
  return `cols ${columns || 80} rows ${rows || 24}`;
}

function terminalOf(pid: number): string | undefined {
  try {
    const file = readlinkSync(`/proc/${pid}/fd/0`);
    return file.startsWith("/dev/pts/") ? file : undefined;
  } catch {
    return undefined;
  }
}

function isOn(searchPath: string, program: string): boolean {
  return searchPath.split(":").some((folder) => {
    try {
      accessSync(path.join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
