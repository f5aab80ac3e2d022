import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { commands } from "../../client/commands/commands.ts";

/** A command line that a person is shown. */
export interface ShownLine {
  readonly line: string;
  /** `README.md:31`, `tony-ts --help` */
  readonly at: string;
}

/** What a code span begins with that is meant to be typed. */
const typed = /^(tony-ts|npm|npx|node|docker|sudo|eval|source|java|git|pip) /;

/** The programs of a checkout whose `--help` shows command lines of `npm`. */
const checkoutPrograms = [
  ...["cluster.mjs", "demo.mjs", "test.mjs", "test/coverage.mjs", "simulate.mjs", "mutants.mjs"],
  "../bench/run.mjs",
];

/** Every command line that the documents and the helps show, each once. Decisions are notes of their day, which nobody follows. */
export async function allShownLines(): Promise<ShownLine[]> {
  const pages = readdirSync("docs", { recursive: true, encoding: "utf8" }).map((name) => path.join("docs", name));
  const inDocuments = ["README.md", "CONTRIBUTING.md", ...pages]
    .filter((file) => file.endsWith(".md") && !file.startsWith("docs/makers/decisions/"))
    .flatMap((file) => linesInMarkdown(readFileSync(file, "utf8"), file));
  const all = [...inDocuments, ...linesInOwnHelp(), ...(await linesInHelpOfCheckout())];
  return [...new Map(all.reverse().map((shown) => [shown.line, shown])).values()].reverse();
}

/** Lines of shell blocks without their comments, and code spans in the text that begin with a program. */
export function linesInMarkdown(markdown: string, file: string): ShownLine[] {
  let fence: string | undefined;
  return markdown.split("\n").flatMap((text, index) => {
    const mark = /^\s*```(\w*)/.exec(text);
    if (mark !== null) {
      fence = fence === undefined ? mark[1] : undefined;
      return [];
    }
    const spans = () => Array.from(text.matchAll(/`([^`]+)`/g), ([, span = ""]) => span.replaceAll("\\|", "|"));
    const found =
      fence === undefined ? spans().filter((span) => typed.test(span)) : fence === "sh" ? inBlock(text) : [];
    return found.map((line) => ({ line, at: `${file}:${index + 1}` }));
  });
}

/** The line of a shell block without its comment. */
function inBlock(text: string): string[] {
  const line = text.replace(/(^|\s+)# .*$/, "").trim();
  return line === "" ? [] : [line];
}

/** The examples of every command's help. */
function linesInOwnHelp(): ShownLine[] {
  return commands.flatMap(({ verb, examples }) =>
    examples.map(([line]) => ({ line: `tony-ts ${line}`, at: `tony-ts ${verb} --help` })),
  );
}

/** Usage lines are two spaces, the line, two spaces or more, its meaning. */
async function linesInHelpOfCheckout(): Promise<ShownLine[]> {
  const helps = checkoutPrograms.map(async (program) => {
    const file = path.join("scripts", program);
    const { stdout } = await promisify(execFile)(process.execPath, [file, "--help"]);
    const lines = Array.from(stdout.matchAll(/^ +((?:npm|eval) .*?)(?: {2,}.*)?$/gm), ([, line = ""]) => line);
    return lines.map((line) => ({ line, at: `node ${file} --help` }));
  });
  return (await Promise.all(helps)).flat();
}
