import yargs, { type Argv } from "yargs";
import { usageError } from "../../src/errors.ts";
import { nearest } from "../../src/job/nearest.ts";
import { buildId } from "../../src/programs.ts";
import type { ChosenRun, Command, Registration } from "./command.ts";
import { completionWord } from "./completion.ts";
import { idByOption, meantByHabit } from "./habits.ts";
import { fromTonyArguments } from "./tony-arguments.ts";

/** What a command line asks for: a command to run, or text to print (help, version, completion). */
export type Parsed = { readonly run: ChosenRun; readonly json: boolean } | { readonly text: string };

/** Help texts are never wider than this, nor wider than the terminal. */
const helpColumns = 110;

/** Words at which the parser prints help, the version or completions; a shell asks for completions with the last one. */
const explaining = new Set(["--help", "-h", "help", completionWord]);

/**
 * Reads a command line (without `node` and the script). Throws a UserError with code `USAGE` for a mistake in it, and for a bare
 * `tony-ts`, with the whole help as its message.
 * @param columns of the terminal
 */
export async function parseArguments(
  words: readonly string[],
  commands: readonly Command[],
  columns = helpColumns,
): Promise<Parsed> {
  let chosen: { readonly run: ChosenRun; readonly json: boolean } | undefined;
  const choose: Registration["choose"] = (run, json) => {
    chosen = { run, json };
  };
  const { line, rest } = splitAtDashes(words, commands);
  const read = fromTonyArguments(line);
  const explained = read.length === 0 || read.some((word) => explaining.has(word));
  const parser = commands.reduce(
    (inner, command) => command.register(inner, { choose, rest, explained }),
    baseParser(columns),
  );
  const { error, text } = await captured(parser, read);
  if (error !== undefined) throw usageError(words.length === 0 ? withoutUsage(text) : mistake(error, words, commands));
  return chosen ?? { text };
}

/** The words after `--` are hidden from the parser where they belong to another command. */
function splitAtDashes(words: readonly string[], commands: readonly Command[]) {
  const takesRest = commands.find(({ verb }) => verb === words[0])?.takesRest === true;
  const dashes = takesRest ? words.indexOf("--") : -1;
  return dashes < 0 ? { line: words, rest: [] } : { line: words.slice(0, dashes), rest: words.slice(dashes + 1) };
}

function baseParser(columns: number): Argv {
  return yargs()
    .scriptName("tony-ts")
    .locale("en")
    .parserConfiguration({ "camel-case-expansion": false, "boolean-negation": false, "parse-numbers": false })
    .usage("$0 <command>\n\nRuns distributed machine-learning jobs on Hadoop YARN, or on this machine.")
    .strict()
    .demandCommand(1, "")
    .help("help", "Show this help")
    .alias("help", "h")
    .version("version", "Show the version", buildId())
    .option("debug", { type: "boolean", describe: "Show the stack trace and causes of an error" })
    .completion("parser-completion", false)
    .epilogue(
      "Exit codes: 0 succeeded, 1 the job failed, 2 usage or job.xml, 3 no cluster, or it refuses, 4 killed, 5 unknown.",
    )
    .wrap(Math.min(helpColumns, columns))
    .exitProcess(false);
}

/** Parses without printing: yargs passes its text and its error to the callback. */
async function captured(parser: Argv, words: string[]): Promise<{ readonly error?: string; readonly text: string }> {
  let result: { readonly error?: string; readonly text: string } = { text: "" };
  await parser.parse(words, {}, (error, _args, text) => {
    result = error === undefined || error === null ? { text } : { error: error.message, text };
  });
  return result;
}

/** The help without its first words: an error message begins with the program's name anyway. */
function withoutUsage(help: string): string {
  return help.replace(/^tony-ts <command>\s+/, "");
}

/** Translates yargs' message for a mistake into ours, with a line that says where to read more. */
function mistake(message: string, words: readonly string[], commands: readonly Command[]): string {
  const help = helpLine(words, commands);
  const byOption = idWithOption(words, commands);
  if (byOption !== undefined) return byOption;
  const [, unfollowed] = /^Not enough arguments following: (\S+)$/.exec(message) ?? [];
  const [, unknown] = /^Unknown arguments?: (.+)$/.exec(message) ?? [];
  if (unfollowed !== undefined) return `--${unfollowed} needs a value\n${help}`;
  if (unknown !== undefined) return unknownWords(asTyped(unknown.split(", "), words), words, commands);
  if (/^Not enough non-option arguments/.test(message)) {
    const mistyped = optionsOf(words).filter((word) => !isKnown(word, commandOf(words, commands)));
    if (mistyped.length > 0) return unknownWords(mistyped.map(nameOf), words, commands);
    return `${missing(words, commands)}\n${help}`;
  }
  return `${message}\n${help}`;
}

function missing(words: readonly string[], commands: readonly Command[]): string {
  return commandOf(words, commands)?.missing ?? "Something is missing";
}

/** With other tools a job's id is the value of an option. */
function idWithOption(words: readonly string[], commands: readonly Command[]): string | undefined {
  const command = commandOf(words, commands);
  const given = command?.usage.includes("<application") ? idByOption(words, [...command.options, ...ofAll]) : undefined;
  if (command === undefined || given === undefined) return undefined;
  const { option, id } = given;
  return `the job's id stands by itself, without ${option}\n  tony-ts ${command.verb} ${id}\n  tony-ts ${command.verb} --help`;
}

/** The options of every command. */
const ofAll = ["help", "h", "version", "debug"];

const optionsOf = (words: readonly string[]) => words.filter((word) => /^-./.test(word));
const nameOf = (word: string) => word.replace(/^--?/, "").split("=")[0] ?? "";

function isKnown(word: string, command: Command | undefined): boolean {
  return command === undefined || [...command.options, ...ofAll].includes(nameOf(word));
}

function commandOf(words: readonly string[], commands: readonly Command[]): Command | undefined {
  const verb = verbOf(words);
  return commands.find((command) => command.verb === verb);
}

/** The parser takes `-confg` for five single-letter options. */
function asTyped(unknown: readonly string[], words: readonly string[]): string[] {
  const bundles = words.flatMap((word) => /^-([A-Za-z][\w-]+)/.exec(word)?.[1] ?? []);
  const names = unknown.map((name) => bundles.find((bundle) => name.length === 1 && bundle.includes(name)) ?? name);
  return [...new Set(names)];
}

/** The message for unknown words: an unknown command first; else unknown options, with the one most likely meant; else surplus words. */
function unknownWords(unknown: readonly string[], words: readonly string[], commands: readonly Command[]): string {
  const verb = verbOf(words);
  const known = commandOf(words, commands);
  const help = helpLine(words, commands);
  if (known === undefined && verb !== "") return `unknown command: ${verb}\n${help}`;
  const typed = unknown.map((name) => words.find((word) => word.replace(/^--?/, "").split("=")[0] === name) ?? name);
  const options = typed.filter((word) => word.startsWith("-"));
  if (options.length === 0) return `unexpected argument: ${typed.join(", ")}\n${help}`;
  const near = unknown.map((name) => nearest(name, known?.options ?? [])).find((option) => option !== undefined);
  const meant = near === undefined ? "" : `  Did you mean --${near}?\n`;
  return `unknown option: ${options.join(", ")}\n${meant}${help}`;
}

/** The command that was typed, whether it exists or not. */
export function verbOf(words: readonly string[]): string {
  return words.find((word) => !word.startsWith("-")) ?? "";
}

function helpLine(words: readonly string[], commands: readonly Command[]): string {
  const verb = verbOf(words);
  const known = commandOf(words, commands);
  if (known !== undefined) return `  ${known.usage}\n  tony-ts ${verb} --help`;
  const verbs = commands.map((command) => command.verb);
  const near = meantByHabit(verb, words) ?? nearest(verb, verbs);
  return near === undefined ? "  tony-ts --help lists the commands" : `  Did you mean tony-ts ${near}?`;
}
