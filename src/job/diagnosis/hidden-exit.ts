/** How a command hides that a program of it has failed. */
export type HiddenExit =
  | "pipe"
  | "sequence"
  | "or"
  | "background"
  | "substitution"
  | "condition"
  | "negation"
  | "trap"
  | "loop";

/** Programs whose failure is a job's: interpreters, launchers, and what is called by its path. */
const PROGRAM =
  /^(?:(?:\S*\/)?(?:python[\d.]*|pypy\d*|torchrun|deepspeed|horovodrun|mpirun|mpiexec|accelerate|ray|dask|java|scala|Rscript|julia|node|perl|ruby|spark-submit|bash|sh)|\.{0,2}\/\S+|[\w-]+\/\S+)$/;
/** Words that start the program which follows. */
const PREFIX =
  /^(?:[A-Za-z_]\w*=\S*|exec|time|command|nohup|env|nice|stdbuf|timeout|numactl|setsid|taskset|ionice|-\S+|\d+[smhd]?)$/;
const NESTED_SHELL = /^(?:\S*\/)?(?:bash|sh)$/;
const OPENING = /^(?:[({]|then|do|else|time)\s*(?=\s|\(|\S)/;

interface Part {
  readonly text: string;
  /** What stands between it and the next one; empty after the last. */
  readonly operator: string;
}

/**
 * How a command of bash ends with 0 though one of its programs has failed; undefined where it does not, or where that is not certain.
 * @param options.pipefail whether bash was told that already
 */
export function hiddenExit(command: string, { pipefail = false } = {}): HiddenExit | undefined {
  // Who looks at the exit codes himself knows what he does.
  if (/\$\{?(?:\?|PIPESTATUS)/.test(command)) return undefined;
  const hasPipefail = pipefail || /\bset\s+(?:-\S+\s+)*-\w*o\s+pipefail\b/.test(command);
  const stops = /(?:^|[;\n&]\s*)set\s+-\w*e/.test(command);
  if (/\btrap\s+(['"])[^'"]*\bexit(?:\s+0)?\s*(?:;[^'"]*)?\1\s+(?:EXIT|0)\b/.test(command)) return "trap";
  return ofList(command.trim(), { hasPipefail, stops });
}

interface Options {
  readonly hasPipefail: boolean;
  readonly stops: boolean;
}

function ofList(text: string, options: Options): HiddenExit | undefined {
  const parts = split(text, [";", "\n", "&"]);
  for (const [position, { text: part, operator }] of parts.entries()) {
    const isLast = parts.slice(position + 1).every((other) => runsNothing(other.text));
    const runs = runsProgram(part);
    if (operator === "&" && runs && !waitsFor(parts.slice(position + 1))) return "background";
    const hidden = ofChain(part, options);
    if (hidden !== undefined) return hidden;
    const next = parts.slice(position + 1).some((other) => runsProgram(other.text));
    if (!isLast && runs && operator !== "&" && !options.stops && !next) return "sequence";
  }
  return undefined;
}

function ofChain(text: string, options: Options): HiddenExit | undefined {
  const parts = split(text, ["&&", "||"]);
  for (const [position, { text: part, operator }] of parts.entries()) {
    const hidden = ofPipeline(part, options);
    if (hidden !== undefined) return hidden;
    const next = parts[position + 1]?.text ?? "";
    const before = parts.slice(0, position + 1).some((one) => runsProgram(one.text));
    if (operator === "||" && before && !runsProgram(next) && !/\b(?:exit|false|return|kill)\b/.test(next)) return "or";
  }
  return undefined;
}

function ofPipeline(text: string, options: Options): HiddenExit | undefined {
  const parts = split(text, ["|&", "|"]);
  const last = parts.at(-1)?.text ?? "";
  if (parts.length > 1 && !options.hasPipefail && parts.slice(0, -1).some((part) => runsProgram(part.text))) {
    return runsProgram(last) ? undefined : "pipe";
  }
  for (const { text: part } of parts) {
    const hidden = ofSimple(part, options);
    if (hidden !== undefined) return hidden;
  }
  return undefined;
}

function ofSimple(text: string, options: Options): HiddenExit | undefined {
  const words = text.trim();
  const [, keyword = "", rest = ""] = /^(if|while|until|elif|!|for)(?=\s)([\s\S]*)$/.exec(words) ?? [];
  if (keyword === "!") return runsProgram(rest) ? "negation" : undefined;
  if (keyword !== "" && keyword !== "for") return runsProgram(rest) ? "condition" : undefined;
  if (/^do\s/.test(words) && runsProgram(words) && !options.stops) return "loop";
  const group = /^[({]\s*([\s\S]*?);?\s*[)}][^)}]*$/.exec(words.replace(/^time\s+(?:-p\s+)?/, ""));
  if (group?.[1] !== undefined) return ofList(group[1], options);
  const [first = "", option = ""] = wordsOf(words).filter((word) => !/^[A-Za-z_]\w*=/.test(word));
  if (NESTED_SHELL.test(first) && /^-\w*c$/.test(option)) {
    const script = /\s-\w*c\s+(['"])([\s\S]*)\1/.exec(words)?.[2];
    return script === undefined ? undefined : hiddenExit(script, { pipefail: /\s-o\s+pipefail\s/.test(words) });
  }
  const inner = /(?:[$<]\(|`)([^)`]*)/.exec(words)?.[1];
  const isAssignment = /^[A-Za-z_]\w*=[^\s]*[$`]/.test(words);
  return inner !== undefined && !isAssignment && !isProgram(words) && runsProgram(inner) ? "substitution" : undefined;
}

function runsProgram(text: string): boolean {
  return ["&&", "||", "|", ";"]
    .reduce((parts, sign) => parts.flatMap((part) => split(part, [sign]).map((one) => one.text)), [text])
    .some(isProgram);
}

/** Whether the first word that is more than a prefix is a program. */
function isProgram(text: string): boolean {
  let rest = text.trim();
  while (OPENING.test(rest)) rest = rest.replace(OPENING, "").trim();
  const first = wordsOf(rest.replace(/^!\s+/, "")).find((word) => !PREFIX.test(word)) ?? "";
  return PROGRAM.test(first.replace(/[;)}]+$/, ""));
}

function runsNothing(text: string): boolean {
  return /^\s*(?:[)}]|fi|done|esac)?\s*$/.test(text) || /^\s*#/.test(text);
}

/** `wait` alone ends with 0 whatever the programs did. */
function waitsFor(parts: readonly Part[]): boolean {
  return parts.some(({ text }) => /\bwait\s+\S/.test(text));
}

function wordsOf(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** Splits at operators that stand outside of quotes, groups and substitutions. */
function split(text: string, operators: readonly string[]): Part[] {
  const parts: Part[] = [];
  let [start, depth, quote] = [0, 0, ""];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (character === "\\" && quote !== "'") {
      at += 1;
    } else if (quote !== "") {
      if (character === quote) quote = "";
    } else if (/['"`]/.test(character)) {
      quote = character;
    } else if (character === "(" || (character === "{" && /\s/.test(text[at + 1] ?? ""))) {
      depth += 1;
    } else if (character === ")" || (character === "}" && /[\s;]/.test(text[at - 1] ?? ""))) {
      depth = Math.max(0, depth - 1);
    } else if (depth === 0) {
      const operator = operatorAt(text, at);
      if (operator === "") continue;
      if (operators.includes(operator)) {
        parts.push({ text: text.slice(start, at), operator });
        start = at + operator.length;
      }
      at += operator.length - 1;
    }
  }
  parts.push({ text: text.slice(start), operator: "" });
  return parts.filter(({ text: part }) => part.trim() !== "");
}

/** `2>&1`, `&>log` and `>|log` are redirections. */
function operatorAt(text: string, at: number): string {
  const [found = ""] = /^(?:&&|\|\||\|&|&(?!>)|\||;|\n)/.exec(text.slice(at, at + 2)) ?? [];
  const isRedirection = /[<>]/.test(text[at - 1] ?? "") && found !== ";" && found !== "\n";
  return isRedirection ? "" : found;
}
