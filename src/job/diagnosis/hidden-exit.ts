import { parseShell, type ShellList, type ShellNode } from "./shell-syntax.ts";
import { shellWords } from "./shell-words.ts";

/**
 * How a command hides that one of its programs has failed. `unstopped`: in a sequence that `set -e` does not stop there; `beside`: in the
 * background of another program; `ampersand`: with `&>`, which dash takes for the background; `recorded`: run by script(1).
 */
export type HiddenExit =
  | "pipe"
  | "sequence"
  | "unstopped"
  | "or"
  | "background"
  | "beside"
  | "ampersand"
  | "substitution"
  | "find"
  | "recorded"
  | "condition"
  | "negation"
  | "trap"
  | "loop";

/**
 * What a part of a command reveals about its programs when each of them fails.
 * - `none`: it has no program
 * - `program`: it ends with a program's exit code
 * - `checked`: it checks the results itself, or its behaviour is uncertain
 * - `hidden`: it ends with another exit code
 */
type Fate = "none" | "program" | "checked" | Hidden;

export interface Hidden {
  readonly hidden: HiddenExit;
  /** The nested shell that it happens in: `sh` for `sh -c '…'`. */
  readonly inside?: string;
  /** Whether that shell reads the script: `sh <<< '…'` */
  readonly isRead?: true;
}

interface Shell {
  /** `set -e`, `set -o pipefail` */
  stops: boolean;
  pipefail: boolean;
  /** Whether `set -e` currently has no effect: in a condition, and before `&&` and `||`. */
  isSuspended: boolean;
  /** Whether it waits for a program by name, or ends one: then its background programs are taken care of. */
  readonly looksAfter: boolean;
  readonly functions: Map<string, ShellNode>;
  /** Functions that are being examined. */
  readonly running: Set<string>;
}

/** With more brackets and compounds the result is uncertain: they could be nested deeper than this process's stack allows. */
const MOST_NESTED = 500;
/** Programs whose failure is the job's failure: interpreters, launchers, and programs that are called by their path. */
const PROGRAM =
  /^(?:(?:\S*\/)?(?:python[\d.]*|pypy\d*|torchrun|deepspeed|horovodrun|mpirun|mpiexec|accelerate|ray|dask|java|scala|Rscript|julia|node|perl|ruby|spark-submit|uvx?|poetry|pipenv|conda|mamba|micromamba|pytest|papermill|jupyter|srun|ssh|parallel|docker|podman|singularity|apptainer|nsys|ncu|strace|make|bash|sh|dash)|\.{0,2}\/\S+|[\w-]+\/\S+)$/;
/** Commands of the system, even when they are called by their paths. */
const SYSTEM = /^\/(?:usr\/)?s?bin\/(?!python|perl|ruby|node|java|bash|sh|dash)\S+$/;
/** Words that start the program after them. */
const PREFIX =
  /^(?:[A-Za-z_]\w*=[\s\S]*|exec|command|(?:(?:\/usr)?\/s?bin\/)?(?:time|sudo|nohup|env|nice|stdbuf|unbuffer|timeout|numactl|setsid|taskset|ionice|xargs)|-\S+|\d+[smhd]?)$/;
/** Their options whose value is a separate word: `sudo -u ada`, `timeout -s KILL 5`. */
const OPTION_WITH_VALUE = /^-[ugskcCNmIPLdo]$/;
const NESTED_SHELL = /^(?:\S*\/)?(?:bash|sh|dash)$/;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
/** Commands that only ask a question, or end with an exit code of their own. */
const CHECKS: ReadonlySet<string> = new Set(["test", "[", "[[", "grep", "false", "break", "continue"]);

const LOOKS_AFTER = /(?:^|[\s;|&({'"])(?:kill|pkill|fg|jobs)\b|\bwait[ \t]+(?!-n[ \t]*(?:$|[;&|)}\n]))[^\s;|&)]/;

/** Text that is only printed, and variables that get the previous exit code. */
const SHOWN = /\b(?:echo|printf)\b[^\n;|&)]*/g;
const KEPT_EXIT = /\b([A-Za-z_]\w*)=(?:"?\$(?:\?|\{(?:\?|PIPESTATUS\[\d+\])\})"?)/g;
/** The previous exit code. */
const LAST_EXIT = /"?\$(?:\?|\{(?:\?|PIPESTATUS\[\d+\])\})"?/;
const END_WITH_LAST = new RegExp(`\\b(exit|return)[ \\t]+${LAST_EXIT.source}(?=[ \\t]*(?:[;)}'"\\n]|$))`, "g");

/**
 * How a bash command exits with 0 although all its programs fail; undefined where it does not, or where that is uncertain.
 * @param options.pipefail whether bash already has that option
 */
export function hiddenExit(command: string, { pipefail = false } = {}): Hidden | undefined {
  if (looksAtExits(command)) return asksPipe(command, pipefail) ? { hidden: "pipe" } : undefined;
  if (/\btrap\s+\S[^\n]*\bERR\b/.test(command)) return undefined;
  if (endsInTrap(command)) return { hidden: "trap" };
  const fate = fateOfScript(command, { stops: false, pipefail, isSuspended: false });
  return typeof fate === "object" ? fate : undefined;
}

/** An EXIT trap that exits with 0; with `exit` alone the exit code is kept. */
function endsInTrap(command: string): boolean {
  const [, , script = ""] = /\btrap\s+(['"]?)([^'"\n]*?)\1\s+(?:[A-Z\d]+\s+)*?(?:EXIT|0)\b/.exec(command) ?? [];
  const body = /^\w+$/.test(script)
    ? new RegExp(`\\b${script}\\s*\\(\\)\\s*\\{([^}]*)\\}`).exec(command)?.[1]
    : undefined;
  return /\bexit\s+0\s*(?:[;\n]|$)/.test(body ?? script);
}

/** `python3 train.py | tee log; if [ $? -ne 0 ]; then exit 1; fi`: checks the exit code of the pipe's last command. */
function asksPipe(command: string, pipefail: boolean): boolean {
  if (pipefail || /pipefail|PIPESTATUS/.test(command)) return false;
  const items = parseShell(command)?.items ?? [];
  return items.some(({ node, isBackground }, index) => {
    const next = items[index + 1]?.node;
    if (node.type !== "pipe" || isBackground || next === undefined || !/\$\{?\?/.test(JSON.stringify(next)))
      return false;
    const fate = fateOf(node, {
      ...{ stops: false, pipefail, isSuspended: false, looksAfter: false },
      ...{ functions: new Map(), running: new Set() },
    });
    return typeof fate === "object" && fate.hidden === "pipe";
  });
}

/**
 * Whether the command checks exit codes itself, and so handles them; `exit $?`, which may be another program's code, and printing a code do
 * not count.
 */
function looksAtExits(command: string): boolean {
  const used = command.replace(END_WITH_LAST, "$1").replace(SHOWN, "");
  const unread = used.replace(KEPT_EXIT, (all, name: string) =>
    new RegExp(`\\$(?:\\{)?${name}\\b`).test(used) ? all : "",
  );
  return /\$\{?(?:\?|PIPESTATUS)/.test(unread);
}

function fateOfScript(script: string, options: Pick<Shell, "stops" | "pipefail" | "isSuspended">): Fate {
  if ((script.match(/[({!]|\b(?:if|for|while|until|case|function)\b/g) ?? []).length > MOST_NESTED) return "checked";
  const parsed = parseShell(script);
  if (parsed === undefined) return "checked";
  const looksAfter = LOOKS_AFTER.test(script);
  return fateOfList(parsed, { ...options, looksAfter, functions: new Map(), running: new Set() });
}

function fateOf(node: ShellNode, shell: Shell): Fate {
  switch (node.type) {
    case "command":
      return fateOfCommand(node.words, shell);
    case "list":
      return fateOfList(node, shell);
    case "chain":
      return fateOfChain(node, shell).fate;
    case "pipe":
      return fateOfPipe(node.parts, shell);
    case "not":
      return suspended(shell, () => fateOf(node.of, shell)) === "program" ? { hidden: "negation" } : "none";
    case "if":
      return fateOfIf(node, shell);
    case "loop":
      return fateOfLoop(node, shell);
    case "case":
      return either(node.branches.map((branch) => fateOfList(branch, shell)));
    case "function":
      shell.functions.set(node.name, node.body);
      return "none";
  }
}

function fateOfList({ items }: ShellList, shell: Shell): Fate {
  let fate: Fate = "none";
  /** Background programs that nothing has waited for. */
  let beside = 0;
  let lastBegun: Fate = "none";
  /** The variable with the process id of a background program. */
  let begunAs = "";
  for (const [index, { node, isBackground }] of items.entries()) {
    const before = items[index - 1]?.node;
    if (before !== undefined && isEndWithLast(node)) {
      return before.type === "pipe" && isEndWithLast(node, "PIPESTATUS") ? "checked" : fate;
    }
    const first = node.type === "chain" ? node.first : node;
    const isForAny = beside > 0 && isWaitForAny(first);
    if (isForAny) beside -= waitsForAny(node);
    const isForLast = lastBegun === "program" && items[index - 1]?.isBackground === true && isWaitForLast(first);
    const isForNamed = begunAs !== "" && isWaitFor(first, `\\$(?:${begunAs}|\\{${begunAs}\\})`);
    const isWaitedFor = isForAny || isForLast || isForNamed;
    begunAs =
      (lastBegun === "program" && items[index - 1]?.isBackground === true ? keptId(node) : undefined) ?? begunAs;
    const inList = fateInList(node, shell, isWaitedFor ? "program" : undefined);
    const { fate: own, isPassedOver } = inList;
    lastBegun = own;
    const next: Fate = isBackground && own !== "none" && own !== "checked" ? { hidden: "background" } : own;
    if (typeof next === "object" && next.hidden === "background") beside += 1;
    fate = then(fate, next, shell);
    if (fate === "program" && ((stopsNow(shell) && !isPassedOver) || replacesShell(node))) break;
  }
  if (fate === "program" && beside > 0 && !shell.looksAfter) return { hidden: "beside" };
  return fate;
}

interface InList {
  readonly fate: Fate;
  readonly isPassedOver: boolean;
}

/** @param waited the fate of its first command where that waits for a program */
function fateInList(node: ShellNode, shell: Shell, waited: Fate | undefined): InList {
  if (node.type === "chain") return fateOfChain(node, shell, waited);
  return { fate: waited ?? fateOf(node, shell), isPassedOver: false };
}

/** Also says whether a program failed before the chain's last command: `set -e` ignores that. */
function fateOfChain({ first, rest }: Extract<ShellNode, { type: "chain" }>, shell: Shell, known?: Fate) {
  let fate = known ?? suspended(shell, () => fateOfQuestion(first, shell));
  let isPassedOver = false;
  for (const [index, { operator, node }] of rest.entries()) {
    const isLast = index === rest.length - 1;
    const next = () => (isLast ? fateOf(node, shell) : suspended(shell, () => fateOf(node, shell)));
    isPassedOver = isLast && operator === "&&" && fate === "program";
    if (operator === "&&") fate = fate === "program" ? fate : then(fate, next(), shell);
    else if (fate === "program") fate = leavesLoop(node) ? { hidden: "or" } : instead("or", next());
    else fate = either([fate, next()]);
  }
  return { fate, isPassedOver };
}

/** `break` and `continue` exit with 0, whatever failed before. */
function leavesLoop(node: ShellNode): boolean {
  return node.type === "command" && (node.words[0] === "break" || node.words[0] === "continue");
}

/** `exit $?` and its variants, and `exit` alone. */
function isEndWithLast(node: ShellNode, variable = ""): boolean {
  if (node.type !== "command") return false;
  const [name = "", code = "$?", ...more] = node.words;
  const isEnd = (name === "exit" || name === "return") && more.length === 0;
  return isEnd && LAST_EXIT.exec(code)?.[0] === code && code.includes(variable);
}

/** Whether it ends with the exit code of the last background program. */
function isWaitForLast(node: ShellNode): boolean {
  return isWaitFor(node, String.raw`\$(?:!|\{!\})`);
}

function isWaitFor(node: ShellNode, id: string): boolean {
  return (
    node.type === "command" && node.words.length === 2 && new RegExp(`^wait "?${id}"?$`).test(node.words.join(" "))
  );
}

/** `pid` of `pid=$!` */
function keptId(node: ShellNode): string | undefined {
  return node.type === "command" && node.words.length === 1
    ? /^(\w+)="?\$(?:!|\{!\})"?$/.exec(node.words[0] ?? "")?.[1]
    : undefined;
}

/** Whether it ends with the exit code of the program that ends first. */
function isWaitForAny(node: ShellNode): boolean {
  return node.type === "command" && node.words.join(" ") === "wait -n";
}

function waitsForAny(node: ShellNode): number {
  return node.type === "chain" ? [node.first, ...node.rest.map((link) => link.node)].filter(isWaitForAny).length : 1;
}

/** `exec` with a program replaces the shell. */
function replacesShell(node: ShellNode): boolean {
  const last = node.type === "chain" ? node.rest.at(-1)?.node : node;
  return last?.type === "command" && last.words.find((word) => !ASSIGNMENT.test(word)) === "exec";
}

function stopsNow({ stops, isSuspended }: Shell): boolean {
  return stops && !isSuspended;
}

/** Examines something in a place where `set -e` has no effect. */
function suspended<T>(shell: Shell, look: () => T): T {
  const before = shell.isSuspended;
  shell.isSuspended = true;
  try {
    return look();
  } finally {
    shell.isSuspended = before;
  }
}

/** In sequence: a later program, or a check, determines the result. */
function then(before: Fate, next: Fate, { stops }: Pick<Shell, "stops">): Fate {
  if (next !== "none") return next;
  return before === "program" ? { hidden: stops ? "unstopped" : "sequence" } : before;
}

/** In place of a program that failed. */
function instead(how: HiddenExit, next: Fate): Fate {
  return next === "none" ? { hidden: how } : next;
}

/** Either one: the first that hides something counts. */
function either(fates: readonly Fate[]): Fate {
  const hidden = fates.find((fate) => typeof fate === "object");
  const known = (["checked", "program"] as const).find((one) => fates.includes(one));
  return hidden ?? known ?? "none";
}

/** A condition does not check what came before it. */
function fateOfQuestion(node: ShellNode, shell: Shell): Fate {
  const fate = fateOf(node, shell);
  return fate === "checked" && node.type === "command" && isTest(node.words) ? "none" : fate;
}

function isTest([name = ""]: readonly string[]): boolean {
  return ["test", "[", "[[", "grep"].includes(name);
}

function fateOfPipe(parts: readonly ShellNode[], shell: Shell): Fate {
  const fates = parts.map((part) => (isSourced(part) ? "program" : fateOfQuestion(part, shell)));
  const last = fateOfShownScript(parts) ?? fates.at(-1) ?? "none";
  const before = fates.slice(0, -1);
  if (last !== "none") return last;
  if (before.includes("program")) return shell.pipefail ? "program" : { hidden: "pipe" };
  return either(before);
}

/** `source run.sh | tee log`: a script that only sets variables would set them for nobody there. */
function isSourced(node: ShellNode): boolean {
  const [name = "", file = ""] = node.type === "command" ? node.words : [];
  return (name === "source" || name === ".") && file !== "" && !file.endsWith("/activate");
}

/** `echo 'python3 train.py; true' | bash`: the fate in that shell; undefined where it reads something else. */
function fateOfShownScript(parts: readonly ShellNode[]): Fate | undefined {
  const [before, last] = parts.slice(-2);
  if (before?.type !== "command" || last?.type !== "command") return undefined;
  const [name = "", script = "", ...more] = before.words;
  const [reader = "", ...args] = last.words;
  const isShown = /^(?:echo|cat)$/.test(name) && more.length === (name === "cat" ? 1 : 0);
  const shown = name === "cat" && script === "<<<" ? more[0] : script;
  if (!isShown || shown === undefined || !isConstant(shown) || !NESTED_SHELL.test(reader)) return undefined;
  const isReader = args.every((word) => word.startsWith("-") && !/^-\w*c$/.test(word));
  return isReader ? fateOfShell(reader, [...args, "<<<", shown]) : undefined;
}

/** A quoted text that the shell does not change. */
function isConstant(word: string): boolean {
  return /^'[^']*'$/.test(word) || /^"[^"$`\\]*"$/.test(word);
}

function fateOfIf({ branches, otherwise }: Extract<ShellNode, { type: "if" }>, shell: Shell): Fate {
  const [branch, ...others] = branches;
  if (branch === undefined) return fateOfList(otherwise, shell);
  const question = fateOfTest(branch.test, shell);
  const yes = () => fateOfList(branch.body, shell);
  const no = () => fateOfIf({ type: "if", branches: others, otherwise }, shell);
  if (question === "program") return instead("condition", no());
  if (typeof question === "object") return question.hidden === "negation" ? instead("condition", yes()) : question;
  return either([yes(), no()]);
}

function fateOfTest({ items }: ShellList, shell: Shell): Fate {
  const fates = suspended(shell, () => items.map(({ node }) => fateOfQuestion(node, shell)));
  return fates.reduce((before, next) => then(before, next, shell), "none");
}

function fateOfLoop({ word, test, body }: Extract<ShellNode, { type: "loop" }>, shell: Shell): Fate {
  const question = fateOfTest(test, shell);
  const each = fateOfList(body, shell);
  const isUntilSuccess = word === "until" ? question === "program" : word === "while" && isNegation(question);
  if (isUntilSuccess && givesUp(body)) return { hidden: "condition" };
  if (isEndless(word, test)) return givesUp(body) ? fateBeforeBreak(body, shell) : "checked";
  // `|| break` makes it exit with 0, and so does whatever replaces the last run.
  if (word === "for" && typeof each === "object" && each.hidden === "or") return each;
  const isEndedInside = JSON.stringify(body).match(/"(?:break|exit|return|continue)"/) !== null;
  // A loop that waits for a program to succeed.
  if (isUntilSuccess || typeof question === "object" || isEndedInside) return "checked";
  if (question === "program") return instead("condition", each === "program" ? "none" : each);
  if (each !== "program" || stopsNow(shell) || word === "select") return each;
  return { hidden: shell.stops ? "unstopped" : "loop" };
}

/** `while true` */
function isEndless(word: string, { items: [first, ...more] }: ShellList): boolean {
  const asked = first?.node.type === "command" && more.length === 0 ? first.node.words.join(" ") : "";
  return word === "while" ? /^(?:true|:)$/.test(asked) : word === "until" && asked === "false";
}

/** Its `break` makes the loop exit with 0. */
function fateBeforeBreak({ type, items }: ShellList, shell: Shell): Fate {
  const fate = fateOfList({ type, items: items.slice(0, breakOf(items)) }, shell);
  return fate === "program" && !stopsNow(shell) ? { hidden: shell.stops ? "unstopped" : "sequence" } : fate;
}

function isNegation(fate: Fate): boolean {
  return typeof fate === "object" && fate.hidden === "negation";
}

/** Whether it always ends the loop after the first failure, without reporting it. */
function givesUp({ items }: ShellList): boolean {
  const last = breakOf(items);
  return (
    last >= 0 &&
    items.slice(0, last).every(({ node }) => !/"(?:exit|return|continue|break)"/.test(JSON.stringify(node)))
  );
}

function breakOf(items: ShellList["items"]): number {
  return items.findIndex(({ node }) => node.type === "command" && /^(?:break|break 1)$/.test(node.words.join(" ")));
}

function fateOfCommand(words: readonly string[], shell: Shell): Fate {
  const isPrefix = (word: string, index: number) =>
    PREFIX.test(word) || (index > 1 && OPTION_WITH_VALUE.test(words[index - 1] ?? ""));
  const rest = words.slice(words.findIndex((word, index) => !isPrefix(word, index)));
  const isEmpty = words.every(isPrefix);
  const [name = "", ...args] = isEmpty ? [] : rest;
  const body = shell.functions.get(name);
  if (body !== undefined) return fateOfFunction(name, body, shell);
  if (name === "coproc") return fateOfCommand(args, shell) === "program" ? { hidden: "background" } : "none";
  if (name === "set") setOptions(args, shell);
  if (name === "eval" && args.length === 1) return fateOfScript(unquoted(args[0] ?? ""), shell);
  if (NESTED_SHELL.test(name)) return fateOfShell(name, args);
  if (name === "find") return fateOfFind(args, shell);
  if (name === "flock") return fateOfLocked(args, shell);
  if (name === "script") return fateOfRecorded(args);
  if (PROGRAM.test(name) && !SYSTEM.test(name)) return isAside(name, args) ? "none" : "program";
  if (isCheck(name, args)) return "checked";
  return fateOfSubstitution(words, isEmpty, shell);
}

/** Commands that only start or stop Ray's own processes, prepare an environment, or query something say nothing about a job's program. */
function isAside(name: string, args: readonly string[]): boolean {
  if (args.length === 1 && /^(?:--version|-V)$/.test(args[0] ?? "")) return true;
  const [verb = ""] = args;
  if (/^(?:\S*\/)?(?:singularity|apptainer)$/.test(name)) return !/^(?:exec|run)$/.test(verb);
  if (/^(?:\S*\/)?(?:uv|poetry|pipenv|\w*conda|\w*mamba)$/.test(name)) return verb !== "run";
  if (!/^(?:\S*\/)?ray$/.test(name)) return false;
  return /^(?:stop|status|down)$/.test(verb) || (verb === "start" && !args.includes("--block"));
}

/** It exits with 0 regardless of the programs that it runs once per file; those that get many files (`+`) count. */
function fateOfFind(args: readonly string[], shell: Shell): Fate {
  const at = args.findIndex((word) => /^-(?:exec|execdir|ok|okdir)$/.test(word));
  if (at < 0) return "none";
  const end = args.findIndex((word, index) => index > at && /^(?:\\;|';'|";"|\+)$/.test(word));
  const fate = fateOfCommand(args.slice(at + 1, end < 0 ? undefined : end), shell);
  return fate === "program" && args[end] !== "+" ? { hidden: "find" } : fate;
}

/** `flock -n FILE program`, and `flock FILE -c 'script'`, which sh runs; a number in place of the file is an open descriptor. */
function fateOfLocked(args: readonly string[], shell: Shell): Fate {
  const at = args.findIndex((word, index) => !word.startsWith("-") && !/^-[wE]$/.test(args[index - 1] ?? ""));
  const [file = "", ...rest] = at < 0 ? [] : args.slice(at);
  if (/^\d*$/.test(file)) return "none";
  return /^(?:-c|--command)$/.test(rest[0] ?? "")
    ? fateOfShell("sh", ["-c", ...rest.slice(1)])
    : fateOfCommand(rest, shell);
}

/** `script -c 'script' log` exits with 0 regardless of the script, unless it has `-e`. */
function fateOfRecorded(args: readonly string[]): Fate {
  const at = args.findIndex((word) => /^-\w*c$|^--command$/.test(word));
  if (at < 0) return "none";
  const fate = fateOfShell("sh", ["-c", args[at + 1] ?? ""]);
  const isKept = args.some((word) => /^-[a-z]*e[a-z]*$|^--return$/.test(word));
  return fate === "program" && !isKept ? { hidden: "recorded" } : fate;
}

function isCheck(name: string, [first = ""]: readonly string[]): boolean {
  if (name === "exit" || name === "return") return first !== "0";
  if (name === "wait") return first !== "";
  if (name === "kill") return first === "$$" || first === "0";
  return CHECKS.has(name);
}

function fateOfFunction(name: string, body: ShellNode, shell: Shell): Fate {
  if (shell.running.has(name)) return "checked";
  shell.running.add(name);
  const fate = fateOf(body, shell);
  shell.running.delete(name);
  return fate;
}

function setOptions(args: readonly string[], shell: Pick<Shell, "stops" | "pipefail">): void {
  const text = args.join(" ");
  if (/(?:^| )-\w*e|-\w*o errexit\b/.test(text)) shell.stops = true;
  if (/-\w*o pipefail\b/.test(text)) shell.pipefail = true;
  if (/\+\w*e|\+o errexit\b/.test(text)) shell.stops = false;
}

/** `bash -c 'script'` behaves like its script; any other use of a shell runs a program. */
function fateOfShell(name: string, args: readonly string[]): Fate {
  const at = args.findIndex((word) => /^-\w*c$/.test(word));
  const read = at < 0 ? scriptRead(args) : undefined;
  const script = at < 0 ? read : args[at + 1];
  if (script === undefined) return "program";
  const options = { stops: false, pipefail: false, isSuspended: false };
  setOptions(at < 0 ? args : args.slice(0, at + 1), options);
  const how = { inside: name.replace(/.*\//, ""), ...(read === undefined ? {} : { isRead: true as const }) };
  if (how.inside !== "bash" && hasAmpersand(unquoted(script))) return { hidden: "ampersand", ...how };
  const fate = fateOfScript(unquoted(script), options);
  return typeof fate === "object" ? { ...how, ...fate } : fate;
}

/** The script that a shell reads, `<<< '…'`; undefined: it reads something else, or a file. */
function scriptRead(args: readonly string[]): string | undefined {
  const at = args.findLastIndex((word) => word.startsWith("<<<"));
  const options = args.slice(0, at);
  const readsInput = options.some((word) => /^-\w*s$/.test(word)) || options.every((word) => word.startsWith("-"));
  if (at < 0 || !readsInput) return undefined;
  return args[at] === "<<<" ? args[at + 1] : args[at]?.slice("<<<".length);
}

/** `python3 train.py &> log` and `&>>`: dash starts the program in the background. */
function hasAmpersand(script: string): boolean {
  return shellWords(script).some(({ type, text }) => type === "word" && text.startsWith("&>"));
}

/** `sh -c 'set -o pipefail; …'` and `sh -eo pipefail -c` */
const PIPEFAIL_OF_SH =
  /(?:^|[\s;|&(])(?:\S*\/)?(?:da)?sh[ \t]+(?:-\w+[ \t]+)*?-(?:\w*o[ \t]+pipefail|\w*c[ \t]+(['"])(?:(?!\1)[\s\S])*?\bset[ \t](?:-\w+[ \t]+)*-\w*o[ \t]+pipefail)\b/;

/** Whether the command gives `pipefail` to a shell that may be dash, for which it may be an error. */
export function wantsPipefailOfSh(command: string): boolean {
  return PIPEFAIL_OF_SH.test(command);
}

function unquoted(word: string): string {
  return /^(['"])[\s\S]*\1$/.test(word) ? word.slice(1, -1) : word;
}

/** A command uses the output of a program inside it, and not its exit code; only an assignment gets that. */
function fateOfSubstitution(words: readonly string[], isAssignment: boolean, shell: Shell): Fate {
  const scripts = words.flatMap((word) => (word.startsWith("'") ? [] : substituted(word)));
  // Bash turns set -e off in substitutions.
  const fate = either(scripts.map((script) => fateOfScript(script, { ...shell, isSuspended: true })));
  if (fate !== "program") return typeof fate === "object" ? fate : "none";
  const [first = ""] = words;
  if (isAssignment && ASSIGNMENT.test(first)) return "program";
  // If the first word is a substitution, its output becomes the command itself.
  const isTaken = /^["]?[$`]/.test(first) || ["exit", "return", "wait", "local"].includes(first) || isTest(words);
  return isTaken ? "checked" : { hidden: "substitution" };
}

function substituted(word: string): string[] {
  return [...word.matchAll(/(?:[$<]\((?!\()|`)([^)`]*)/g)].map(([, script = ""]) => script);
}
