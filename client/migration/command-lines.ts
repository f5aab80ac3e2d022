import path from "node:path";
import { isSetting, secondPython } from "../../src/job/build/submission.ts";
import { pathInside } from "../../src/job/diagnosis/program-file.ts";
import { nearest } from "../../src/job/nearest.ts";
import type { Setting } from "../../src/job/settings.ts";
import { shellWords } from "../../src/job/shell-words.ts";
import { valuedOptions } from "../command-line/tony-arguments.ts";
import type { MigratedCommand, MigrationRemark } from "../printed-json.ts";
import { migrateNotebookOption } from "./notebook-options.ts";
import { type GivenOption, type MigratedOption, readOptions } from "./options.ts";
import { migrateSettings } from "./settings.ts";
import { type ShellWord, shellCommands } from "./shell-words.ts";

const notebook = "tony-ts notebook";

/** TonY's programs, and the commands that replace them. */
const programs: ReadonlyMap<string, string> = new Map([
  ["com.linkedin.tony.cli.ClusterSubmitter", "tony-ts submit"],
  ["com.linkedin.tony.TonyClient", "tony-ts submit"],
  ["com.linkedin.tony.cli.LocalSubmitter", "tony-ts submit --scheduler local"],
  ["com.linkedin.tony.cli.NotebookSubmitter", notebook],
]);

/** The command, with the folder that the script changed to by `cd` before it: relative to where the script starts, or absolute. */
interface TypedCommand extends MigratedCommand {
  readonly folder?: string;
  /** `sudo` with its options, where it stands in front. */
  readonly before?: string;
  /** Variables that the script sets and the command contains or reads. */
  readonly needs?: readonly string[];
}

interface Lines {
  readonly remarks: readonly MigrationRemark[];
  readonly commands: readonly TypedCommand[];
}

export interface MigratedScript extends Lines {
  /** The script with the new commands in place of the old ones. */
  readonly text: string;
}

/** A command line, and its range in the script. */
interface MigratedLine extends Lines {
  readonly from?: number;
  readonly to?: number;
}

/** The environment variables that tony-ts reads. */
const READ = /^(TONY_CONF_DIR|HADOOP_(CONF_DIR|HOME|USER_NAME|PROXY_USER)|YARN_CONF_DIR|KRB5CCNAME|KRB5_CONFIG)$/;
/** `NAME=…` and `NAME+=…`, also after `export`. */
const ASSIGNED = /^(\w+)\+?=/;
/** Arguments of the script or of one of its functions. */
const GIVEN = /\$\{?[1-9@*]/g;
/** Words that consist of one variable, whose value is unknown. */
const VARIABLE = /^"?\$(?:\w+|[@*]|\{\w+\}|\{\w*\[[@*]\]\}|\{[@*]\})"?$/;

/** Programs that start one of TonY's; words before them, such as `exec` and `if`, stay. */
const STARTER = /(^|\/)(java|hadoop|yarn|gcloud)$|JAVA/;
/** Those whose class path contains no folder of the script's: Hadoop's configuration, its jars, and the jar that they are given. */
const HADOOP = /(^|\/)(hadoop|yarn|gcloud)$/;

/** Whether a text names one of TonY's programs. */
export function callsTony(text: string): boolean {
  return [...programs.keys()].some((name) => text.includes(name));
}

/** The migrated file for a job's file that a command line names. */
export interface NewFile {
  readonly path: string;
  /** Whether it is in another folder than the old one, so that the command names its whole path, from where the command runs. */
  readonly isElsewhere: boolean;
}

/** Looks up a path as the command line gives it, in the folder that the command runs in; undefined: the file keeps its name. */
export type FindNewFile = (job: string, folder: string) => NewFile | undefined;

/** Migrates TonY's command lines in a script. */
export function migrateScript(script: string, file: string, findNewFile: FindNewFile): MigratedScript {
  let folder = "";
  const fileThere = (job: string) => findNewFile(job, folder);
  const variables = new Map<string, string>();
  const unread = new Map<string, MigratedLine>();
  const assigned = new Set<string>();
  const lines = shellCommands(script).flatMap((words): MigratedLine[] => {
    const gone = folderOfCd(words);
    if (gone?.known === false && script.slice(words.at(-1)?.to).split("\n").some(callsTony)) {
      const message = `${words.map(({ written }) => written).join(" ")}: run the commands after it in that folder`;
      return [{ remarks: [{ kind: "to-mend", at: `${file}:${words[0]?.line ?? 1}`, message }], commands: [] }];
    }
    if (gone?.known) folder = path.isAbsolute(gone.folder) ? gone.folder : path.join(folder, gone.folder);
    const named = words.map((word) => ({ ...word, text: meantBy(word.text.replace(/^--?class=/, "")) }));
    const at = named.findIndex(({ text }) => programs.has(text));
    const [program, ...rest] = at < 0 ? [] : named.slice(at);
    // The words between the class and `--` belong to the program that starts it, such as gcloud.
    const end = rest.findIndex(({ text }) => text === "--");
    if (program !== undefined) {
      const starter = words.slice(0, at).find(({ text }) => STARTER.test(text)) ?? words[0] ?? program;
      const isOther = words[0] !== starter && words[0]?.text === "sudo";
      const before = isOther ? script.slice(words[0]?.from, starter.from) : "";
      const place = { from: starter.from, to: words.at(-1)?.to ?? program.to };
      const isJava = !HADOOP.test(starter.text) || script.includes("HADOOP_CLASSPATH");
      const folders = isJava ? classPath(words) : [];
      const lines = migrateCommand({ program, folders }, rest.slice(end + 1), file, fileThere);
      return [{ ...lines, commands: lines.commands.map((command) => ({ ...command, folder, before })), ...place }];
    }
    for (const variable of assignedBy(words)) assigned.add(variable);
    for (const { text, line } of words) {
      const [, variable, value = ""] = /^(\w+)=([\s\S]*)$/.exec(text) ?? [];
      if (variable === undefined || !callsTony(value)) continue;
      variables.set(variable, value);
      unread.set(variable, unreadable(`${file}:${line}`));
    }
    return [];
  });
  const found = [...unread.values(), ...lines];
  if (found.length === 0) return { ...unreadable(file), text: script };
  let text = script;
  for (const { from, to, commands } of found.toReversed())
    if (from !== undefined)
      text = text.slice(0, from) + commands.map(({ command }) => command).join("") + text.slice(to);
  return {
    remarks: found.flatMap(({ remarks }) => remarks),
    // A function may use variables that the script sets below it.
    commands: found.flatMap(({ commands }) =>
      commands.map((command) => ({ ...command, needs: neededBy(command.command) })),
    ),
    text,
  };

  function neededBy(command: string): readonly string[] {
    const named = new Set(Array.from(command.matchAll(/\$\{?(\w+)/g), ([, variable = ""]) => variable));
    const given = new Set(Array.from(command.matchAll(GIVEN), ([sign]) => sign.replace("{", "")));
    return [...[...assigned].filter((variable) => named.has(variable) || READ.test(variable)), ...given];
  }

  /** A class that is the value of a variable: `--class $SUBMITTER`. */
  function meantBy(text: string): string {
    const [, variable = ""] = /^\$\{?(\w+)\}?$/.exec(text) ?? [];
    const value = variables.get(variable);
    if (value === undefined || !programs.has(value)) return text;
    unread.delete(variable);
    return value;
  }
}

/** The variables that a command sets: by assignment, in a loop, or by `read`. */
function assignedBy(words: readonly ShellWord[]): string[] {
  const texts = words.map(({ text }) => text);
  const loop = texts.findIndex((text) => text === "for" || text === "select");
  const read = texts.findIndex((text) => text === "read" || text === "mapfile" || text === "readarray");
  return [
    ...texts.flatMap((text) => ASSIGNED.exec(text)?.[1] ?? []),
    ...(loop < 0 ? [] : texts.slice(loop + 1, loop + 2)),
    ...(read < 0 ? [] : texts.slice(read + 1).filter((text) => /^[A-Za-z_]\w*$/.test(text))),
  ];
}

/**
 * The folder that `cd` changes to; the script's own folder, which many scripts begin with, is where the script is. Undefined: the command
 * is not a `cd`.
 */
function folderOfCd([first, target, ...more]: readonly ShellWord[]):
  | { readonly known: true; readonly folder: string }
  | { readonly known: false }
  | undefined {
  if (first?.text !== "cd" || more.length > 0) return undefined;
  const text = target?.text ?? "~";
  if (/^\$\(dirname (--)? ?"?\$\{?(0|BASH_SOURCE(\[0\])?)\}?"?\)$/.test(text)) return { known: true, folder: "." };
  return /[$`*?~]|^-/.test(text) ? { known: false } : { known: true, folder: text };
}

/** The remark for a variable whose quoted value names a TonY program: the words after it are unknown. */
function unreadable(at: string): Lines {
  const message =
    "names a program of TonY, but not in a command line that tony-ts can parse: tony-ts submit takes the same options";
  return { remarks: [{ kind: "to-mend", at, message }], commands: [] };
}

/** The folders of Java's class path: the working directory first, unless the class path is known to lack it. */
function classPath(words: readonly ShellWord[]): readonly string[] {
  const option = words.findIndex(({ text }) => /^-(cp|classpath)$/.test(text));
  const value = option < 0 ? "" : (words[option + 1]?.text ?? "");
  const entries = value.replaceAll(/\$\(hadoop classpath[^)]*\)|`hadoop classpath[^`]*`/g, "hadoop.jar").split(":");
  const isHere = option < 0 || /[$`]/.test(entries.join()) || entries.some((entry) => /^\.?\/?$/.test(entry));
  return [
    ...(isHere ? ["."] : []),
    ...value.split(":").filter((entry) => /^[\w./-]+$/.test(entry) && !entry.endsWith(".jar")),
  ];
}

function migrateCommand(
  { program, folders }: { readonly program: ShellWord; readonly folders: readonly string[] },
  words: readonly ShellWord[],
  file: string,
  newFile: (job: string) => NewFile | undefined,
): Lines {
  const at = `${file}:${program.line}`;
  const ours = programs.get(program.text) ?? "";
  const open = words.find(({ isOpen }) => isOpen);
  if (open !== undefined) {
    const message = `a quote is not closed: ${open.written}`;
    return { remarks: [{ kind: "to-mend", at: `${file}:${open.line}`, message }], commands: [] };
  }
  const options = readOptions(words, file);
  const isNotebook = ours === notebook;
  const parts = options.map((option) => {
    const own = isNotebook ? migrateNotebookOption(option, options) : migrateProgram(option, options);
    return own ?? migrateOption(option, { all: options, newFile, jobOption: isNotebook ? "--conf " : "" });
  });
  const found = isNotebook ? undefined : tonyXml(options, at, folders, newFile);
  const remarks: MigrationRemark[] = [
    { kind: "changes", at, message: `${program.text} becomes ${ours}${isNotebook ? NOTEBOOKS_END : ""}` },
    ...parts.flatMap(({ remark }) => remark),
    ...(found?.remark ?? []),
  ];
  const typed = [ours, ...parts.flatMap(({ typed: words }) => words), ...(found?.typed ?? [])];
  return { remarks, commands: [{ at, command: typed.join(" ") }] };
}

const NOTEBOOKS_END = ": it ends when it has been idle for an hour (--idle); TonY ends it after a day";

interface OptionPlace {
  readonly all: readonly GivenOption[];
  readonly newFile: (job: string) => NewFile | undefined;
  /** What stands in front of a job's file: nothing, or an option. */
  readonly jobOption: string;
}

function migrateOption(option: GivenOption, { all, newFile, jobOption }: OptionPlace): MigratedOption {
  const { name, text, value, typed, at } = option;
  const stays: MigratedOption = { typed: [typed], remark: [{ kind: "stays", at, message: typed }] };
  if (name === "conf" && isSetting(text)) return migrateSetting(option, all, stays);
  if (name === "conf_file" || name === "conf") {
    const job = jobOption + pathTyped(value, text, newFile(text));
    return { typed: [job], remark: [{ kind: "changes", at, message: `${typed} becomes ${job}` }] };
  }
  if (valuedOptions.has(name) || name === "debug" || name === "help" || VARIABLE.test(typed)) return stays;
  const near = nearest(name, [...valuedOptions, "debug", "help"]);
  const meant = near === undefined ? "" : `: did you mean -${near}?`;
  return { ...stays, remark: [{ kind: "to-mend", at, message: `${typed} is not an option of TonY${meant}` }] };
}

/** The path to type; keeps the variables and quotes of the old one where only the file's name differs. */
function pathTyped(value: string, text: string, found: NewFile | undefined): string {
  if (found === undefined) return value;
  return found.isElsewhere
    ? shellWords([found.path])
    : value.replace(path.basename(text), () => path.basename(found.path));
}

/** `-conf KEY=VALUE` is migrated like the key in a job's file; some keys have another meaning with another framework. */
function migrateSetting(option: GivenOption, all: readonly GivenOption[], stays: MigratedOption): MigratedOption {
  const setting = settingOf(option);
  const framework = all.map(settingOf).filter(({ key }) => key === "tony.application.framework" && key !== setting.key);
  const migrated = migrateSettings([...framework, setting]).at(-1);
  if (migrated === undefined) return stays;
  const { remark, key: now } = migrated;
  return { typed: now === undefined ? [] : [option.typed.replace(setting.key, now)], remark: [remark] };
}

function settingOf({ text, at }: GivenOption): Setting {
  const equals = text.indexOf("=");
  return { key: text.slice(0, equals), value: text.slice(equals + 1), layer: "option", at, final: false };
}

/** Migrates a command line that names no job's file: TonY looks for `tony.xml` on its class path. */
function tonyXml(
  options: readonly GivenOption[],
  at: string,
  folders: readonly string[],
  newFile: (job: string) => NewFile | undefined,
): MigratedOption | undefined {
  if (options.some(({ name, text }) => name === "conf_file" || (name === "conf" && !isSetting(text)))) return undefined;
  const [found] = folders.flatMap((folder) => {
    const migrated = newFile(path.join(folder, "tony.xml"));
    if (migrated === undefined) return [];
    return [migrated.isElsewhere ? migrated.path : path.join(folder, path.basename(migrated.path))];
  });
  if (found === undefined && !folders.includes(".") && newFile("tony.xml") !== undefined)
    return { typed: [], remark: [{ kind: "to-mend", at, message: NOT_READ }] };
  if (found === undefined) {
    const unseen = folders.filter((folder) => folder !== ".");
    const kind = unseen.length === 0 ? "stays" : "to-mend";
    const message =
      unseen.length === 0
        ? "no job's file is named, and no tony.xml was found: the options are the whole job"
        : `no job's file is named. TonY finds tony.xml in ${unseen.join(", ")} of its class path: give it to the command`;
    return { typed: [], remark: [{ kind, at, message }] };
  }
  const message = `${found} is given by its name: TonY finds tony.xml on its class path`;
  return { typed: [shellWords([found])], remark: [{ kind: "changes", at, message }] };
}

const NOT_READ =
  "tony.xml is not on the class path, so that TonY does not read it: give it to the command if it is meant";

/** A program that has another path here than in TonY before 0.1.5, or that names a Python of its own in addition to another option's. */
function migrateProgram(
  { name, text, typed, at }: GivenOption,
  all: readonly GivenOption[],
): MigratedOption | undefined {
  if (name !== "executes") return undefined;
  const given = (option: string) => all.find((other) => other.name === option)?.text ?? "";
  const second = secondPython(text, given("python_binary_path"));
  if (second !== undefined) {
    const now = typed.replace(second, "").replace(/(=|\s)(["'])\s+/, "$1$2");
    const why = `-python_binary_path puts its own in front, and TonY runs ${given("python_binary_path")} ${text}`;
    return { typed: [now], remark: [{ kind: "changes", at, message: `${typed} becomes ${now}: ${why}` }] };
  }
  const srcDir = given("src_dir");
  if (pathInside(text, srcDir) === undefined) return undefined;
  const folder = path.basename(srcDir);
  const now = typed.replace(`${folder}/`, "");
  const why = `it is looked for inside --src_dir, unless ${srcDir} has a folder ${folder} of its own`;
  return { typed: [now], remark: [{ kind: "changes", at, message: `${typed} becomes ${now}: ${why}` }] };
}
