import { programFileOf, shippingWords } from "../../../src/job/program-file.ts";
import type { ChildExit } from "../state/events.ts";
import type { TaskRecord } from "../state/state.ts";
import { roleOf, type Step } from "../state/step.ts";
import { keyWords } from "../words/words.ts";
import { missingScriptOf } from "./start-failure.ts";

/** What a person can do about a program that ended badly by itself; empty where nothing better is known than its own words. */
export function programRemedy(step: Step, task: TaskRecord, exit: ChildExit): string {
  return (
    misreadScript(step, task, exit) ??
    windowsLineEnds(exit) ??
    missingFile(step, task, exit) ??
    missingModule(step, task, exit) ??
    crash(step, task, exit) ??
    ""
  );
}

/** What to do where the shell could not run the command. */
export function commandRemedy(step: Step, task: TaskRecord, exit: ChildExit): string {
  return (
    misreadScript(step, task, exit) ??
    missingInterpreter(exit) ??
    missingFile(step, task, exit) ??
    `check ${commandPlace(step, task)}`
  );
}

/**
 * A value that what was used would have fitted into.
 * @param usedMiB 0 where it is not known
 */
export function memoryRemedy(step: Step, task: TaskRecord, memory: "physical" | "virtual", usedMiB: number): string {
  const role = roleOf(step, task);
  const needed = memory === "virtual" ? role.resource.memoryMiB : Math.max(role.resource.memoryMiB, usedMiB);
  const more = Math.ceil((needed * 1.25) / 512) * 512;
  const amount = more % 1024 === 0 ? `${more / 1024}g` : `${more}m`;
  const site = memory === "virtual" ? ", or have the site raise yarn.nodemanager.vmem-pmem-ratio" : "";
  return `raise ${keyWords(step, `tony.${role.name}.memory`)}, e.g. to ${amount}${site}`;
}

/** Bash's words for Python that it was given: a statement taken for a command, or one that it cannot read; and for a script not on its path. */
const PYTHON_READ_BY_BASH = [
  /\.py: line \d+: (import|from|def|class|print|with|@\S+|"""\S*): command not found$/,
  /\.py: line \d+: syntax error near unexpected token /,
  /: line \d+: (import|from): command not found$/,
  /: \S+\.py: (command not found|Permission denied)$/,
];

function misreadScript(step: Step, task: TaskRecord, { lastLines }: ChildExit): string | undefined {
  const [script = "", ...parameters] = roleOf(step, task).command.trim().split(/\s+/);
  const complaint = lastLines.some((line) => PYTHON_READ_BY_BASH.some((pattern) => pattern.test(line)));
  if (!complaint || !script.endsWith(".py")) {
    return undefined;
  }
  return `bash was given a Python script: ${setting(step, task, ["python3", script, ...parameters].join(" "))}`;
}

/** How the role's command is set, where the job set it. */
function setting(step: Step, task: TaskRecord, command: string): string {
  const key = commandKey(step, task);
  return isOption(step, key) ? `give --executes "${command}"` : `set ${keyWords(step, key)} to ${command}`;
}

/** As a shell says that there is nothing of that name. */
const NO_FILE = /: (\S+): No such file or directory$/;

function missingFile(step: Step, task: TaskRecord, exit: ChildExit): string | undefined {
  const { name, command } = roleOf(step, task);
  const toBash = exit.lastLines.flatMap((line) => NO_FILE.exec(line)?.[1] ?? []).map(withoutDot);
  const missing = missingScriptOf(exit) ?? toBash.find((file) => file === programFileOf(command));
  if (missing === undefined) {
    return undefined;
  }
  const words = command.split(/\s+/).map(withoutDot);
  const asWritten = words.find((word) => word === missing || word.endsWith(`/${missing}`));
  if (asWritten === undefined) {
    return `no ${missing} in the container: bring it by ${shippingWords(name)}`;
  }
  const check = `check its name in ${commandPlace(step, task)}`;
  return asWritten.startsWith("/")
    ? `no ${asWritten} on that node: ${check}`
    : `no ${asWritten} in the container: ${check}, and that it travels: ${shippingWords(name)}`;
}

function withoutDot(path: string): string {
  return path.replace(/^\.\//, "");
}

/** Bash's words for a script whose first line names what is not there: of 5.2, and of those before. */
const NO_INTERPRETER = /: ([^:]+): (?:cannot execute: required file not found$|[^:]+: bad interpreter: )/;

/** What that line names the message does not always tell; a carriage return at its end nobody sees. */
function missingInterpreter({ lastLines }: ChildExit): string | undefined {
  const [script] = lastLines.flatMap((line) => NO_INTERPRETER.exec(line)?.[1] ?? []);
  return script === undefined
    ? undefined
    : `the first line (#!) of ${script} names a program that the node does not have: name one that it has; ` +
        `if the file has Windows line ends (CRLF), remove them: ${WITHOUT_CARRIAGE_RETURNS} ${script}`;
}

/** As env shows the carriage return at the end of a name. */
function windowsLineEnds({ lastLines }: ChildExit): string | undefined {
  const complaint = lastLines.some((line) => /\benv: \S+\\r\S*: No such file/.test(line));
  return complaint
    ? `the script has Windows line ends (CRLF): remove them with ${WITHOUT_CARRIAGE_RETURNS}`
    : undefined;
}

const WITHOUT_CARRIAGE_RETURNS = String.raw`sed -i 's/\r$//'`;

function missingModule(step: Step, task: TaskRecord, { errorSummary }: ChildExit): string | undefined {
  if (!/^ModuleNotFoundError\b/.test(errorSummary)) {
    return undefined;
  }
  const [interpreter = "its Python"] = /[^\s"'`;&|()=]*\bpython[\d.]*(?=\s|$)/.exec(roleOf(step, task).command) ?? [];
  const option = step.spec.sources["tony.python-exec-path"] === undefined ? "--executes" : "--python_binary_path";
  const another = commandPlace(step, task, option);
  return `${interpreter} of that node does not have it: name another in ${another}, or bring one by --python_venv`;
}

function crash(step: Step, task: TaskRecord, { signal }: ChildExit): string | undefined {
  const variable = "PYTHONFAULTHANDLER";
  if (signal !== "SIGSEGV" || roleOf(step, task).environment[variable] !== undefined) {
    return undefined;
  }
  return `to see where its Python stood, add ${variable}=1 to ${keyWords(step, "tony.execution.envs")}`;
}

/** Where the role's command is given: a key with its place, or an option. */
function commandPlace(step: Step, task: TaskRecord, option = "--executes"): string {
  const key = commandKey(step, task);
  return isOption(step, key) ? option : keyWords(step, key);
}

function commandKey(step: Step, task: TaskRecord): string {
  const own = `tony.${roleOf(step, task).name}.command`;
  return step.spec.sources[own] === undefined ? "tony.containers.command" : own;
}

/** Whether the value was given on the command line, by an option of its own. */
function isOption(step: Step, key: string): boolean {
  return step.spec.sources[key] === "-executes";
}
