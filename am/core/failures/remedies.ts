import { missingModuleOf, moduleNameOf, saysAddressInUse } from "../../../src/job/diagnosis/complaints.ts";
import { programFileOf } from "../../../src/job/diagnosis/program-file.ts";
import type { Setting } from "../../../src/job/reasons/facts.ts";
import type { Remedy } from "../../../src/job/reasons/remedies.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import type { ChildExit } from "../state/events.ts";
import type { TaskRecord } from "../state/records.ts";
import { roleOf, type Step } from "../state/step.ts";

/** What a person can do about a program that ended badly by itself; undefined where nothing is known that says more than its own words. */
export function programRemedy(step: Step, task: TaskRecord, exit: ChildExit): Remedy | undefined {
  return (
    misreadScript(step, task, exit) ??
    windowsLineEnds(exit) ??
    misnamedFile(step, task, exit) ??
    missingFile(step, task, exit) ??
    errorsOf(exit)
      .map((error) => unshippedFile(step, task, error) ?? missingModule(step, task, exit, error))
      .find((remedy) => remedy !== undefined) ??
    portInUse(step, task, exit) ??
    crash(step, task, exit)
  );
}

/**
 * The exception that a program ended by, and the one that it followed from: the same remedy mends both. Not so for a missing module after which
 * another way was tried that failed as well: nobody can say which of the two to mend.
 */
function errorsOf({ errorSummary, errorOrigin }: ChildExit): string[] {
  const isOther = errorOrigin === undefined || (errorOrigin.how === "context" && LACKS_MODULE.test(errorOrigin.error));
  return isOther ? [errorSummary] : [errorSummary, errorOrigin.error];
}

const LACKS_MODULE = /^(?:ModuleNotFoundError|ImportError)\b/;

/** What to do where the shell could not run the command. */
export function commandRemedy(step: Step, task: TaskRecord, exit: ChildExit): Remedy {
  return (
    misreadScript(step, task, exit) ??
    missingInterpreter(exit) ??
    misnamedFile(step, task, exit) ??
    missingFile(step, task, exit) ??
    missingProgram(step, task, exit) ??
    notExecutable(exit) ??
    foreignProgram(exit) ?? { code: "check-command", setting: commandSetting(step, task) }
  );
}

function missingProgram(step: Step, task: TaskRecord, { lastLines }: ChildExit): Remedy | undefined {
  const [program] = lastLines.flatMap((line) => /: ([^:\s/]+): command not found$/.exec(line)?.[1] ?? []);
  if (program === undefined) return undefined;
  return { code: "find-program", program, role: roleOf(step, task).name, setting: commandSetting(step, task) };
}

/** A shell's words for a file that it may not run; a name without a slash is no file of the job. */
const DENIED = /: ([^:\s]+): Permission denied$/;

function notExecutable({ lastLines }: ChildExit): Remedy | undefined {
  const file = lastLines.flatMap((line) => DENIED.exec(line)?.[1] ?? []).find((path) => path.includes("/"));
  if (file === undefined) return undefined;
  return file.startsWith("/") ? { code: "open-to-user", file } : { code: "make-executable", file: withoutDot(file) };
}

/** Bash's words. The most frequent case is an environment built on another machine. */
function foreignProgram({ lastLines }: ChildExit): Remedy | undefined {
  const [file] = lastLines.flatMap((line) => /: ([^:\s]+): cannot execute binary file\b/.exec(line)?.[1] ?? []);
  return file === undefined ? undefined : { code: "other-machine", file: withoutDot(file) };
}

/**
 * A limit into which the memory used would have fitted. YARN's limit of virtual memory grows with the container's memory; another ratio of the
 * two does not help a container that exceeds both.
 * @param exceeded undefined where it is not known
 */
export function memoryRemedy(
  step: Step,
  task: TaskRecord,
  kind: "physical" | "virtual",
  exceeded: { readonly usedMiB: number; readonly limitMiB: number; readonly both?: boolean } | undefined,
): Remedy {
  const role = roleOf(step, task);
  const timesTheLimit = exceeded === undefined ? 1 : Math.max(1, exceeded.usedMiB / exceeded.limitMiB);
  const toMiB = Math.ceil((role.resource.memoryMiB * timesTheLimit * 1.25) / 512) * 512;
  const setting = settingOf(step.spec, `tony.${role.name}.memory`);
  return { code: "raise-memory", setting, toMiB, virtual: kind === "virtual" && exceeded?.both !== true };
}

/**
 * Bash's words for Python code that it was given to run: a statement taken for a command, or one that it cannot parse; and for a script not on
 * its path.
 */
const PYTHON_READ_BY_BASH = [
  /\.py: line \d+: (import|from|def|class|print|with|@\S+|"""\S*): command not found$/,
  /\.py: line \d+: syntax error near unexpected token /,
  /: line \d+: (import|from): command not found$/,
  /: \S+\.py: (command not found|Permission denied)$/,
];

function misreadScript(step: Step, task: TaskRecord, { lastLines }: ChildExit): Remedy | undefined {
  const [script = "", ...parameters] = roleOf(step, task).command.trim().split(/\s+/);
  const complaint = lastLines.some((line) => PYTHON_READ_BY_BASH.some((pattern) => pattern.test(line)));
  if (!complaint || !script.endsWith(".py")) {
    return undefined;
  }
  const command = ["python3", script, ...parameters].join(" ");
  return { code: "run-with-python", setting: commandSetting(step, task), command };
}

/** A file that the container has under a name similar to the one asked for. */
function misnamedFile(step: Step, task: TaskRecord, { misnamed }: ChildExit): Remedy | undefined {
  if (misnamed?.kind !== "file") return undefined;
  const { missing, found } = misnamed;
  const isInCommand = roleOf(step, task).command.split(/\s+/).map(withoutDot).includes(missing);
  return { code: "take-similar", file: missing, found, ...(isInCommand && { setting: commandSetting(step, task) }) };
}

/** A shell's words for a missing file. */
const NO_FILE = /: (\S+): No such file or directory$/;

function missingFile(step: Step, task: TaskRecord, exit: ChildExit): Remedy | undefined {
  const { name, command } = roleOf(step, task);
  const toBash = exit.lastLines.flatMap((line) => NO_FILE.exec(line)?.[1] ?? []).map(withoutDot);
  const missing = missingScriptOf(exit) ?? toBash.find((file) => file === programFileOf(command));
  if (missing === undefined) {
    return undefined;
  }
  const words = command.split(/\s+/).map(withoutDot);
  const setting = commandSetting(step, task);
  const asWritten = words.find((word) => word === missing || word.endsWith(`/${missing}`));
  if (asWritten === undefined) {
    const isElsewhere = words.some((word) => missing.endsWith(`/${word}`));
    return isElsewhere
      ? { code: "check-folder", file: missing, setting }
      : { code: "ship-file", file: missing, role: name };
  }
  return asWritten.startsWith("/")
    ? { code: "check-file-of-node", file: asWritten, setting }
    : { code: "check-file-name", file: asWritten, role: name, setting };
}

/** Python's words for a missing file; for one that is renamed Python names both paths. */
const NO_DATA = /^FileNotFoundError: \[Errno 2\] No such file or directory: '([^'\\]+)'$/;

/** A file that the program opened where the job cannot have shipped it: nothing that it ships begins like its path. */
function unshippedFile(step: Step, task: TaskRecord, error: string): Remedy | undefined {
  const file = withoutDot(NO_DATA.exec(error)?.[1] ?? "");
  const [first = "", ...below] = file.split("/");
  const mayLieElsewhere =
    first === "" || first.startsWith("~") || first.includes(":") || [first, ...below].includes("..");
  const { name, files } = roleOf(step, task);
  const shipped = [...step.spec.files, ...files];
  const mayBeShipped = shipped.some((one) => one.name === first || one.as === "working-directory");
  return mayLieElsewhere || mayBeShipped ? undefined : { code: "ship-data", file, role: name };
}

function withoutDot(path: string): string {
  return path.replace(/^\.\//, "");
}

/** Bash's words for a script whose first line names a missing interpreter: of 5.2, and of earlier versions. */
const NO_INTERPRETER = /: ([^:]+): (?:cannot execute: required file not found$|[^:]+: bad interpreter: )/;

/** The message does not always say what that line names, and a carriage return at its end is invisible. */
function missingInterpreter({ lastLines }: ChildExit): Remedy | undefined {
  const [script] = lastLines.flatMap((line) => NO_INTERPRETER.exec(line)?.[1] ?? []);
  return script === undefined ? undefined : { code: "name-interpreter", script };
}

/** env's words, which show the carriage return at the end of a name. */
function windowsLineEnds({ lastLines }: ChildExit): Remedy | undefined {
  const complaint = lastLines.some((line) => /\benv: \S+\\r\S*: No such file/.test(line));
  return complaint ? { code: "remove-carriage-returns" } : undefined;
}

/** A program that went on writing may have done without the module. */
function missingModule(step: Step, task: TaskRecord, exit: ChildExit, error: string): Remedy | undefined {
  const { lastLines } = exit;
  if (!/^ModuleNotFoundError\b/.test(error) || !endedByException(exit)) {
    return undefined;
  }
  const misnamed = exit.misnamed?.kind === "module" ? exit.misnamed : undefined;
  if (misnamed !== undefined && moduleNameOf(misnamed.found) === misnamed.missing.split(".").at(-1)) {
    return { code: "find-module", module: misnamed.missing, found: misnamed.found };
  }
  const similar = misnamed === undefined ? {} : { similar: misnamed.found };
  const { name, command, environment } = roleOf(step, task);
  const { program, variable } = interpreterOf(command, { ...step.spec.containerEnvironment, ...environment }) ?? {};
  const complaining = missingModuleOf(lastLines)?.interpreter;
  const interpreter = complaining ?? program;
  const shipped = shippedEnvironment(step, task, complaining ?? `${program ?? ""} ${command}`);
  const known = {
    ...(interpreter !== undefined && { interpreter }),
    ...(shipped !== undefined && { environment: shipped }),
  };
  if (variable !== undefined) {
    const setting = settingOf(step.spec, environmentKey(step, name, variable in environment));
    return { code: "bring-module", ...known, ...similar, setting, variable };
  }
  const option = step.spec.sources["tony.python-exec-path"] === undefined ? "--executes" : "--python_binary_path";
  return { code: "bring-module", ...known, ...similar, setting: commandSetting(step, task), option };
}

/** Matches only from a word's first character on: starting at each character would take quadratic time on a long line. */
const ENVIRONMENTS_PYTHON = /(?<![^\s"'`;&|()=])([^\s"'`;&|()=]+)\/bin\/(?:python[\d.]*|activate)(?=$|[\s"'`;&|()])/g;
const WHERE_PROGRAMS_START = /^(?:\.\/|\$PWD\/|\$\{PWD\}\/|.*\/container_[^/]+\/)/;

/** The job's own environment whose Python the words name. */
function shippedEnvironment(step: Step, task: TaskRecord, words: string): string | undefined {
  const names = [...step.spec.files, ...roleOf(step, task).files].map(({ name }) => name);
  return [...words.matchAll(ENVIRONMENTS_PYTHON)]
    .map(([, folder = ""]) => folder.replace(WHERE_PROGRAMS_START, ""))
    .find((folder) => names.includes(folder));
}

/** The key by which a variable of a role's programs is set, or may be. */
function environmentKey({ spec }: Step, role: string, isProgramsOwn: boolean): string {
  const own = `tony.${role}.envs`;
  if (spec.sources[own] !== undefined) return own;
  const isContainers = !isProgramsOwn && spec.sources["tony.containers.envs"] !== undefined;
  return isContainers ? "tony.containers.envs" : "tony.execution.envs";
}

/** A port that was held for the program is not its own mistake: see `portTaken`. */
function portInUse(step: Step, task: TaskRecord, exit: ChildExit): Remedy | undefined {
  const said = exit.traceback === "" ? exit.lastLines : errorsOf(exit);
  return said.some(saysAddressInUse) ? { code: "open-given-port", role: roleOf(step, task).name } : undefined;
}

function crash(step: Step, task: TaskRecord, { signal, lastLines }: ChildExit): Remedy | undefined {
  const variable = "PYTHONFAULTHANDLER";
  if (lastLines.some((line) => line.startsWith("Fatal Python error:"))) return undefined;
  if (signal !== "SIGSEGV" || roleOf(step, task).environment[variable] !== undefined) {
    return undefined;
  }
  return { code: "show-crash", variable, setting: settingOf(step.spec, "tony.execution.envs") };
}

/** The key that sets the role's command. */
function commandSetting(step: Step, task: TaskRecord): Setting {
  const own = `tony.${roleOf(step, task).name}.command`;
  return settingOf(step.spec, step.spec.sources[own] === undefined ? "tony.containers.command" : own);
}

/** The Python that a command names. */
export interface NamedInterpreter {
  readonly program: string;
  /** The variable that stands for it in the command. */
  readonly variable?: string;
}

const WRITTEN = /[^\s"'`;&|()=]*\bpython[\d.]*(?=\s|$)/;
/** `$PYTHON`, `"${PYTHON:-python3}"`: a word that is one variable. */
const VARIABLE = /(?<=^|[\s;&|(])"?\$(?:(\w+)|\{(\w+)(?::-([^{}]*))?\})"?(?=\s|$)/g;

/** @param environment the values of the command's variables, where the job sets them */
export function interpreterOf(
  command: string,
  environment: Readonly<Record<string, string>>,
): NamedInterpreter | undefined {
  const [written] = WRITTEN.exec(command) ?? [];
  if (written !== undefined) return { program: written };
  for (const [, bare, braced = "", preset = ""] of command.matchAll(VARIABLE)) {
    const variable = bare ?? braced;
    const program = environment[variable] || preset;
    if (/(^|\/)python[\d.]*$/.test(program)) return { program, variable };
  }
  return undefined;
}

/**
 * Whether its exception, or Python's own word for it, was the last thing it wrote: an exception that was caught is mostly followed by something
 * else.
 */
export function endedByException({ errorSummary, lastLines }: ChildExit): boolean {
  const [last] = lastLines.slice(-1);
  return last === undefined || last.endsWith(errorSummary) || missingModuleOf(lastLines) !== undefined;
}

/** Python's words for a missing script. */
const NO_SCRIPT = /can't open file '([^']+)'/;
/** A container's working directory, before the path of a file in it. */
const WORKING_DIRECTORY = /^.*\/container_[^/]+\//;

/** The script that Python did not find, if its last line says so: its path in the working directory, or only the name of one elsewhere. */
export function missingScriptOf({ lastLines }: ChildExit): string | undefined {
  const script = NO_SCRIPT.exec(lastLines.at(-1) ?? "")?.[1];
  const inside = script?.replace(WORKING_DIRECTORY, "");
  return inside?.startsWith("/") === true ? inside.slice(inside.lastIndexOf("/") + 1) : inside;
}
