import path from "node:path";
import type { Setting } from "../../src/job/settings.ts";
import { isSetting, submissionSettings } from "../../src/job/submission.ts";
import { CLASSPATH_REMARK } from "../command-line/job-options.ts";
import { valuedOptions } from "../command-line/tony-arguments.ts";
import type { MigratedCommand, MigrationRemark } from "../printed-json.ts";
import { migrateSettings } from "./settings.ts";
import { type ShellWord, shellCommands } from "./shell-words.ts";

/** TonY's programs, and what submits here as they do. */
const programs: ReadonlyMap<string, string | undefined> = new Map([
  ["com.linkedin.tony.cli.ClusterSubmitter", "tony-ts submit"],
  ["com.linkedin.tony.TonyClient", "tony-ts submit"],
  ["com.linkedin.tony.cli.LocalSubmitter", "tony-ts submit --scheduler local"],
  ["com.linkedin.tony.cli.NotebookSubmitter", undefined],
]);

export interface MigratedScript {
  readonly remarks: readonly MigrationRemark[];
  readonly commands: readonly MigratedCommand[];
}

/** Whether a file says the name of one of TonY's programs. */
export function callsTony(text: string): boolean {
  return [...programs.keys()].some((name) => text.includes(name));
}

/**
 * TonY's command lines in a script.
 * @param migratedFile the new name of a job's file, by the path that a command line gives; undefined: it goes on under its own
 */
export function migrateScript(
  script: string,
  file: string,
  migratedFile: (path: string) => string | undefined,
): MigratedScript {
  const found = shellCommands(script).flatMap((words) => {
    const at = words.findIndex(({ text }) => programs.has(text));
    const [program, ...rest] = at < 0 ? [] : words.slice(at);
    return program === undefined ? [] : [migrateCommand(program, rest, file, migratedFile)];
  });
  if (found.length === 0) {
    const message =
      "names a program of TonY's in no command line that can be read: tony-ts submit takes the same options";
    return { remarks: [{ kind: "to-mend", at: file, message }], commands: [] };
  }
  return { remarks: found.flatMap(({ remarks }) => remarks), commands: found.flatMap(({ commands }) => commands) };
}

function migrateCommand(
  program: ShellWord,
  words: readonly ShellWord[],
  file: string,
  migratedFile: (path: string) => string | undefined,
): MigratedScript {
  const at = `${file}:${program.line}`;
  const submit = programs.get(program.text);
  if (submit === undefined) {
    return {
      remarks: [{ kind: "unsupported", at, message: `${program.text}: notebooks are not supported` }],
      commands: [],
    };
  }
  const options = readOptions(words, file);
  const parts = options.map((option) => migrateOption(option, migratedFile));
  const remarks: MigrationRemark[] = [
    { kind: "changes", at, message: `${program.text} becomes ${submit}` },
    ...parts.flatMap(({ remark }) => remark),
    ...programRemarks(options),
  ];
  if (!options.some(({ name, text }) => name === "conf_file" || (name === "conf" && !isSetting(text)))) {
    const message = "no job's file is named, and tony.xml is not searched for on a class path: give it to the command";
    remarks.push({ kind: "to-mend", at, message });
  }
  const typed = [submit, ...parts.flatMap(({ typed: words }) => words)];
  return { remarks, commands: [{ at, command: typed.join(" ") }] };
}

/** An option of TonY's with its value, or a word that is none. */
interface GivenOption {
  /** Empty: no option. */
  readonly name: string;
  /** Its value without quotes. */
  readonly text: string;
  /** The value as it was written. */
  readonly value: string;
  /** The whole of it. */
  readonly typed: string;
  readonly at: string;
}

/** Java's GNU parser gives an option the next word, whatever it looks like. */
function readOptions(words: readonly ShellWord[], file: string): GivenOption[] {
  const options: GivenOption[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const at = `${file}:${word.line}`;
    const [, name = "", inline] = /^--?([a-z_]+)(?:=([\s\S]*))?$/.exec(word.text) ?? [];
    const next = valuedOptions.has(name) && inline === undefined ? left.shift() : undefined;
    const value = next?.written ?? word.written.replace(/^[^=]*=?/, "");
    const typed = next === undefined ? word.written : `${word.written} ${next.written}`;
    options.push({ name, text: next?.text ?? inline ?? "", value, typed, at });
  }
  return options;
}

/** What is typed instead of an option, and what is to be said of it. */
interface MigratedOption {
  readonly typed: readonly string[];
  readonly remark: readonly MigrationRemark[];
}

function migrateOption(option: GivenOption, migratedFile: (path: string) => string | undefined): MigratedOption {
  const { name, text, value, typed, at } = option;
  const stays: MigratedOption = { typed: [typed], remark: [{ kind: "stays", at, message: typed }] };
  if (name === "hdfs_classpath") return { typed: [], remark: [{ kind: "no-meaning", at, message: CLASSPATH_REMARK }] };
  if (name === "conf" && isSetting(text)) return migrateSetting(option, stays);
  if (name === "conf_file" || name === "conf") {
    const migrated = migratedFile(text);
    const job = migrated === undefined ? value : value.replace(path.basename(text), path.basename(migrated));
    return { typed: [job], remark: [{ kind: "changes", at, message: `${typed} becomes ${job}` }] };
  }
  if (valuedOptions.has(name) || name === "debug" || name === "help") return stays;
  return { ...stays, remark: [{ kind: "to-mend", at, message: `${typed} is no option of TonY's` }] };
}

/** `-conf KEY=VALUE` is what the key is in a job's file. */
function migrateSetting({ text, at, typed }: GivenOption, stays: MigratedOption): MigratedOption {
  const equals = text.indexOf("=");
  const key = text.slice(0, equals);
  const setting: Setting = { key, value: text.slice(equals + 1), layer: "option", at, final: false };
  const [migrated] = migrateSettings([setting]);
  if (migrated === undefined) return stays;
  const { remark, key: now } = migrated;
  return { typed: now === undefined ? [] : [typed.replace(key, now)], remark: [remark] };
}

/** What is said of a program that lies elsewhere here than in TonY's older releases. */
function programRemarks(options: readonly GivenOption[]): MigrationRemark[] {
  const given = (name: string) => options.find((option) => option.name === name);
  const [executes, srcDir] = [given("executes"), given("src_dir")];
  if (executes === undefined || srcDir === undefined) return [];
  const { problems } = submissionSettings({ executes: executes.text, srcDir: srcDir.text });
  return problems.map(({ message }) => ({ kind: "changes", at: executes.at, message: `-executes ${message}` }));
}
