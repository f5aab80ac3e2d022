import { posix } from "node:path";
import { pathInside } from "../diagnosis/program-file.ts";
import { escapeListItem } from "../keys/types.ts";
import { SOURCE_NAME, VENV_NAME } from "../launch/container-names.ts";
import type { Problem } from "../problem.ts";
import type { TrialLine } from "../search/trials.ts";
import { plainText, type Setting } from "../settings.ts";
import type { FileToShip } from "../spec.ts";

/** TonY's options of a submission, as on the command line; a repeatable one is a list. */
export interface SubmissionOptions {
  /** `--conf` and `-conf`, both forms together: a job file, or `key=value`. */
  readonly conf?: readonly string[];
  readonly confFile?: string;
  /** The program, or with `pythonBinaryPath` the script, which is run by every role without a command. */
  readonly executes?: string;
  readonly taskParams?: string;
  /** A folder or archive whose content appears in every working directory. */
  readonly srcDir?: string;
  /** A folder or archive that is unpacked as `venv/`, or a PEX, which stays a file with its own name. */
  readonly pythonVenv?: string;
  /** An absolute path, a path inside the environment of `pythonVenv`, or a name that the nodes can find. */
  readonly pythonBinaryPath?: string;
  readonly shellEnv?: readonly string[];
  readonly containerEnv?: readonly string[];
  /** `NAME=file:PATH`, `NAME=env:VARIABLE`. An option of tony-ts, not TonY's. */
  readonly secrets?: readonly string[];
  readonly sidecarTensorboardLogDir?: string;
  /** Files and folders on the cluster that every task gets, separated by commas; missing ones are left out. */
  readonly hdfsClasspath?: string;
  /** Overrides tony.application.name. An option of tony-ts, not TonY's. */
  readonly name?: string;
  /** Overrides tony.yarn.queue. An option of tony-ts, not TonY's. */
  readonly queue?: string;
  /** Overrides tony.application.priority. An option of tony-ts, not TonY's. */
  readonly priority?: string | number;
  /** A checkpoint's path or URL: overrides tony.application.resume-from. An option of tony-ts, not TonY's. */
  readonly resumeFrom?: string;
  /** YARN's tags, in addition to those of tony.application.tags. */
  readonly tags?: readonly string[];
  /** Whether every warning about the job is an error. An option of tony-ts, not TonY's. */
  readonly strict?: boolean;
  /** Whether to run the job's trials, if it is a search. */
  readonly runsSearch?: boolean;
  /** Settings of whoever runs the job, by key: they have the job file's rank, and override it. */
  readonly properties?: ReadonlyMap<string, string>;
  /** Where these come from, for messages; default `job properties`. */
  readonly propertiesAt?: string;
}

const optionNames: Readonly<Record<keyof SubmissionOptions, true>> = {
  conf: true,
  confFile: true,
  executes: true,
  taskParams: true,
  srcDir: true,
  pythonVenv: true,
  pythonBinaryPath: true,
  shellEnv: true,
  containerEnv: true,
  secrets: true,
  sidecarTensorboardLogDir: true,
  hdfsClasspath: true,
  name: true,
  queue: true,
  priority: true,
  resumeFrom: true,
  tags: true,
  strict: true,
  runsSearch: true,
  properties: true,
  propertiesAt: true,
};

/** A mistake in a program without types: the first name that is not an option. */
export function unknownOption(options: SubmissionOptions): string | undefined {
  return Object.keys(options).find((name) => !Object.hasOwn(optionNames, name));
}

export interface Submission {
  /** Path or URL of the job's file. */
  readonly jobFile?: string;
  /** Settings that override the job's file, and that the site's file overrides. */
  readonly properties: readonly Setting[];
  /** Settings that override every file. */
  readonly settings: readonly Setting[];
  /** YARN's tags, in addition to those that are set. */
  readonly tags: readonly string[];
  /** Files in addition to those of the keys; sources as written. */
  readonly ship: readonly FileToShip[];
  /** Paths on the default file system, or URLs: every task gets those that exist. */
  readonly classPath: readonly string[];
  /** Whether every warning about the job is an error. */
  readonly strict: boolean;
  readonly runsSearch: boolean;
  /** The trials of the search that this one continues. */
  readonly trialsBefore?: readonly TrialLine[];
  /** In a search by Optuna: the program that asks it. */
  readonly optunaProgram?: string;
  readonly problems: readonly Problem[];
}

/**
 * `--conf job.xml` names a file, `--conf tony.worker.memory=4g` is a setting: a setting starts with a key and a `=`. A file with
 * such a name is written `./name`.
 */
export function isSetting(confArgument: string): boolean {
  return /^(?:tony\.[^=]+|fs\.viewfs\.[^=]+|[A-Za-z][\w.-]*)=/.test(confArgument);
}

/** A key whose value was forgotten, or was given as a separate word. */
function isKeyAlone(confArgument: string): boolean {
  return /^tony\.[\w.-]+$/.test(confArgument) && !confArgument.endsWith(".xml");
}

/** What TonY's options mean: settings that override the job's file, and files to ship. */
export function submissionSettings(options: SubmissionOptions): Submission {
  const files = (options.conf ?? []).filter((item) => !isSetting(item) && !isKeyAlone(item));
  if (options.confFile !== undefined) files.push(options.confFile);
  const [jobFile] = files;
  return {
    ...(jobFile === undefined ? {} : { jobFile }),
    properties: [...(options.properties ?? [])].map(([key, value]) => {
      return {
        key,
        value: plainText(key, value),
        layer: "job",
        at: options.propertiesAt ?? "job properties",
        final: false,
      };
    }),
    settings: [...optionSettings(options)],
    tags: options.tags ?? [],
    ship: [...shipped(options)],
    classPath: (options.hdfsClasspath ?? "").split(",").flatMap((place) => place.trim() || []),
    strict: options.strict ?? false,
    runsSearch: options.runsSearch ?? false,
    problems: [...optionProblems(options, files)],
  };
}

function* optionProblems(options: SubmissionOptions, files: readonly string[]): Generator<Problem> {
  if (files.length > 1)
    yield { severity: "error", message: `one job file can be given, not ${files.join(" and ")}`, at: "--conf" };
  for (const key of (options.conf ?? []).filter(isKeyAlone)) {
    const message = `${key} is neither a file nor KEY=VALUE: write ${key}=VALUE, or ./${key} for a file of that name`;
    yield { severity: "error", message, at: "--conf" };
  }
  if (options.taskParams !== undefined && options.executes === undefined) {
    yield { severity: "warning", message: "has no effect without -executes", at: "--task_params" };
  }
  yield* pathProblems(options);
  const second = secondPython(options.executes ?? "", options.pythonBinaryPath ?? "");
  if (second !== undefined) {
    const message = `${second} is left out: --python_binary_path says which Python runs the program`;
    yield { severity: "warning", message, at: "-executes" };
  }
  yield* pairProblems("--shell_env", options.shellEnv ?? []);
  yield* pairProblems("--container_env", options.containerEnv ?? []);
}

/** TonY before 0.1.5 kept the folder's own name: `-src_dir src -executes src/train.py`. */
function* pathProblems({ executes = "", srcDir = "" }: SubmissionOptions): Generator<Problem> {
  const inside = pathInside(executes, srcDir);
  if (inside === undefined) return;
  const folder = posix.basename(srcDir);
  const message = `is looked for inside --src_dir: write ${inside}, unless ${srcDir} has a folder ${folder} of its own`;
  yield { severity: "warning", message, at: "-executes" };
}

function* pairProblems(option: string, pairs: readonly string[]): Generator<Problem> {
  for (const pair of pairs) {
    if (!/^[A-Za-z_]\w*=/.test(pair))
      yield { severity: "error", message: `must be NAME=value, not "${pair}"`, at: option };
  }
}

function* optionSettings(options: SubmissionOptions): Generator<Setting> {
  const option = (key: string, value: string, at: string): Setting => ({
    key,
    value,
    layer: "option",
    at,
    final: false,
  });
  const command = taskCommand(options);
  if (command !== undefined) yield option("tony.containers.command", command, "-executes");
  const interpreter = pythonInterpreter(options);
  if (interpreter !== undefined) yield option("tony.python-exec-path", interpreter, "--python_binary_path");
  if (options.sidecarTensorboardLogDir !== undefined) {
    yield option(
      "tony.application.tensorboard-log-dir",
      options.sidecarTensorboardLogDir,
      "-sidecar_tensorboard_log_dir",
    );
  }
  for (const pair of options.shellEnv ?? []) yield option("tony.execution.envs", escapeListItem(pair), "--shell_env");
  for (const pair of options.containerEnv ?? [])
    yield option("tony.containers.envs", escapeListItem(pair), "--container_env");
  for (const pair of options.secrets ?? []) yield option("tony.application.secrets", escapeListItem(pair), "--secret");
  for (const pair of (options.conf ?? []).filter(isSetting)) {
    const equals = pair.indexOf("=");
    yield option(pair.slice(0, equals), pair.slice(equals + 1), "-conf");
  }
  if (options.name !== undefined) yield option("tony.application.name", options.name, "--name");
  if (options.queue !== undefined) yield option("tony.yarn.queue", options.queue, "--queue");
  if (options.priority !== undefined) yield option("tony.application.priority", String(options.priority), "--priority");
  if (options.resumeFrom !== undefined)
    yield option("tony.application.resume-from", options.resumeFrom, "--resume-from");
}

function* shipped(options: SubmissionOptions): Generator<FileToShip> {
  if (options.srcDir !== undefined) {
    yield { source: options.srcDir, name: SOURCE_NAME, as: "working-directory" };
  }
  if (options.pythonVenv === undefined) return;
  const pex = pexOf(options);
  yield pex === undefined
    ? { source: options.pythonVenv, name: VENV_NAME, as: "archive" }
    : { source: options.pythonVenv, name: pex, as: "file" };
}

/** The name of a PEX, an executable file that contains a whole environment. */
function pexOf({ pythonVenv = "" }: SubmissionOptions): string | undefined {
  return /\.pex$/i.test(pythonVenv) ? posix.basename(pythonVenv) : undefined;
}

/** The option that ships a resource of that kind. */
export function shipOption(as: FileToShip["as"]): "--src_dir" | "--python_venv" {
  return as === "working-directory" ? "--src_dir" : "--python_venv";
}

/** A Python in front of the program in addition to `pythonBinaryPath`: one Python cannot run another. */
export function secondPython(executes: string, pythonBinaryPath: string): string | undefined {
  if (!/^python[\d.]*$/.test(posix.basename(pythonBinaryPath))) return undefined;
  return /^\s*((?:[\w./-]*\/)?python[\d.]*)\s+\S/.exec(executes)?.[1];
}

/**
 * `<interpreter> <executes> <task_params>` (TonyClient.buildTaskCommand); where there are two interpreters, the one that `pythonBinaryPath`
 * names.
 */
function taskCommand(options: SubmissionOptions): string | undefined {
  if (options.executes === undefined) return undefined;
  const second = secondPython(options.executes, options.pythonBinaryPath ?? "") ?? "";
  const program = options.executes.trimStart().slice(second.length).trimStart();
  const parts = [pythonInterpreter(options), second === "" ? options.executes : program, options.taskParams];
  return parts.filter((part) => part !== undefined && part !== "").join(" ");
}

/** A PEX is a file in the working directory, and the interpreter of a script that names no other: `./env.pex train.py`. */
function pythonInterpreter(options: SubmissionOptions): string | undefined {
  const { pythonBinaryPath, pythonVenv, executes = "" } = options;
  const pex = pexOf(options);
  if (pex !== undefined) return pythonBinaryPath ?? (/^\S+\.py(?:\s|$)/.test(executes) ? `./${pex}` : undefined);
  if (pythonBinaryPath === undefined || pythonBinaryPath.startsWith("/") || pythonVenv === undefined) {
    return pythonBinaryPath;
  }
  return `${VENV_NAME}/${pythonBinaryPath}`;
}
