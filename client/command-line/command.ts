import type { Argv, InferredOptionTypes, Options } from "yargs";
import { type ExitCode, usageError } from "../../src/errors.ts";
import type { ClientContext } from "../context.ts";

/** Options by their long names, as yargs describes them; the argument types of the handler are inferred from them. */
export type OptionTable = Readonly<Record<string, Options>>;

/** One positional argument, by the name that the usage line shows. */
export interface Positional {
  readonly describe: string;
  readonly required?: boolean;
  /** Takes all remaining words, at least one where it is required. */
  readonly many?: boolean;
  /** The error message when it is required and missing. */
  readonly missing?: string;
}
export type PositionalTable = Readonly<Record<string, Positional>>;

type PositionalValues<P extends PositionalTable> = {
  readonly [K in keyof P]: P[K] extends { readonly many: true }
    ? readonly string[]
    : P[K] extends { readonly required: true }
      ? string
      : string | undefined;
};

/** A command line (without `tony-ts`) and a description of what it does. */
export type Example = readonly [line: string, meaning: string];

export interface CommandDefinition<P extends PositionalTable, O extends OptionTable> {
  /** The command's word on the command line. */
  readonly verb: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** In the order of the usage line. */
  readonly positionals: P;
  readonly options: O;
  /** What the words after `--` mean, where the command takes any; `run` gets them unchanged. */
  readonly rest?: Rest;
  /** With --json the command prints one event per line, the last of which is `end`. */
  readonly printsEvents?: true;
  /** The most frequent uses. */
  readonly examples: readonly [Example, ...Example[]];
  readonly run: (
    args: PositionalValues<P> & InferredOptionTypes<{ -readonly [K in keyof O]: O[K] }>,
    context: ClientContext,
    rest: readonly string[],
  ) => Promise<ExitCode | CommandExit>;
}

/** Words that belong to another command, whose options are not tony-ts'. */
export interface Rest {
  readonly name: string;
  readonly describe: string;
  /** The error message when there are none; absent: they are optional. */
  readonly missing?: string;
}

/** The exit code of a command that was run in a job, passed on unchanged. */
export type CommandExit = number;

/** The command that the parser chose. */
export type ChosenRun = (context: ClientContext) => Promise<ExitCode | CommandExit>;

/** What a command needs to add itself to a parser. */
export interface Registration {
  readonly choose: (run: ChosenRun, json: boolean) => void;
  /** The words after `--`, for a command that takes them. */
  readonly rest: readonly string[];
  /**
   * Whether the parser may have to print help or a completion. yargs lays out the help of every command that it runs, in case somebody
   * asks for it afterwards; it leaves out what is hidden.
   */
  readonly explained: boolean;
}

/** A command whose argument types are hidden inside: it adds itself to a parser, and passes on what to run. */
export interface Command {
  readonly verb: string;
  readonly summary: string;
  /** `tony-ts status <application>` */
  readonly usage: string;
  /** Whether the words after `--` belong to another command. */
  readonly takesRest: boolean;
  /** With --json the command prints one event per line, the last of which is `end`. */
  readonly printsEvents: boolean;
  /** Names of its options, aliases included. */
  readonly options: readonly string[];
  /** The error message when a required positional argument is missing. */
  readonly missing: string;
  /** Command lines (without `tony-ts`) that its help shows, each with a description. */
  readonly examples: readonly Example[];
  readonly register: (parser: Argv, registration: Registration) => Argv;
}

/** Makes a command from its definition; the types of `run`'s arguments are inferred from `positionals` and `options`. */
export function defineCommand<const P extends PositionalTable, const O extends OptionTable>(
  definition: CommandDefinition<P, O>,
): Command {
  const { verb, summary, positionals, options, rest: words, examples, run } = definition;
  return {
    verb,
    summary,
    usage: `tony-ts ${usageOf(verb, positionals)}${restUsage(words)}`,
    takesRest: words !== undefined,
    printsEvents: definition.printsEvents === true,
    options: Object.entries(options).flatMap(([name, { alias = [] }]) => [name, ...[alias].flat()]),
    missing: Object.values<Positional>(positionals).find(({ required }) => required)?.missing ?? "Something is missing",
    examples,
    register: (parser, { choose, rest, explained }) =>
      parser.command(
        usageOf(verb, positionals),
        summary,
        (builder) => {
          let described = builder.options(yargsOptions(options, explained));
          for (const [name, { describe }] of Object.entries(positionals)) {
            described = described.positional(name, {
              type: "string",
              ...(explained ? { describe } : { hidden: true }),
            });
          }
          if (explained) described = described.epilogue(restText(words) + exampleText(examples));
          if (explained && words !== undefined)
            described = described.usage(`$0 ${usageOf(verb, positionals)}${restUsage(words)}\n\n${summary}`);
          return described.check((args) => onlyOnce(args, options), false);
        },
        (args) => {
          // yargs has checked them against the tables above; its type cannot say so.
          const typed = args as unknown as Parameters<typeof run>[0];
          if (words?.missing !== undefined && rest.length === 0) throw usageError(words.missing);
          choose((context) => run(typed, context, rest), args.json === true);
        },
      ),
  };
}

/** Commands with a word in common: `cache list`, `cache prune`. */
export function defineGroup(verb: string, summary: string, commands: readonly Command[]): Command {
  return {
    verb,
    summary,
    usage: `tony-ts ${verb} ${commands.map((command) => command.verb).join("|")}`,
    takesRest: false,
    printsEvents: false,
    options: commands.flatMap((command) => command.options),
    missing: "Something is missing",
    examples: commands.flatMap((command) => command.examples),
    register: (parser, registration) =>
      parser.command(verb, summary, (builder) =>
        commands
          .reduce((inner, command) => command.register(inner, registration), builder)
          .demandCommand(1, `Say what to do with the ${verb}: ${commands.map((command) => command.verb).join(", ")}`),
      ),
  };
}

/** The option of every verb that only reads. */
export const jsonOption = {
  json: { type: "boolean", default: false, describe: "Print JSON" },
} as const;

/** The command line and its description on a line each: a command line that is broken in the middle cannot be copied. */
function exampleText(examples: readonly Example[]): string {
  return ["Examples:", ...examples.flatMap(([line, meaning]) => [`  tony-ts ${line}`, `      ${meaning}`])].join("\n");
}

function restUsage(rest: Rest | undefined): string {
  if (rest === undefined) return "";
  return rest.missing === undefined ? ` [-- ${rest.name}..]` : ` -- <${rest.name}..>`;
}

function restText(rest: Rest | undefined): string {
  return rest === undefined ? "" : `After --:\n  ${rest.name}  ${rest.describe}\n\n`;
}

function usageOf(verb: string, positionals: PositionalTable): string {
  const words = Object.entries(positionals).map(([name, { required, many }]) => {
    const shown = many ? `${name}..` : name;
    return required ? `<${shown}>` : `[${shown}]`;
  });
  return [verb, ...words].join(" ");
}

/** yargs turns a repeated option into an array, whatever its type. */
function onlyOnce(args: Readonly<Record<string, unknown>>, options: OptionTable): true {
  for (const [name, option] of Object.entries(options)) {
    if (option.array !== true && Array.isArray(args[name])) throw usageError(`--${name} can be given once only`);
  }
  return true;
}

function yargsOptions(options: OptionTable, explained: boolean): Record<string, Options> {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      { ...(option.type === "boolean" ? {} : { nargs: 1 }), ...option, ...(explained ? {} : { hidden: true }) },
    ]),
  );
}
